//! The seeds of the fuzzer for models and environments are sound. What the fuzzer found beside them is replayed by
//! `tests/outside`, with random changes.

#[allow(dead_code, reason = "each test uses a part of it")]
mod asset;

use asset::{Asset, glb};
use renderer::panorama::Panorama;
use renderer::{Scene, gltf};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(target)
}

#[track_caller]
fn load(bytes: &[u8], what: &str) -> bool {
    match gltf::from_bytes("asset", bytes.to_vec(), &|_| true) {
        Ok(model) => {
            model.packed_elements(0.4);
            assert!(Scene::around(model).path.at(0.3).position.is_finite(), "{what}");
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!matches!(error, gltf::Error::Unreadable { .. }), "{what}: a panic inside");
            assert!(!message.contains('\n') && message.len() < 600, "{what}: {message}");
            false
        }
    }
}

#[test]
fn models() {
    for (name, bytes) in seeds() {
        assert!(load(&bytes, name), "{name} is a sound model");
        assert_eq!(std::fs::read(corpus("gltf").join(name)).unwrap(), bytes, "{name} is the seed that is written");
    }
}

#[test]
fn panoramas() {
    for name in ["small.hdr", "small.exr"] {
        let bytes = std::fs::read(corpus("panorama").join(name)).unwrap();
        assert!(Panorama::from_bytes("sky", Path::new("sky"), &bytes).is_ok(), "{name}");
    }
}

/// Small sound assets that together use all that the loader knows.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let whole = |asset: &Asset| glb(asset.document().to_string().as_bytes(), &asset.binary);
    let mut seeds = Vec::new();

    let mut textured = Asset::new();
    let texture = textured.texture(2, 2, &[[200, 100, 50, 255], [0; 4], [255; 4], [9, 9, 9, 99]], 33648);
    let moved = json!({ "index": texture, "texCoord": 0, "extensions": {
        "KHR_texture_transform": { "offset": [0.5, 0], "rotation": 0.3, "scale": [2, 2] } } });
    let mesh = textured.square_mesh(json!({
        "pbrMetallicRoughness": { "baseColorTexture": moved, "metallicRoughnessTexture": { "index": texture } },
        "normalTexture": { "index": texture, "scale": 0.5 }, "occlusionTexture": { "index": texture, "strength": 0.5 },
        "emissiveTexture": { "index": texture }, "emissiveFactor": [1, 1, 1], "alphaMode": "MASK", "doubleSided": true,
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 3 } },
    }));
    textured.node(json!({ "mesh": mesh }));
    seeds.push(("textured.glb", whole(&textured)));

    let mut skinned = Asset::new();
    let (mut attributes, indices) = skinned.square();
    let (joints, weights) = (skinned.bytes(&[[0; 4]; 4], false), skinned.floats(&[[1.0, 0.0, 0.0, 0.0]; 4]));
    attributes.insert("JOINTS_0".into(), joints.into());
    attributes.insert("WEIGHTS_0".into(), weights.into());
    let up = skinned.floats(&[[0.0, 1.0, 0.0]; 4]);
    let primitive = json!({ "attributes": attributes, "indices": indices, "targets": [{ "POSITION": up }] });
    let mesh = skinned.add("meshes", json!({ "primitives": [primitive], "weights": [0.5] }));
    let joint = skinned.node(json!({ "translation": [0, 1, 0] }));
    let skin = skinned.add("skins", json!({ "joints": [joint] }));
    skinned.node(json!({ "mesh": mesh, "skin": skin, "children": [joint] }));
    skinned.camera("eye", 5.0, 2.0);
    let times = skinned.floats(&[[0.0], [1.0]]);
    let (turns, sizes) =
        (skinned.floats(&[[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]), skinned.floats(&[[0.0], [1.0]]));
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    skinned.add("animations", json!({
        "samplers": [{ "input": times, "output": turns }, { "input": times, "output": sizes, "interpolation": "STEP" }],
        "channels": [channel(0, joint, "rotation"), channel(1, joint + 1, "weights")],
    }));
    seeds.push(("skinned.glb", whole(&skinned)));

    let mut many = Asset::new();
    let mesh = many.square_mesh(json!({ "alphaMode": "BLEND", "extensions": { "KHR_materials_unlit": {} } }));
    let places = many.floats(&[[0.0; 3], [3.0, 0.0, 0.0]]);
    many.node(json!({ "mesh": mesh, "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": places } } } }));
    let spot = json!({ "type": "spot", "intensity": 5, "range": 9, "spot": { "outerConeAngle": 0.5 } });
    many.json.insert("extensions".into(), json!({ "KHR_lights_punctual": { "lights": [spot, { "type": "point" }] } }));
    for light in 0..2 {
        many.node(json!({ "translation": [0, 2, 0], "extensions": { "KHR_lights_punctual": { "light": light } } }));
    }
    seeds.push(("instances.glb", whole(&many)));

    let mut strip = Asset::new();
    let positions = strip.floats(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.5]]);
    let (places, values) = (strip.indices(&[3]), strip.floats(&[[1.0, 1.0, 2.0]]));
    let views = [places, values].map(|accessor| strip.json["accessors"][accessor]["bufferView"].clone());
    strip.json["accessors"][positions]["sparse"] = json!({
        "count": 1, "indices": { "bufferView": views[0], "componentType": 5123 }, "values": { "bufferView": views[1] },
    });
    let colours = strip.bytes(&[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 9]], true);
    let attributes = json!({ "POSITION": positions, "COLOR_0": colours });
    let mesh = strip.add(
        "meshes",
        json!({ "primitives": [
        { "attributes": attributes, "mode": 5 }, { "attributes": attributes, "mode": 6 },
    ] }),
    );
    let matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1];
    let leaf = strip.node(json!({ "mesh": mesh, "matrix": matrix }));
    strip.node(json!({ "children": [leaf], "scale": [2, 2, 2] }));
    seeds.push(("strip.glb", whole(&strip)));

    // The same as text, with the buffer inside.
    let mut text = strip.document();
    text["buffers"][0]["uri"] = Value::from(format!("data:application/octet-stream;base64,{}", base64(&strip.binary)));
    seeds.push(("strip.gltf", text.to_string().into_bytes()));
    seeds
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| {
        let word = part.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - part.len()));
        let digits = (0..=part.len()).map(move |i| DIGITS[(word >> (18 - 6 * i) & 63) as usize] as char);
        digits.chain(std::iter::repeat_n('=', 3 - part.len())).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// Writes the seeds anew: `cargo test --release -p renderer --test fuzz_corpus -- --ignored`.
#[test]
#[ignore = "writes files into the sources"]
fn write_the_seeds() {
    for target in ["gltf", "panorama"] {
        std::fs::create_dir_all(corpus(target)).unwrap();
    }
    for (name, bytes) in seeds() {
        std::fs::write(corpus("gltf").join(name), bytes).unwrap();
    }
    let pixels: Vec<[f32; 3]> = (0..128).map(|i| [i as f32 * 0.1, 1.0, if i == 40 { 900.0 } else { 0.2 }]).collect();
    let mut hdr = Vec::new();
    let rgb: Vec<image::Rgb<f32>> = pixels.iter().copied().map(image::Rgb).collect();
    image::codecs::hdr::HdrEncoder::new(&mut hdr).encode(&rgb, 16, 8).unwrap();
    std::fs::write(corpus("panorama").join("small.hdr"), hdr).unwrap();
    use exr::prelude::*;
    let channels = SpecificChannels::rgb(|at: Vec2<usize>| {
        let [r, g, b] = pixels[at.1 * 16 + at.0];
        (r, g, b)
    });
    Image::from_channels((16, 8), channels).write().to_file(corpus("panorama").join("small.exr")).unwrap();
}
