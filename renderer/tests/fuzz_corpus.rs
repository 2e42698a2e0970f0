//! The corpus of the fuzz targets, and random changes of it, through the loaders: no panic, and one
//! sentence for what is refused. The fuzzer itself goes further; this keeps what it found.

#[allow(dead_code, reason = "each test uses a part of it")]
mod asset;

use asset::{Asset, glb};
use renderer::panorama::Panorama;
use renderer::{Scene, gltf};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Changes of each file of the corpus.
const CHANGES: u64 = 3000;
/// Most time that the changes of one target take; the rest is left out on a slow machine.
const PATIENCE: Duration = Duration::from_secs(12);
/// Seconds of other changes instead, as long a run as one likes.
const SECONDS: &str = "NRVIEW_FUZZ_SECONDS";

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz/corpus").join(target)
}

fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(corpus(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A few changes as a fuzzer makes them.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 if !bytes.is_empty() => bytes[at] = [0, 0xff, b'9', b'-', b'{', b'"'][self.below(6)],
                2 => bytes.truncate(at),
                3 => bytes.insert(at, b"0129-e.,[]"[self.below(10)]),
                4 => {
                    let end = (at + self.below(20)).min(bytes.len());
                    bytes.drain(at..end);
                }
                _ => {
                    let end = (at + self.below(40)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, part);
                }
            }
        }
    }
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

fn changes(target: &str, check: impl Fn(&[u8], &str)) {
    let begun = Instant::now();
    let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
    let patience = seconds.map_or(PATIENCE, Duration::from_secs);
    let mut random = Random(seconds.unwrap_or(7));
    for number in 0..if seconds.is_some() { u64::MAX } else { CHANGES } {
        for (path, whole) in files(target) {
            let mut bytes = whole;
            random.change(&mut bytes);
            check(&bytes, &format!("change {number} of {}", path.display()));
        }
        if begun.elapsed() > patience {
            println!("{target}: {} changes of each file", number + 1);
            return;
        }
    }
}

#[test]
fn models() {
    let mut good = 0;
    for (path, bytes) in files("gltf") {
        good += u32::from(load(&bytes, &path.display().to_string()));
    }
    assert!(good >= 5, "most of the corpus are sound models");
    changes("gltf", |bytes, what| _ = load(bytes, what));
}

#[test]
fn panoramas() {
    let read = |bytes: &[u8]| Panorama::from_bytes("sky", Path::new("sky"), bytes);
    for (path, bytes) in files("panorama") {
        assert!(read(&bytes).is_ok(), "{}", path.display());
    }
    changes("panorama", |bytes, what| {
        if let Err(error) = read(bytes) {
            assert!(!error.to_string().contains('\n'), "{what}: {error}");
        }
    });
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
