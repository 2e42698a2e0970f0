//! Broken and hostile glTF files are refused with one sentence, and never with a panic.

#[allow(dead_code, reason = "each test uses a part of it")]
mod asset;

use asset::{Asset, glb};
use renderer::gltf::{self, Error};
use renderer::mesh::Model;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

fn load_bytes(name: &str, bytes: &[u8]) -> Result<Model, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    gltf::load(&path, &|_| true)
}

fn load(json: &Value, binary: &[u8]) -> Result<Model, Error> {
    load_bytes("asset.glb", &glb(json.to_string().as_bytes(), binary))
}

/// An asset with most kinds of things in it.
fn sound() -> Asset {
    let mut asset = Asset::new();
    let texture = asset.texture(2, 2, &[[1, 2, 3, 255]; 4], 10497);
    let (mut attributes, indices) = asset.square();
    let joints = asset.bytes(&[[0; 4]; 4], false);
    let weights = asset.floats(&[[1.0, 0.0, 0.0, 0.0]; 4]);
    attributes.insert("JOINTS_0".into(), joints.into());
    attributes.insert("WEIGHTS_0".into(), weights.into());
    let up = asset.floats(&[[0.0, 1.0, 0.0]; 4]);
    asset.add("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } } }));
    let primitive =
        json!({ "attributes": attributes, "indices": indices, "material": 0, "targets": [{ "POSITION": up }] });
    asset.add("meshes", json!({ "primitives": [primitive] }));
    let joint = asset.node(json!({}));
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let matrices = asset.floats(&[identity]);
    asset.add("skins", json!({ "joints": [joint], "inverseBindMatrices": matrices }));
    asset.node(json!({ "mesh": 0, "skin": 0, "children": [joint] }));
    asset.camera("front", 5.0, 2.0);
    let (times, values) = (asset.floats(&[[0.0], [1.0]]), asset.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]));
    asset.add(
        "animations",
        json!({
            "samplers": [{ "input": times, "output": values }],
            "channels": [{ "sampler": 0, "target": { "node": joint, "path": "translation" } }],
        }),
    );
    asset
}

/// The sound asset with one change of its JSON is refused with all these words.
#[track_caller]
fn refused(words: &[&str], change: impl FnOnce(&mut Value)) {
    let asset = sound();
    let mut json = asset.document();
    change(&mut json);
    let message = load(&json, &asset.binary).expect_err("it is not refused").to_string();
    assert!(words.iter().all(|w| message.contains(w)), "{message:?} does not say {words:?}");
    assert!(!message.contains('\n') && message.len() < 400, "one sentence: {message}");
}

#[test]
fn the_sound_asset_is_loaded() {
    let model = load(&sound().document(), &sound().binary).unwrap();
    assert_eq!((model.triangle_count(), model.images.len(), model.skins.len(), model.tracks.len()), (2, 1, 1, 1));
    assert_eq!(model.camera_paths()[0].0, "front");
}

#[test]
fn containers() {
    for (bytes, words) in [
        (&b"glTF"[..], "cut off"),
        (&b"glTF\x01\0\0\0\x0c\0\0\0"[..], "version 1"),
        (&b"glTF\x02\0\0\0\x0c\0\0\0"[..], "no JSON"),
        (&b"glTF\x02\0\0\0\xff\xff\xff\xff"[..], "cut off"),
        (&b"glTF\x02\0\0\0\x14\0\0\0\xff\xff\xff\xffJSON"[..], "past its end"),
        (&b""[..], "not a glTF 2.0 file"),
        (&b"\xff\xfe"[..], "not a glTF 2.0 file"),
        (&br#"{"asset":{"version":"1.0"}}"#[..], "version"),
    ] {
        let message = load_bytes("asset.glb", bytes).expect_err("it is not refused").to_string();
        assert!(message.contains(words), "{message:?} does not say {words:?}");
    }
    let deep = "[".repeat(200_000);
    assert!(matches!(load_bytes("asset.gltf", deep.as_bytes()), Err(Error::Format { .. })));
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(gltf::load(folder.path(), &|_| true), Err(Error::Read { .. })));
    assert!(matches!(gltf::load(Path::new("no such file.glb"), &|_| true), Err(Error::Read { .. })));
}

#[test]
fn extensions_by_name() {
    for name in ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_texture_basisu", "VENDOR_thing"] {
        refused(&[name, "not supported"], |json| json["extensionsRequired"] = json!([name]));
    }
}

#[test]
fn nodes() {
    refused(&["node", "ancestor"], |json| json["nodes"][0]["children"] = json!([1]));
    refused(&["node 1", "ancestor"], |json| json["nodes"][1]["children"] = json!([0, 1]));
    refused(&["node", "two parents"], |json| json["nodes"][2]["children"] = json!([0]));
    refused(&["nodes[1]"], |json| json["nodes"][1]["children"] = json!([7]));
    refused(&["nodes[1].mesh"], |json| json["nodes"][1]["mesh"] = json!(3));
    refused(&["no triangles"], |json| json["scenes"][0]["nodes"] = json!([2]));
    refused(&["no scene"], |json| json["scenes"] = json!([]));
    refused(&["node 1", "not finite"], |json| json["nodes"][1]["translation"] = json!([1e39, 0, 0]));
    refused(&["skin 0", "joint 0"], |json| {
        json["nodes"][1].as_object_mut().unwrap().remove("children");
        json["scenes"][0]["nodes"] = json!([1]);
    });
    for (attributes, words) in [
        (json!({ "TRANSLATION": 0, "SCALE": 9 }), "different counts"),
        (json!({ "TRANSLATION": 99 }), "no accessor"),
        (json!({}), "no attributes"),
    ] {
        refused(&["node 1", words], |json| {
            json["nodes"][1]["extensions"] = json!({ "EXT_mesh_gpu_instancing": { "attributes": attributes } });
        });
    }
}

#[test]
fn accessors() {
    let past = "past the end";
    refused(&["accessor 0", past], |json| json["accessors"][0]["count"] = json!(5));
    refused(&["accessor 3", past], |json| json["accessors"][3]["byteOffset"] = json!(8));
    refused(&["elements"], |json| json["accessors"][0]["count"] = json!(4_000_000_000_u64));
    refused(&["elements"], |json| json["accessors"][0]["count"] = json!(u64::MAX));
    refused(&["accessor 0"], |json| json["accessors"][0]["byteOffset"] = json!(u64::MAX));
    refused(&["accessor 0"], |json| {
        let view = json["accessors"][0]["bufferView"].as_u64().unwrap() as usize;
        json["bufferViews"][view]["byteLength"] = json!(u64::MAX);
        json["bufferViews"][view]["byteOffset"] = json!(8);
    });
    refused(&["no elements"], |json| json["accessors"][0]["count"] = json!(0));
    refused(&["2 numbers where 3"], |json| json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(2));
    refused(&["mesh 0", "accessor 99"], |json| {
        json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(99);
    });
    refused(&["accessor 0", "cannot serve as indices"], |json| {
        json["meshes"][0]["primitives"][0]["indices"] = json!(0);
    });
    refused(&["buffer 0", "claims"], |json| json["buffers"][0]["byteLength"] = json!(4_294_967_296_u64));
    refused(&["mesh 0", "weights"], |json| json["accessors"][5]["count"] = json!(3));
    refused(&["animation 0", "numbers"], |json| {
        json["animations"][0]["channels"][0]["target"]["path"] = json!("rotation")
    });
}

#[test]
fn indices_and_numbers() {
    let mut asset = Asset::new();
    let (attributes, _) = asset.square();
    let indices = asset.indices(&[0, 1, 4]);
    asset.add("meshes", json!({ "primitives": [{ "attributes": attributes, "indices": indices }] }));
    asset.node(json!({ "mesh": 0 }));
    let message = load(&asset.document(), &asset.binary).unwrap_err().to_string();
    assert!(message.contains("index 4") && message.contains("4 vertices"), "{message}");

    let asset = sound();
    let mut binary = asset.binary.clone();
    let view = asset.json["accessors"][0]["bufferView"].as_u64().unwrap() as usize;
    let at = asset.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
    binary[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let message = load(&asset.document(), &binary).unwrap_err().to_string();
    assert!(message.contains("accessor 0") && message.contains("not finite"), "{message}");
}

#[test]
fn references() {
    for uri in ["../x.bin", "/etc/passwd", "file:///etc/passwd", "http://host/x.bin", "a/../../x.bin", "%2e%2e/x.bin"] {
        refused(&["its own folder"], |json| json["buffers"][0]["uri"] = json!(uri));
        refused(&["its own folder"], |json| json["images"][0] = json!({ "uri": uri }));
    }
    refused(&["missing.bin", "cannot be read"], |json| json["buffers"][0]["uri"] = json!("missing.bin"));
    refused(&["data:"], |json| json["buffers"][0]["uri"] = json!("data:application/octet-stream;base64,@@"));
}

#[test]
fn pictures_and_looks() {
    refused(&["picture 0", "neither a file nor data"], |json| json["images"][0] = json!({}));
    refused(&["picture 0", "neither PNG nor JPEG"], |json| {
        json["images"][0] = json!({ "bufferView": 2, "mimeType": "image/png" });
    });
    refused(&["textures[0]"], |json| json["textures"][0]["source"] = json!(5));
    refused(&["texture coordinates 2"], |json| {
        json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["texCoord"] = json!(2);
    });
    refused(&["lights[0].spot"], |json| {
        json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [{ "type": "spot" }] } });
        json["nodes"][0]["extensions"] = json!({ "KHR_lights_punctual": { "light": 0 } });
    });
}

#[test]
fn every_cut_and_every_flipped_byte_is_survived() {
    let asset = sound();
    let whole = glb(asset.document().to_string().as_bytes(), &asset.binary);
    for length in (0..whole.len()).step_by(7) {
        assert!(load_bytes("asset.glb", &whole[..length]).is_err());
    }
    let mut loaded = 0;
    for at in (0..whole.len()).step_by(3) {
        let mut bytes = whole.clone();
        bytes[at] ^= [0x01, 0x10, 0x80][at % 3];
        let result = load_bytes("asset.glb", &bytes);
        assert!(!matches!(result, Err(Error::Unreadable { .. })), "a panic behind a change of byte {at}");
        loaded += u32::from(result.is_ok());
    }
    assert!(loaded > 0, "some changes do no harm");
}

#[test]
fn loading_reports_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asset.glb");
    sound().write(&path);
    let steps = AtomicU32::new(0);
    gltf::load(&path, &|p| {
        steps.fetch_max(p.done, Ordering::Relaxed);
        p.done <= p.total
    })
    .unwrap();
    // The file, a buffer, a picture, a mesh, the nodes.
    assert_eq!(steps.load(Ordering::Relaxed), 5);
    for stop in 1..=5 {
        let result = gltf::load(&path, &|p| p.done < stop);
        assert!(matches!(result, Err(Error::Cancelled)), "stopped at step {stop}");
    }
}
