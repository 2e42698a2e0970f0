//! Scenes from glTF files: rendered by the program, or refused by name with exit code 2.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nrview_tests::program::nrview;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(120);

/// A glowing orange square of side 2 with its numbers in a file beside it, and a camera that it fills.
fn square() -> (Value, Vec<u8>) {
    let corners: [[f32; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let mut bytes: Vec<u8> = corners.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend([0_u16, 1, 2, 0, 2, 3].iter().flat_map(|v| v.to_le_bytes()));
    let json = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "mesh": 0 }, { "name": "front", "camera": 0, "translation": [0, 0, 3] }],
        "cameras": [{ "type": "perspective", "perspective": { "yfov": 0.5, "znear": 0.1 } }],
        "materials": [{
            "pbrMetallicRoughness": { "baseColorFactor": [1, 0.3, 0, 1] },
            "extensions": { "KHR_materials_unlit": {} },
        }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1, "material": 0 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [-1, -1, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 12 },
        ],
        "buffers": [{ "uri": "numbers%20of%20it.bin", "byteLength": bytes.len() }],
        "extensionsUsed": ["KHR_materials_unlit"],
    });
    (json, bytes)
}

fn write(folder: &Path, json: &Value, bytes: &[u8]) -> String {
    fs::write(folder.join("numbers of it.bin"), bytes).expect("writable");
    let path = folder.join("square.gltf");
    fs::write(&path, json.to_string()).expect("writable");
    path.display().to_string()
}

#[test]
fn a_file_is_rendered_through_its_camera() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (json, bytes) = square();
    let scene = write(folder.path(), &json, &bytes);
    let out = folder.path().join("out");
    let arguments = ["--scene", &scene, "--camera", "front", "--frames=1", "--size=33x33", "--out"];
    let out_text = out.display().to_string();
    nrview(&[&["render"], &arguments[..], &[&out_text]].concat(), LIMIT).expect_code(0);
    let picture = image::open(out.join("frame-0000-input.png")).expect("a picture").into_rgb8();
    // The display path has its own idea of orange; the sky would be grey.
    for (x, y, pixel) in picture.enumerate_pixels() {
        let [r, g, b] = pixel.0.map(i32::from);
        assert!(r > g + 40 && g > b + 80, "{pixel:?} at {x}, {y}");
    }
}

#[test]
fn broken_files_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (whole, bytes) = square();
    let refused = |words: &[&str], change: &dyn Fn(&mut Value)| {
        let mut json = whole.clone();
        change(&mut json);
        let scene = write(folder.path(), &json, &bytes);
        let out = folder.path().join("out").display().to_string();
        let finished = nrview(&["render", "--scene", &scene, "--out", &out], LIMIT).expect_refusal(words);
        let message = finished.stderr.lines().filter(|line| line.starts_with("nrview: ")).count();
        assert_eq!(message, 1, "one sentence: {finished:#?}");
        assert!(!Path::new(&out).exists(), "nothing is written");
    };
    refused(&["KHR_draco_mesh_compression"], &|json| {
        json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"])
    });
    refused(&["EXT_meshopt_compression"], &|json| json["extensionsRequired"] = json!(["EXT_meshopt_compression"]));
    refused(&["KHR_texture_basisu"], &|json| json["extensionsRequired"] = json!(["KHR_texture_basisu"]));
    refused(&["../secret.bin", "folder"], &|json| json["buffers"][0]["uri"] = json!("../secret.bin"));
    refused(&["node 0", "ancestor"], &|json| json["nodes"][0]["children"] = json!([0]));
    refused(&["elements", "4000000000"], &|json| json["accessors"][0]["count"] = json!(4_000_000_000_u64));
    refused(&["claims", "5000000000"], &|json| json["buffers"][0]["byteLength"] = json!(5_000_000_000_u64));
    refused(&["accessor 1", "past the end"], &|json| json["accessors"][1]["count"] = json!(600));
    refused(&["square.gltf", "not a glTF 2.0 file"], &|json| *json = json!([1, 2]));
}

#[test]
fn scenes_and_cameras_that_are_not_there() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (json, bytes) = square();
    let scene = write(folder.path(), &json, &bytes);
    let out = folder.path().join("out").display().to_string();
    for (arguments, words) in [
        (&["--scene", "nowhere"][..], &["nowhere", "builtin", ".glb"][..]),
        (&["--scene", "no such file.glb"], &["no such file.glb"]),
        (&["--camera", "front"], &["built-in", "front"]),
        (&["--scene", &scene, "--camera", "back"], &["back", "front"]),
    ] {
        nrview(&[&["render", "--out", &out], arguments].concat(), LIMIT).expect_refusal(words);
    }
}
