//! Documents refer to no file outside their folder, even where a sound one lies there, and claim no memory that their
//! files do not fill.

use std::fs;
use std::path::{Path, PathBuf};

use network::capture::{Capture, sha256};
use network::import::Import;
use network::model::{ModelError, load};
use network::parity::Fixture;
use renderer::folder;
use serde_json::{Value, json};

/// `in` with a document and its files, and `out` with the same files.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for side in ["in", "out"] {
            for (name, bytes) in files {
                let path = root.path().join(side).join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
        Self { root }
    }

    fn inside(&self) -> PathBuf {
        self.root.path().join("in")
    }

    /// Every way out that names the sound file outside, and some that name none.
    fn ways_out(&self, name: &str) -> Vec<String> {
        let absolute = self.root.path().join("out").join(name).display().to_string();
        let mut ways = vec![
            format!("../out/{name}"),
            format!("./../out/{name}"),
            format!("sub/../../out/{name}"),
            format!("../in/{name}"),
            format!("..\\out\\{name}"),
            format!("C:\\{name}"),
            format!("\\\\host\\share\\{name}"),
            format!("C:{name}"),
            format!("{name}\0"),
            "..".to_owned(),
            ".".to_owned(),
            String::new(),
        ];
        ways.extend([format!("/{absolute}"), format!("file://{absolute}"), absolute]);
        ways
    }
}

/// Sets the member at a pointer.
fn with(document: &Value, pointer: &str, value: &str) -> Value {
    let mut changed = document.clone();
    *changed.pointer_mut(pointer).unwrap() = value.into();
    changed
}

fn corpus(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name)).unwrap()
}

#[test]
fn scenes() {
    let path = json!({ "format": "nrview-camera-path", "version": 1, "keys": [{ "position": [1, 2, 3], "yaw": 0 }] });
    let files = [
        ("m.glb", corpus("gltf/strip.glb")),
        ("s.hdr", corpus("panorama/small.hdr")),
        ("p.json", path.to_string().into()),
    ];
    let place = Place::new(&files);
    let good = json!({
        "format": "nrview-scene", "version": 1, "title": "t", "model": "m.glb", "camera": "c",
        "cameras": { "c": { "file": "p.json" } }, "environment": { "file": "s.hdr" },
    });
    let read = |document: &Value| {
        fs::write(place.inside().join(folder::FILE), document.to_string()).unwrap();
        folder::load(&place.inside(), &|_| true)
    };
    read(&good).unwrap();
    for (pointer, name) in [("/model", "m.glb"), ("/environment/file", "s.hdr"), ("/cameras/c/file", "p.json")] {
        for way in
            place.ways_out(name).into_iter().chain([format!("%2e%2e/out/{name}"), format!("%2E%2E%2Fout/{name}")])
        {
            let error = read(&with(&good, pointer, &way)).expect_err(&way).to_string();
            assert!(error.len() < 1000, "{error}");
        }
        // A link that leads out is a way out too.
        std::os::unix::fs::symlink(place.root.path().join("out").join(name), place.inside().join("link")).unwrap();
        assert!(read(&with(&good, pointer, "link")).is_err(), "{pointer}");
        fs::remove_file(place.inside().join("link")).unwrap();
    }
}

#[test]
fn models_of_scenes() {
    // A buffer of one triangle.
    let buffer: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let place = Place::new(&[("b.bin", buffer)]);
    let good = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }], "buffers": [{ "byteLength": 36, "uri": "b.bin" }],
    });
    let read = |document: &Value| {
        let path = place.inside().join("m.gltf");
        fs::write(&path, document.to_string()).unwrap();
        renderer::gltf::load(&path, &|_| true)
    };
    read(&good).unwrap();
    for way in place.ways_out("b.bin").into_iter().chain(["%2e%2e/out/b.bin".to_owned()]) {
        assert!(read(&with(&good, "/buffers/0/uri", &way)).is_err(), "{way}");
    }
}

#[test]
fn models() {
    let place = Place::new(&[("model/a.bin", vec![0; 16])]);
    let stage = json!({ "id": "a", "file": "a.bin", "packedByteLength": 16, "sha256": "0".repeat(64) });
    let good = json!({ "totals": { "blockCount": 71 }, "stages": [stage], "tensors": [] });
    let read = |document: &Value| {
        fs::write(place.inside().join("manifest.json"), document.to_string()).unwrap();
        load(&place.inside(), false).unwrap_err()
    };
    assert!(matches!(read(&good), ModelError::MissingTensor(_)), "a sound name is accepted");
    for way in place.ways_out("model/a.bin").into_iter().chain(place.ways_out("a.bin")) {
        let error = read(&with(&good, "/stages/0/file", &way));
        assert!(matches!(error, ModelError::InvalidStage { .. }), "{way}: {error}");
    }
}

#[test]
fn imports() {
    let pixels = 33 * 7;
    let files = [("c.bin", vec![0; pixels * 6]), ("m.bin", vec![0; pixels * 8]), ("d.bin", vec![0; pixels * 4])];
    let place = Place::new(&files);
    let good = json!({
        "size": [33, 7], "color": { "format": "f16", "channels": ["R", "G", "B"] },
        "motion": { "format": "f32", "channels": ["X", "Y"], "direction": "current-to-previous", "unit": "uv", "y": "down" },
        "depth": { "format": "f32", "channels": ["Z"] },
        "frames": [{ "color": "c.bin", "motion": "m.bin", "depth": "d.bin" }],
    });
    let read = |document: &Value| {
        let path = place.inside().join("import.json");
        fs::write(&path, document.to_string()).unwrap();
        Import::open(&path).and_then(|import| import.frame(0))
    };
    read(&good).unwrap();
    for (key, name) in [("color", "c.bin"), ("motion", "m.bin"), ("depth", "d.bin")] {
        for way in place.ways_out(name) {
            assert!(read(&with(&good, &format!("/frames/0/{key}"), &way)).is_err(), "{way}");
        }
    }
}

#[test]
fn fixtures() {
    let place = Place::new(&[("p.bin", vec![0; 33 * 33 * 16]), ("o.bin", vec![0; 33 * 33 * 4])]);
    let good = json!({
        "sourceDimensions": [33, 33], "fullDimensions": [320, 320], "checks": ["output"], "seed": 1, "autoMask": true,
        "proxy": { "width": 33, "height": 33, "file": "p.bin" },
        "conditioning": { "localTone": 0.5, "localStructure": 0.5, "skinStructure": -1, "style": 1 },
        "nativeOutput": { "width": 33, "height": 33, "dtype": "u8", "file": "o.bin" },
    });
    let read = |document: &Value| {
        fs::write(place.inside().join("manifest.json"), document.to_string()).unwrap();
        Fixture::open(&place.inside())
    };
    read(&good).unwrap();
    for (pointer, name) in [("/proxy/file", "p.bin"), ("/nativeOutput/file", "o.bin")] {
        for way in place.ways_out(name) {
            assert!(read(&with(&good, pointer, &way)).is_err(), "{way}");
        }
    }
}

/// Seals a document anew, so that nothing but its contents is wrong.
fn seal(path: &Path, change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("sha256");
    change(&mut value);
    let text = value.to_string();
    let body = text.trim_end_matches('}');
    let body = format!("{body}{}", "}".repeat(text.len() - body.len() - 1));
    let blank = format!("{body},\n  \"sha256\": \"{}\"\n}}\n", "0".repeat(64));
    let digest = sha256(blank.as_bytes());
    fs::write(path, format!("{body},\n  \"sha256\": \"{digest}\"\n}}\n")).unwrap();
    digest
}

#[test]
fn captures() {
    let root = tempfile::tempdir().unwrap();
    let (bundle, other) = (root.path().join("in"), root.path().join("out"));
    for place in [&bundle, &other] {
        outside::small_capture(place);
    }
    let (manifest, frame) = (bundle.join("manifest.json"), bundle.join("frames/000000/frame.json"));
    let good = [&manifest, &frame].map(|path| fs::read(path).unwrap());
    // The seal of this test is one that the reader accepts.
    let digest = seal(&frame, |_| {});
    seal(&manifest, |manifest| manifest["frames"][0]["sha256"] = digest.into());
    Capture::open(&bundle).unwrap();
    let folder = "frames/000000";
    let file = "color.bin";
    let ways = |name: &str| {
        let absolute = other.join(name).display().to_string();
        [
            format!("../out/{name}"),
            format!("./{name}"),
            format!("..\\out\\{name}"),
            absolute,
            String::new(),
            "..".to_owned(),
        ]
    };
    let refused = |what: &str| {
        let error = Capture::open(&bundle).expect_err(what).to_string();
        assert!(!error.contains("Digest") && error.len() < 20_000, "{error}");
        fs::write(&manifest, &good[0]).unwrap();
        fs::write(&frame, &good[1]).unwrap();
    };
    for way in ways(folder) {
        seal(&manifest, |manifest| manifest["frames"][0]["folder"] = way.clone().into());
        refused(&way);
    }
    for way in ways(&format!("{folder}/{file}")).into_iter().chain(ways(file)) {
        let digest = seal(&frame, |frame| frame["tensors"][0]["file"] = way.clone().into());
        seal(&manifest, |manifest| manifest["frames"][0]["sha256"] = digest.into());
        refused(&way);
        let digest = seal(&frame, |frame| {
            frame["pictures"] = json!([{ "file": way, "bytes": 1, "sha256": "0".repeat(64) }]);
        });
        seal(&manifest, |manifest| manifest["frames"][0]["sha256"] = digest.into());
        refused(&way);
    }
    // Links, of a file and of a whole frame.
    fs::remove_file(bundle.join(folder).join(file)).unwrap();
    std::os::unix::fs::symlink(other.join(folder).join(file), bundle.join(folder).join(file)).unwrap();
    refused("a link to a file");
    fs::remove_dir_all(bundle.join(folder)).unwrap();
    std::os::unix::fs::symlink(other.join(folder), bundle.join(folder)).unwrap();
    assert!(Capture::open(&bundle).is_err(), "a link to a folder");
}
