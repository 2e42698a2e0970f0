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
    refused(&["number out of range"], |json| json["nodes"][1]["translation"] = json!([1e39, 0, 0]));
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
fn bombs() {
    // Deep hierarchies, transforms that multiply beyond all bounds, vertices at the end of the world.
    let chain = |count: usize, scale: f64| {
        let asset = sound();
        let mut json = asset.document();
        let nodes = json["nodes"].as_array_mut().unwrap();
        let first = nodes.len();
        for i in 0..count {
            let child = if i + 1 < count { vec![first + i + 1] } else { vec![] };
            nodes.push(json!({ "children": child, "scale": [scale, scale, scale] }));
        }
        json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(first));
        load(&json, &asset.binary).map_err(|error| error.to_string())
    };
    assert!(chain(1000, 1.0).is_ok());
    assert!(chain(2000, 1.0).unwrap_err().contains("levels of nodes"));
    assert!(chain(30, 10.0).unwrap_err().contains("its scale in the scene"));
    refused(&["mesh 0", "from the origin"], |json| {
        // The same bytes read as other numbers: weights of a joint as positions in the distance.
        json["accessors"][0]["componentType"] = json!(5126);
        json["accessors"][0]["bufferView"] = json!(json["bufferViews"].as_array().unwrap().len());
        json["bufferViews"].as_array_mut().unwrap().push(json!({ "buffer": 1, "byteLength": 48 }));
        let far = "////fv///37///9+".repeat(4);
        let uri = format!("data:application/octet-stream;base64,{far}");
        json["buffers"].as_array_mut().unwrap().push(json!({ "byteLength": 48, "uri": uri }));
    });
    // Many uses of a few bytes.
    let mut many = sound();
    let (attributes, _) = many.square();
    let places: Vec<u16> = vec![0; 60_000];
    let indices = many.indices(&places);
    let primitive = json!({ "attributes": attributes, "indices": indices });
    let primitives = vec![primitive; 1700];
    for _ in 0..2 {
        many.add("meshes", json!({ "primitives": primitives }));
    }
    let message = load(&many.document(), &many.binary).unwrap_err().to_string();
    assert!(message.contains("triangles in"), "{message}");
    // A picture of 16384 x 16384 texels in a few bytes of PNG, several times.
    let mut bomb = sound();
    let header = |width: u32, height: u32| {
        let mut chunk = b"IHDR".to_vec();
        chunk.extend(width.to_be_bytes());
        chunk.extend(height.to_be_bytes());
        chunk.extend([8, 6, 0, 0, 0]);
        let mut crc = !0_u32;
        for byte in &chunk {
            crc ^= u32::from(*byte);
            (0..8).for_each(|_| crc = crc >> 1 ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1)));
        }
        [&b"\x89PNG\r\n\x1a\n\0\0\0\x0d"[..], &chunk, &(!crc).to_be_bytes(), b"\0\0\0\0IDAT\x35\xaf\x06\x1e"].concat()
    };
    for (width, height, words) in [(16384, 16384, "picture"), (40_000, 2, "picture"), (0, 5, "picture")] {
        let at = bomb.binary.len();
        let png = header(width, height);
        bomb.binary.extend(&png);
        bomb.binary.resize(bomb.binary.len().next_multiple_of(4), 0);
        let view = bomb.add("bufferViews", json!({ "buffer": 0, "byteOffset": at, "byteLength": png.len() }));
        let mut json = bomb.document();
        json["images"] = json!(vec![json!({ "bufferView": view, "mimeType": "image/png" }); 5]);
        let message = load(&json, &bomb.binary).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    }
    // More objects than a file of any use has.
    let objects = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}", "{},".repeat(2_200_000));
    let message = load_bytes("asset.gltf", objects.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("objects in its JSON"), "{message}");
    refused(&["instances"], |json| {
        json["accessors"][0]["count"] = json!(70_000);
        json["nodes"][1]["extensions"] = json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 0 } } });
        json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(1);
    });
    refused(&["number out of range"], |json| {
        json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] =
            json!({ "KHR_texture_transform": { "scale": [1e39, 1] } });
    });
}

#[test]
fn times_of_animations() {
    for (times, words) in
        [([1.0_f32, 0.0], "do not ascend"), ([0.0, f32::NAN], "not finite"), ([0.0, f32::INFINITY], "not finite")]
    {
        let asset = sound();
        let mut binary = asset.binary.clone();
        let input = asset.json["animations"][0]["samplers"][0]["input"].as_u64().unwrap() as usize;
        let view = asset.json["accessors"][input]["bufferView"].as_u64().unwrap() as usize;
        let at = asset.json["bufferViews"][view]["byteOffset"].as_u64().unwrap() as usize;
        for (i, time) in times.iter().enumerate() {
            binary[at + 4 * i..at + 4 * i + 4].copy_from_slice(&time.to_le_bytes());
        }
        let message = load(&asset.document(), &binary).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
}

/// Values that are sound one by one and overflow when they are multiplied by others.
#[test]
fn animations_that_leave_all_numbers() {
    let mut asset = Asset::new();
    let mesh = asset.square_mesh(json!({}));
    let count = 5;
    for i in 0..count {
        let node = if i + 1 < count { json!({ "children": [i + 1] }) } else { json!({ "mesh": mesh }) };
        asset.node(node);
    }
    asset.camera("eye", 5.0, 2.0);
    asset.json["nodes"][count]["name"] = json!("eye");
    let times = asset.floats(&[[0.0], [1.0]]);
    let far = |asset: &mut Asset, value: f32| asset.floats(&[[1.0; 3], [value; 3]]);
    let values = far(&mut asset, 1e11);
    let channel = |node: usize| json!({ "sampler": 0, "target": { "node": node, "path": "scale" } });
    let channels: Vec<Value> = (0..count).map(channel).collect();
    asset.add("animations", json!({ "samplers": [{ "input": times, "output": values }], "channels": channels }));
    let model = load(&asset.document(), &asset.binary).unwrap();
    model.packed_elements(0.99);
    let bounds = model.bounds_in_motion();
    assert!(bounds.low.is_finite() && bounds.high.is_finite() && !bounds.is_empty(), "{bounds:?}");
    assert!(renderer::Scene::around(model).path.at(0.5).position.is_finite());
    asset.json["animations"][0]["samplers"][0]["output"] = json!(far(&mut asset, 1e30));
    let message = load(&asset.document(), &asset.binary).unwrap_err().to_string();
    assert!(message.contains("animation 0") && message.contains("beyond"), "{message}");
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
fn one_of_several_scenes_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asset.glb");
    let asset = sound();
    let mut json = asset.document();
    let first = json["scenes"][0].clone();
    json["nodes"].as_array_mut().unwrap().push(json!({ "mesh": 0, "scale": [5, 5, 5] }));
    let last = json["nodes"].as_array().unwrap().len() - 1;
    json["scenes"] = json!([first, { "name": "large", "nodes": [last] }]);
    std::fs::write(&path, glb(json.to_string().as_bytes(), &asset.binary)).unwrap();
    let size = |scene: Option<&str>| gltf::load_scene(&path, scene, &|_| true).map(|model| model.bounds(0.0).size().x);
    assert_eq!(size(None).unwrap(), 2.0);
    assert_eq!((size(Some("large")).unwrap(), size(Some("1")).unwrap(), size(Some("0")).unwrap()), (10.0, 10.0, 2.0));
    let message = size(Some("other")).unwrap_err().to_string();
    assert!(message.contains("no scene \"other\"") && message.contains("0, large"), "{message}");
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
