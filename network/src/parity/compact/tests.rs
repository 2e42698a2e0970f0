//! The repository's fixtures, and damaged copies of one.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::model::{Source, synth::DEFAULT_SEED};
use crate::parity::Verdict;

fn fixtures() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures"))
}

#[test]
fn every_fixture_opens_and_composes_to_its_output() {
    let mut count = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let fixture = Fixture::open(&path).unwrap();
        assert_eq!(fixture.name, path.file_name().unwrap().to_str().unwrap());
        assert_eq!(fixture.boundaries.len(), 79);
        let head = fixture.head.clone().unwrap();
        assert_eq!(fixture.compare_head(&head).unwrap().verdict, Verdict::BitExact);
        let output = fixture.compare_output(&head).unwrap();
        assert_eq!(output.len(), 2);
        for comparison in output {
            assert_eq!(comparison.verdict, Verdict::BitExact, "{} {comparison}", fixture.name);
        }
        // Every feature is a half already, so narrowing loses nothing.
        let halves = fixture.features_half().unwrap();
        let features = fixture.features.as_ref().unwrap();
        assert!(halves.iter().zip(features).all(|(&h, f)| half::to_f32(h).to_bits() == f.to_bits()));
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn fixtures_name_models_that_can_be_made() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let identity = Fixture::open(&path).unwrap().model.unwrap();
        let argument = match identity.preset.as_str() {
            "starter" => "starter".to_owned(),
            "identity" => {
                assert_eq!(identity.seed, DEFAULT_SEED);
                "identity".to_owned()
            }
            preset => format!("{preset}:{}", identity.seed),
        };
        let model = argument.parse::<Source>().unwrap().open(true).unwrap();
        assert_eq!(model.digest(), identity.digest, "{argument}");
    }
}

#[test]
fn a_changed_head_is_a_mismatch() {
    let fixture = Fixture::open(&fixtures().join("lively-33x33")).unwrap();
    let mut head = fixture.head.clone().unwrap();
    head[4 * 320 + 5] += 1.0;
    let comparison = fixture.compare_head(&head).unwrap();
    assert_eq!(comparison.verdict, Verdict::Mismatch);
    let first = comparison.tally.unwrap().first.unwrap();
    assert_eq!((first.x, first.y, first.channel), (1, 1, 1));
    let output = fixture.compare_output(&head).unwrap();
    assert!(output.iter().any(|comparison| comparison.verdict == Verdict::Mismatch));
    assert!(fixture.compare_head(&head[4..]).is_err());
    assert!(fixture.compare_output(&head[..400]).is_err());
}

#[test]
fn stored_boundaries_are_compared_value_by_value() {
    let fixture = Fixture::open(&fixtures().join("full-64x64")).unwrap();
    let boundary = fixture.boundary("block-35").unwrap();
    let mut bytes = boundary.read().unwrap().unwrap();
    assert_eq!(boundary.compare(&bytes).unwrap().verdict, Verdict::BitExact);
    bytes[1024 * 3 + 7] ^= 0x01;
    let comparison = boundary.compare(&bytes).unwrap();
    assert_eq!(comparison.verdict, Verdict::Mismatch);
    let tally = comparison.tally.unwrap();
    assert_eq!((tally.different, tally.values), (1, 8 * 8 * 1024));
    assert_eq!(tally.first.map(|at| (at.x, at.y, at.channel)), Some((3, 0, 7)));
    assert!(boundary.compare(&bytes[1..]).is_err());

    let digests = Fixture::open(&fixtures().join("hot-100x75")).unwrap();
    let boundary = digests.boundary("pooled-4-5").unwrap();
    assert_eq!(boundary.read().unwrap(), None);
    let comparison = boundary.compare(&vec![0; boundary.byte_len()]).unwrap();
    assert_eq!((comparison.verdict, comparison.tally), (Verdict::Mismatch, None));
}

/// The problems of a fixture after a change to its manifest; its other files are links.
fn problems(name: &str, change: impl FnOnce(&mut Value)) -> Vec<Problem> {
    let source = fixtures().join(name);
    let mut manifest: Value = serde_json::from_slice(&fs::read(source.join("fixture.json")).unwrap()).unwrap();
    change(&mut manifest);
    let dir = tempfile::tempdir().unwrap();
    for file in ["image.png", "features.f16.zst", "head.f16.zst"] {
        fs::copy(source.join(file), dir.path().join(file)).unwrap();
    }
    fs::write(dir.path().join("fixture.json"), manifest.to_string()).unwrap();
    match Fixture::open(dir.path()) {
        Err(FixtureError::Invalid { problems, .. }) => problems,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_problems_are_collected() {
    let zeros = "0".repeat(64);
    let found = problems("lively-33x33", |m| {
        m["inputFeatures"]["sha256"] = json!(zeros);
        m["referenceHead"]["file"] = json!("features.f16.zst");
        m["image"]["file"] = json!("../image.png");
        m["seed"] = json!(-1);
        m["conditioning"]["style"] = json!("off");
        m["levels"][3] = json!([1, 2]);
        m["boundaries"][5]["name"] = json!("block-77");
        m["boundaries"][9]["width"] = json!(7);
        m["boundaries"][12] = m["boundaries"][11].clone();
    });
    let messages: Vec<String> = found.iter().map(Problem::to_string).collect();
    let expect = |part: &str| assert!(messages.iter().any(|m| m.contains(part)), "{part}: {messages:#?}");
    expect("inputFeatures: SHA-256 mismatch");
    expect("referenceHead: ");
    expect("image.file its file has a parent component");
    expect("seed is not an integer below 2^32");
    expect("conditioning.style is not a number");
    expect("levels[3] is 1x2");
    expect("boundary block-77 is unknown");
    expect("boundary block-4 is neither compared nor omitted");
    expect("boundary block-6 is 7x80x64");
    expect("is listed twice");
}

#[test]
fn sizes_must_follow_the_geometry() {
    let found = problems("lively-33x33", |m| m["fullDimensions"] = json!([336, 320]));
    assert!(found.iter().any(|p| matches!(p, Problem::Geometry { key, .. } if key == "fullDimensions")), "{found:?}");
    let found = problems("lively-33x33", |m| m["sourceDimensions"] = json!([30, 512]));
    assert!(found.iter().any(|p| matches!(p, Problem::RefusedSize(_))), "{found:?}");
    let found = problems("lively-33x33", |m| m["sourceDimensions"] = json!([33]));
    assert!(
        found.iter().any(|p| matches!(p, Problem::Malformed { key, .. } if key == "sourceDimensions")),
        "{found:?}"
    );
    let found = problems("lively-33x33", |m| m["sourceDimensions"] = json!([40, 40]));
    assert!(found.iter().any(|p| matches!(p, Problem::Unreadable { key, .. } if key == "image")), "{found:?}");
    let found = problems("lively-33x33", |m| {
        m["sourceDimensions"] = json!([16_000, 16_000]);
        m["fullDimensions"] = json!([16_000, 16_000]);
    });
    assert!(!found.is_empty());
    let found = problems("lively-33x33", |m| *m = json!({}));
    assert!(found.contains(&Problem::Missing("sourceDimensions".into())), "{found:?}");
}

#[test]
fn other_directories_are_not_fixtures() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Fixture::open(dir.path()), Err(FixtureError::NotAFixture(_))));
    fs::write(dir.path().join("fixture.json"), "{").unwrap();
    assert!(matches!(Fixture::open(dir.path()), Err(FixtureError::NotJson { .. })));
}
