//! The raw form: written, read back, and broken in every way that must be reported.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::parity::{Conditioning, RecordedInput, RecordedOutput, Recording, Verdict, compose, write_fixture};

fn open_repository(name: &str) -> Fixture {
    let path = format!("{}/../tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    Fixture::open(&PathBuf::from(path)).unwrap()
}

/// A raw fixture from features with all boundaries and the head, in a directory of its own.
fn full(dir: &Path) -> Fixture {
    let source = open_repository("full-64x64");
    let stored: Vec<(String, Vec<u8>)> = source
        .boundaries
        .iter()
        .filter(|boundary| !boundary.name.starts_with("pooled"))
        .map(|boundary| (boundary.name.clone(), boundary.read().unwrap().unwrap()))
        .collect();
    let boundaries: Vec<(&str, &[u8])> = stored.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let recording = Recording {
        geometry: &source.geometry,
        input: RecordedInput::Features(source.features.as_deref().unwrap()),
        boundaries: &boundaries,
        head: source.head.as_deref(),
        output: None,
    };
    write_fixture(dir, &recording).unwrap();
    Fixture::open(dir).unwrap()
}

/// A raw fixture from the proxy with head and f32 output.
fn from_proxy(dir: &Path) -> Fixture {
    let source = open_repository("lively-33x33");
    let head = source.head.clone().unwrap();
    let output = compose::rgba_f32(&source.compose(&head).unwrap());
    let recording = Recording {
        geometry: &source.geometry,
        input: RecordedInput::Proxy {
            proxy: source.proxy.as_ref().unwrap(),
            conditioning: source.conditioning.unwrap(),
            seed: source.seed.unwrap(),
            auto_mask: source.auto_mask.unwrap(),
        },
        boundaries: &[],
        head: Some(&head),
        output: Some(RecordedOutput::F32(&output)),
    };
    write_fixture(dir, &recording).unwrap();
    Fixture::open(dir).unwrap()
}

#[test]
fn features_and_boundaries_round_trip() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("a/full");
    let fixture = full(&dir);
    let source = open_repository("full-64x64");
    assert_eq!(fixture.name, "full");
    assert_eq!(fixture.features, source.features);
    assert_eq!(fixture.boundaries.len(), 75);
    assert!(fixture.omitted.is_empty() && fixture.proxy.is_none() && fixture.output.is_none());
    for boundary in &fixture.boundaries {
        let reference = source.boundary(&boundary.name).unwrap().read().unwrap().unwrap();
        assert_eq!(boundary.compare(&reference).unwrap().verdict, Verdict::BitExact, "{}", boundary.name);
    }
    let mut changed = fixture.boundary("block-39").unwrap().read().unwrap().unwrap();
    changed[0] ^= 0x80;
    assert_ne!(fixture.boundary("block-39").unwrap().compare(&changed).unwrap().verdict, Verdict::BitExact);
    assert!(fixture.compare_output(fixture.head.as_ref().unwrap()).is_err());
    assert!(dir.join("transition-4-5.bin").is_file());
    // An existing fixture is not written over.
    let recording = Recording {
        geometry: &fixture.geometry,
        input: RecordedInput::Features(&[]),
        boundaries: &[],
        head: None,
        output: None,
    };
    assert!(matches!(write_fixture(&dir, &recording), Err(FixtureError::Write { .. })));
    assert_eq!(fs::read_dir(scratch.path().join("a")).unwrap().count(), 1);
}

#[test]
fn proxy_fixtures_round_trip() {
    let scratch = tempfile::tempdir().unwrap();
    let fixture = from_proxy(&scratch.path().join("p"));
    let source = open_repository("lively-33x33");
    assert_eq!(fixture.proxy, source.proxy);
    assert_eq!(fixture.conditioning, source.conditioning);
    assert_eq!((fixture.seed, fixture.auto_mask), (Some(7), Some(true)));
    assert_eq!(
        fixture.conditioning,
        Some(Conditioning { local_tone: 0.5, local_structure: 0.8, skin_structure: 0.3, style: 1.0 })
    );
    let head = fixture.head.clone().unwrap();
    let output = fixture.compare_output(&head).unwrap();
    assert_eq!((output.len(), output[0].verdict), (1, Verdict::BitExact));
}

#[test]
fn an_8_bit_output_tolerates_one_code() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("u8");
    let source = open_repository("lively-33x33");
    let head = source.head.clone().unwrap();
    let rgb = compose::rgb8(&source.compose(&head).unwrap());
    let mut rgba: Vec<u8> = rgb.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 0]).collect();
    let write = |rgba: &[u8]| {
        let _ = fs::remove_dir_all(&dir);
        let recording = Recording {
            geometry: &source.geometry,
            input: RecordedInput::Features(source.features.as_deref().unwrap()),
            boundaries: &[],
            head: None,
            output: Some(RecordedOutput::U8(rgba)),
        };
        write_fixture(&dir, &recording).unwrap();
        Fixture::open(&dir).unwrap().compare_output(&head).unwrap().remove(0)
    };
    // The base is the feature lanes here, whose centring rounds to half: most codes are the same.
    let near = write(&rgba);
    assert!(near.verdict.passes(), "{near}");
    rgba[40] = rgba[40].wrapping_add(100);
    assert_eq!(write(&rgba).verdict, Verdict::Mismatch);
}

/// Problems after a change to a good raw fixture's manifest.
struct Broken {
    _scratch: tempfile::TempDir,
    dir: PathBuf,
    good: Value,
}

impl Broken {
    fn new(make: impl FnOnce(&Path) -> Fixture) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("f");
        make(&dir);
        let good = serde_json::from_slice(&fs::read(dir.join("manifest.json")).unwrap()).unwrap();
        Self { _scratch: scratch, dir, good }
    }

    fn problems(&self, change: impl FnOnce(&mut Value)) -> Vec<Problem> {
        let mut manifest = self.good.clone();
        change(&mut manifest);
        fs::write(self.dir.join("manifest.json"), manifest.to_string()).unwrap();
        match Fixture::open(&self.dir) {
            Err(FixtureError::Invalid { problems, .. }) => problems,
            other => panic!("{other:?}"),
        }
    }

    fn one(&self, expected: Problem, change: impl FnOnce(&mut Value)) {
        assert_eq!(self.problems(change), [expected]);
    }
}

fn remove(manifest: &mut Value, key: &str) {
    manifest.as_object_mut().unwrap().remove(key);
}

#[test]
fn bad_inputs_and_checks_are_reported() {
    let broken = Broken::new(from_proxy);
    let missing = |key: &str| Problem::Missing(key.into());
    broken.one(missing("sourceDimensions"), |m| remove(m, "sourceDimensions"));
    broken.one(missing("fullDimensions"), |m| remove(m, "fullDimensions"));
    broken.one(missing("conditioning"), |m| remove(m, "conditioning"));
    broken.one(missing("seed"), |m| remove(m, "seed"));
    broken.one(missing("autoMask"), |m| remove(m, "autoMask"));
    broken.one(missing("proxy.file"), |m| remove(&mut m["proxy"], "file"));
    broken.one(missing("referenceHead.file"), |m| remove(&mut m["referenceHead"], "file"));
    broken.one(missing("conditioning.style"), |m| remove(&mut m["conditioning"], "style"));
    let found = broken.problems(|m| m["inputFeatures"] = json!({ "file": "head.bin" }));
    assert!(matches!(&found[..], [Problem::Input("both are"), Problem::FileSize { .. }]), "{found:?}");
    let geometry = |p: &[Problem]| matches!(p, [Problem::Geometry { .. }]);
    assert!(geometry(&broken.problems(|m| m["fullDimensions"] = json!([384, 320]))));

    let checks = |text: &str| Problem::Checks(text.into());
    let no_check = |check, key| Problem::ReferenceWithoutCheck { check, key };
    let without = [no_check("head", "referenceHead"), no_check("output", "nativeOutput")];
    let found = broken.problems(|m| m["checks"] = json!([]));
    assert_eq!(found, [&[checks("is empty")][..], &without].concat());
    let found = broken.problems(|m| remove(m, "checks"));
    assert_eq!(found, [&[missing("checks")][..], &without].concat());
    broken.one(checks("has the unknown entry \"feet\""), |m| m["checks"] = json!(["head", "output", "feet"]));
    broken.one(checks("has \"head\" twice"), |m| m["checks"] = json!(["head", "output", "head"]));
    let absent = |check, key| Problem::CheckWithoutReference { check, key };
    broken.one(absent("head", "referenceHead"), |m| remove(m, "referenceHead"));
    broken.one(absent("output", "nativeOutput"), |m| remove(m, "nativeOutput"));
    broken.one(absent("boundaries", "blocks"), |m| m["checks"] = json!(["head", "output", "boundaries"]));
}

#[test]
fn bad_files_and_outputs_are_reported() {
    let broken = Broken::new(from_proxy);
    let found = broken.problems(|m| m["referenceHead"]["file"] = json!("none.bin"));
    assert!(matches!(&found[..], [Problem::Unreadable { key, .. }] if key == "referenceHead"), "{found:?}");
    let found = broken.problems(|m| m["referenceHead"]["file"] = json!("output.bin"));
    assert!(matches!(&found[..], [Problem::FileSize { expected: 1_638_400, .. }]), "{found:?}");
    let found = broken.problems(|m| m["referenceHead"]["file"] = json!("/etc/hostname"));
    assert!(matches!(&found[..], [Problem::Malformed { .. }]), "{found:?}");
    for value in [json!(0), json!(-3), json!(1.5), json!("33")] {
        let found = broken.problems(|m| m["proxy"]["width"] = value);
        assert!(matches!(&found[..], [Problem::Malformed { key, .. }] if key == "proxy.width"), "{found:?}");
    }
    let found = broken.problems(|m| m["proxy"]["height"] = json!(u32::MAX));
    assert!(matches!(&found[..], [Problem::FileSize { .. }]), "{found:?}");
    broken.one(Problem::OutputType("f16".into()), |m| m["nativeOutput"]["dtype"] = json!("f16"));
    let size = Problem::OutputSize { found: Extent::new(32, 33), expected: Extent::new(33, 33) };
    broken.one(size, |m| m["nativeOutput"]["width"] = json!(32));
    // Several at once, each reported.
    let found = broken.problems(|m| {
        remove(m, "proxy");
        m["referenceHead"]["file"] = json!("none.bin");
        m["checks"] = json!(["head", "output", "output"]);
    });
    assert!(found.contains(&Problem::Input("neither is")) && found.contains(&Problem::OutputWithoutProxy));
    assert_eq!(found.len(), 4, "{found:?}");
    let text = FixtureError::Invalid { path: "f".into(), problems: found }.to_string();
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn bad_boundaries_are_reported() {
    let broken = Broken::new(full);
    let uncovered = |name: &str| Problem::Uncovered(name.into());
    broken.one(uncovered("block-0"), |m| drop(m["blocks"].as_array_mut().unwrap().remove(0)));
    broken.one(uncovered("transition-22-23"), |m| drop(m["transitions"].as_array_mut().unwrap().pop()));
    let all = broken.problems(|m| {
        remove(m, "blocks");
        m["transitions"] = json!([]);
    });
    assert_eq!(all.len(), 75, "a truncated export cannot pass as a smaller suite");
    broken.one(Problem::BoundaryTwice("block-9".into()), |m| {
        let again = m["blocks"][9].clone();
        m["blocks"].as_array_mut().unwrap().push(again);
    });
    broken.one(Problem::UnknownBoundary("block-70".into()), |m| {
        let mut extra = m["blocks"][69].clone();
        extra["block"] = json!(70);
        m["blocks"].as_array_mut().unwrap().push(extra);
    });
    broken.one(Problem::UnknownBoundary("transition-30-31".into()), |m| {
        m["omittedBoundaries"]["transition-30-31"] = json!("never named");
    });
    broken.one(Problem::ComparedAndOmitted("block-3".into()), |m| m["omittedBoundaries"]["block-3"] = json!("x"));
    broken.one(Problem::OmittedWithoutReason("block-0".into()), |m| {
        m["blocks"].as_array_mut().unwrap().remove(0);
        m["omittedBoundaries"]["block-0"] = json!("  ");
    });
    let shape = |p: &[Problem]| matches!(p, [Problem::BoundaryShape { name, .. }] if name == "block-1");
    assert!(shape(&broken.problems(|m| m["blocks"][1]["channels"] = json!(64))));
    let found = broken.problems(|m| remove(&mut m["blocks"][1], "file"));
    assert_eq!(found, [Problem::Missing("block-1.file".into())]);
    let found = broken.problems(|m| m["blocks"][1]["file"] = json!("block-5.bin"));
    assert!(matches!(&found[..], [Problem::FileSize { key, .. }] if key == "block-1"), "{found:?}");
    let found = broken.problems(|m| m["blocks"][1]["width"] = json!(0));
    assert!(matches!(&found[..], [Problem::Malformed { key, .. }] if key == "block-1.width"), "{found:?}");
    let no_check = |key| Problem::ReferenceWithoutCheck { check: "boundaries", key };
    let found = broken.problems(|m| m["checks"] = json!(["head"]));
    assert_eq!(found, ["blocks", "transitions", "omittedBoundaries"].map(no_check));
    // Omitted with a reason is fine.
    let mut manifest = broken.good.clone();
    manifest["blocks"].as_array_mut().unwrap().remove(0);
    manifest["omittedBoundaries"]["block-0"] = json!("too large to keep");
    fs::write(broken.dir.join("manifest.json"), manifest.to_string()).unwrap();
    let fixture = Fixture::open(&broken.dir).unwrap();
    assert_eq!((fixture.boundaries.len(), fixture.omitted["block-0"].as_str()), (74, "too large to keep"));
}
