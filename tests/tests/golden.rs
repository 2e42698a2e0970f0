//! Golden frames: one small asset for each feature of glTF that is supported, made in code, rendered, and compared with a
//! picture that a person has looked at. `NRVIEW_ACCEPT=1` takes the new pictures over.

#[allow(dead_code, reason = "each test uses a part of it")]
#[path = "../../renderer/tests/asset/mod.rs"]
mod asset;
#[allow(dead_code, reason = "each test uses a part of it")]
#[path = "../../renderer/tests/common/mod.rs"]
mod common;

use asset::Asset;
use common::codes;
use gpu::testing::TestDevice;
use network::geometry::Extent;
use network::metrics::{DEFAULT_PIXELS_PER_DEGREE, Rgb8, flip, heat_map};
use renderer::{Camera, Effects, GBuffer, Renderer, Scene, View, gltf};
use serde_json::{Map, Value, json};
use std::f32::consts::{PI, TAU};
use std::path::{Path, PathBuf};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;
const SAMPLES: u32 = 48;
/// Most that a frame's mean FLIP may differ from its golden one.
const LIMIT: f64 = 0.02;

const REPEAT: u32 = 10497;
const CLAMP: u32 = 33071;
const MIRROR: u32 = 33648;

/// The folder of the golden frames: that of the sources, or in a copy of the repository elsewhere.
fn folder() -> PathBuf {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    if home.is_dir() { home } else { PathBuf::from("tests/golden") }
}

/// A ball with texture coordinates; its attributes and indices.
fn ball(asset: &mut Asset) -> (Map<String, Value>, usize) {
    let (rings, sides) = (24_u16, 48_u16);
    let (mut positions, mut uv) = (Vec::new(), Vec::new());
    for j in 0..=rings {
        let (sv, cv) = (PI * f32::from(j) / f32::from(rings)).sin_cos();
        for i in 0..=sides {
            let (su, cu) = (TAU * f32::from(i) / f32::from(sides)).sin_cos();
            positions.push([sv * cu, cv, sv * su]);
            uv.push([2.0 * f32::from(i) / f32::from(sides), f32::from(j) / f32::from(rings)]);
        }
    }
    let mut indices = Vec::new();
    let row = sides + 1;
    for j in 0..rings {
        for i in 0..sides {
            let a = j * row + i;
            indices.extend([a, a + 1, a + row, a + 1, a + row + 1, a + row]);
        }
    }
    let mut attributes = Map::new();
    attributes.insert("POSITION".into(), asset.floats(&positions).into());
    attributes.insert("NORMAL".into(), asset.floats(&positions).into());
    attributes.insert("TEXCOORD_0".into(), asset.floats(&uv).into());
    (attributes, asset.indices(&indices))
}

fn mesh(asset: &mut Asset, (attributes, indices): (Map<String, Value>, usize), material: Value) -> usize {
    let material = asset.add("materials", material);
    asset.add(
        "meshes",
        json!({ "primitives": [{ "attributes": attributes, "indices": indices, "material": material }] }),
    )
}

fn ball_mesh(asset: &mut Asset, material: Value) -> usize {
    let shape = ball(asset);
    mesh(asset, shape, material)
}

fn color(r: f32, g: f32, b: f32) -> Value {
    json!({ "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 1], "metallicFactor": 0, "roughnessFactor": 0.6 } })
}

/// A grid of `side` x `side` texels.
fn picture(side: u32, at: impl Fn(f32, f32) -> [f32; 4]) -> Vec<[u8; 4]> {
    let place = |i: u32| (i as f32 + 0.5) / side as f32;
    (0..side * side).map(|i| at(place(i % side), place(i / side)).map(|v| (v * 255.0 + 0.5) as u8)).collect()
}

fn texture(asset: &mut Asset, side: u32, wrap: u32, at: impl Fn(f32, f32) -> [f32; 4]) -> usize {
    let rgba = picture(side, at);
    let texture = asset.texture(side, side, &rgba, wrap);
    // Smooth, as most assets ask for.
    let samplers = asset.json["samplers"].as_array_mut().unwrap();
    let last = samplers.len() - 1;
    samplers[last]["magFilter"] = json!(9729);
    texture
}

/// Arrows on squares: a picture that shows turns and flips.
fn arrows(u: f32, v: f32) -> [f32; 4] {
    let (x, y) = ((u * 4.0).fract() - 0.5, (v * 4.0).fract() - 0.5);
    let arrow = (x.abs() < 0.1 && y > -0.3) || (y < 0.0 && y > -0.4 && x.abs() < 0.4 + y);
    let tint = [0.2 + 0.7 * u, 0.3 + 0.6 * v, 0.75 - 0.5 * u, 1.0];
    if arrow { [0.98, 0.96, 0.9, 1.0] } else { tint }
}

/// The floor that every frame has, and what stands on it: `count` things beside each other.
fn stage(asset: &mut Asset) {
    let floor = asset.square_mesh(json!({
        "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.48, 0.45, 1], "metallicFactor": 0, "roughnessFactor": 0.9 },
    }));
    let quarter = [-0.5_f32.sqrt(), 0.0, 0.0, 0.5_f32.sqrt()];
    asset.node(json!({ "mesh": floor, "rotation": quarter, "scale": [6, 6, 6] }));
}

fn put(asset: &mut Asset, mesh: usize, x: f32) -> usize {
    asset.node(json!({ "mesh": mesh, "translation": [x, 0.85, 0.0], "scale": [0.8, 0.8, 0.8] }))
}

fn animate(asset: &mut Asset, node: usize, path: &str, input: usize, output: usize, how: &str) {
    let sampler = json!({ "input": input, "output": output, "interpolation": how });
    let channel = json!({ "sampler": 0, "target": { "node": node, "path": path } });
    asset.add("animations", json!({ "samplers": [sampler], "channels": [channel] }));
}

fn hierarchy(asset: &mut Asset) {
    // Three generations, each half as large and turned; another scene that must not be seen.
    let part = asset.square_mesh(json!({ "doubleSided": true, "pbrMetallicRoughness": { "baseColorFactor": [0.7, 0.3, 0.1, 1], "metallicFactor": 0 } }));
    let turn = [0.0, 0.0, 0.2588, 0.9659];
    let child =
        asset.node(json!({ "mesh": part, "translation": [1.2, 1.0, 0.1], "rotation": turn, "scale": [0.5, 0.5, 0.5] }));
    let middle = asset.node(json!({ "mesh": part, "translation": [1.2, 1.0, 0.1], "rotation": turn, "scale": [0.5, 0.5, 0.5], "children": [child] }));
    let top = asset.node(
        json!({ "mesh": part, "translation": [-0.8, 0.95, 0.0], "scale": [0.9, 0.9, 0.9], "children": [middle] }),
    );
    let hidden = asset.node(json!({ "mesh": part, "translation": [0.0, 1.5, 1.0] }));
    asset.json.insert("scenes".into(), json!([{ "nodes": [hidden] }, { "nodes": [0, top] }]));
    asset.json.insert("scene".into(), json!(1));
}

fn metallic_roughness(asset: &mut Asset) {
    let map = texture(asset, 32, REPEAT, |u, v| {
        let metal = if (u * 4.0).fract() < 0.5 { 1.0 } else { 0.0 };
        [1.0, 0.1 + 0.8 * v, metal, 1.0]
    });
    let pictured = ball_mesh(
        asset,
        json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.9, 0.6, 0.25, 1], "metallicRoughnessTexture": { "index": map } } }),
    );
    let mirror = ball_mesh(
        asset,
        json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.9, 0.9, 0.95, 1], "metallicFactor": 1, "roughnessFactor": 0.1 } }),
    );
    let matte = ball_mesh(asset, color(0.6, 0.1, 0.1));
    for (mesh, x) in [(matte, -1.8), (pictured, 0.0), (mirror, 1.8)] {
        put(asset, mesh, x);
    }
}

fn normal_maps(asset: &mut Asset) {
    let bumps = texture(asset, 64, REPEAT, |u, v| {
        let (x, y) = ((u * 4.0).fract() * 2.0 - 1.0, (v * 4.0).fract() * 2.0 - 1.0);
        let r = x.hypot(y);
        if r > 0.8 {
            [0.5, 0.5, 1.0, 1.0]
        } else {
            [0.5 + 0.45 * x, 0.5 - 0.45 * y, 0.5 + 0.5 * (1.0 - r * r * 0.7), 1.0]
        }
    });
    let of = |scale: f32| {
        json!({
            "pbrMetallicRoughness": { "baseColorFactor": [0.35, 0.45, 0.6, 1], "metallicFactor": 0, "roughnessFactor": 0.4 },
            "normalTexture": { "index": bumps, "scale": scale },
        })
    };
    // Without tangents in the file, with half the strength, and on a flat card with tangents.
    let (full, half) = (ball_mesh(asset, of(1.0)), ball_mesh(asset, of(0.4)));
    let (mut attributes, indices) = asset.square();
    attributes.insert("TANGENT".into(), asset.floats(&[[1.0, 0.0, 0.0, 1.0]; 4]).into());
    let flat = mesh(asset, (attributes, indices), of(1.0));
    for (mesh, x) in [(full, -1.8), (flat, 0.0), (half, 1.8)] {
        put(asset, mesh, x);
    }
}

fn occlusion(asset: &mut Asset) {
    let rings = texture(asset, 64, CLAMP, |u, v| {
        let r = (u - 0.5).hypot(v - 0.5) * 8.0;
        [if r.fract() < 0.5 { 0.0 } else { 1.0 }, 1.0, 1.0, 1.0]
    });
    for (k, strength) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        let mut material = color(0.7, 0.7, 0.65);
        material["occlusionTexture"] = json!({ "index": rings, "strength": strength });
        let mesh = asset.square_mesh(material);
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn emission(asset: &mut Asset) {
    let stripes = texture(asset, 32, REPEAT, |u, v| {
        if ((u + v) * 4.0).fract() < 0.5 { [1.0, 0.5, 0.1, 1.0] } else { [0.0, 0.0, 0.0, 1.0] }
    });
    for (k, strength) in [0.3, 1.0, 4.0].into_iter().enumerate() {
        let mesh = ball_mesh(
            asset,
            json!({
                "pbrMetallicRoughness": { "baseColorFactor": [0.05, 0.05, 0.06, 1], "metallicFactor": 0 },
                "emissiveFactor": [1, 1, 1],
                "emissiveTexture": { "index": stripes },
                "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": strength } },
            }),
        );
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn alpha_mask(asset: &mut Asset) {
    let holes = texture(asset, 64, REPEAT, |u, v| {
        let r = ((u * 3.0).fract() - 0.5).hypot((v * 3.0).fract() - 0.5);
        [0.2, 0.5, 0.2, (r * 2.0).min(1.0)]
    });
    for (k, cutoff) in [0.3, 0.6, 0.8].into_iter().enumerate() {
        let mesh = asset.square_mesh(json!({
            "pbrMetallicRoughness": { "baseColorTexture": { "index": holes }, "metallicFactor": 0 },
            "alphaMode": "MASK", "alphaCutoff": cutoff, "doubleSided": true,
        }));
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn alpha_blend(asset: &mut Asset) {
    let behind = ball_mesh(asset, color(0.8, 0.7, 0.2));
    asset.node(json!({ "mesh": behind, "translation": [0.0, 0.9, -1.6], "scale": [0.9, 0.9, 0.9] }));
    for (k, alpha) in [0.25, 0.5, 0.75].into_iter().enumerate() {
        let mesh = asset.square_mesh(json!({
            "pbrMetallicRoughness": { "baseColorFactor": [0.1, 0.3, 0.8, alpha], "metallicFactor": 0 },
            "alphaMode": "BLEND", "doubleSided": true,
        }));
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn double_sided(asset: &mut Asset) {
    for (k, both) in [false, true].into_iter().enumerate() {
        let mut material = color(0.2, 0.55, 0.3);
        material["doubleSided"] = json!(both);
        let mesh = asset.square_mesh(material);
        // Turned away: only the second is seen.
        let turn = [0.0, 0.9659, 0.0, 0.2588];
        asset.node(json!({ "mesh": mesh, "translation": [2.4 * k as f32 - 1.2, 0.85, 0.0], "rotation": turn, "scale": [0.8, 0.8, 0.8] }));
    }
}

fn vertex_colors(asset: &mut Asset) {
    let (mut attributes, indices) = asset.square();
    let colors = asset.bytes(&[[255, 40, 40, 255], [40, 255, 40, 255], [40, 40, 255, 255], [255, 255, 60, 255]], true);
    attributes.insert("COLOR_0".into(), colors.into());
    let checks = texture(asset, 8, REPEAT, |u, v| {
        if ((u * 4.0).floor() + (v * 4.0).floor()) % 2.0 == 0.0 { [1.0; 4] } else { [0.5, 0.5, 0.5, 1.0] }
    });
    let plain = mesh(asset, (attributes.clone(), indices), color(1.0, 1.0, 1.0));
    let pictured = mesh(
        asset,
        (attributes, indices),
        json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": checks }, "metallicFactor": 0 } }),
    );
    put(asset, plain, -1.0);
    put(asset, pictured, 1.0);
}

fn two_uv_sets(asset: &mut Asset) {
    let (mut attributes, indices) = asset.square();
    let second = asset.floats(&[[0.0, 0.5], [0.5, 0.5], [0.5, 0.0], [0.0, 0.0]]);
    attributes.insert("TEXCOORD_1".into(), second.into());
    let map = texture(asset, 64, REPEAT, arrows);
    for set in [0, 1] {
        let material = json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": map, "texCoord": set }, "metallicFactor": 0 } });
        let mesh = mesh(asset, (attributes.clone(), indices), material);
        put(asset, mesh, 2.0 * set as f32 - 1.0);
    }
}

fn samplers(asset: &mut Asset) {
    for (k, wrap) in [REPEAT, MIRROR, CLAMP].into_iter().enumerate() {
        let map = texture(asset, 16, wrap, arrows);
        let transform = json!({ "offset": [-0.5, -0.5], "scale": [2, 2] });
        let mesh = asset.square_mesh(json!({
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": map, "extensions": { "KHR_texture_transform": transform } }, "metallicFactor": 0,
            },
        }));
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
    // Nearest texel.
    asset.json["samplers"][1]["magFilter"] = json!(9728);
}

fn texture_transform(asset: &mut Asset) {
    let map = texture(asset, 64, REPEAT, arrows);
    let transforms = [
        json!({ "offset": [0.25, 0.1] }),
        json!({ "rotation": 0.6 }),
        json!({ "scale": [0.5, 1.5], "rotation": -0.4 }),
    ];
    for (k, transform) in transforms.into_iter().enumerate() {
        let mesh = asset.square_mesh(json!({
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": map, "extensions": { "KHR_texture_transform": transform } }, "metallicFactor": 0,
            },
        }));
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn far_texture(asset: &mut Asset) {
    // A fine pattern that runs to the horizon.
    let map = texture(asset, 64, REPEAT, arrows);
    let floor = asset.square_mesh(json!({
        "pbrMetallicRoughness": {
            "baseColorTexture": { "index": map, "extensions": { "KHR_texture_transform": { "scale": [12, 12] } } },
            "metallicFactor": 0, "roughnessFactor": 0.9,
        },
    }));
    asset.node(json!({ "mesh": floor, "translation": [0, 0.01, -8], "rotation": [-0.5_f32.sqrt(), 0.0, 0.0, 0.5_f32.sqrt()], "scale": [14, 14, 14] }));
}

fn unlit(asset: &mut Asset) {
    let map = texture(asset, 64, REPEAT, arrows);
    let pbr = json!({ "baseColorTexture": { "index": map }, "metallicFactor": 0 });
    let lit = ball_mesh(asset, json!({ "pbrMetallicRoughness": pbr }));
    let flat = ball_mesh(asset, json!({ "pbrMetallicRoughness": pbr, "extensions": { "KHR_materials_unlit": {} } }));
    put(asset, lit, -1.0);
    put(asset, flat, 1.0);
}

fn lights(asset: &mut Asset) {
    let white = ball_mesh(asset, color(0.8, 0.8, 0.8));
    for x in [-1.8, 0.0, 1.8] {
        put(asset, white, x);
    }
    let spot = json!({ "innerConeAngle": 0.2, "outerConeAngle": 0.4 });
    let lights = json!([
        { "type": "point", "color": [1, 0.3, 0.1], "intensity": 12, "range": 6 },
        { "type": "spot", "color": [0.2, 1, 0.4], "intensity": 40, "spot": spot },
        { "type": "directional", "color": [0.3, 0.4, 1], "intensity": 1.5 },
    ]);
    asset.json.insert("extensions".into(), json!({ "KHR_lights_punctual": { "lights": lights } }));
    let on = |light: usize| json!({ "KHR_lights_punctual": { "light": light } });
    asset.node(json!({ "translation": [-2.6, 1.8, 1.0], "extensions": on(0) }));
    let down = [-0.6088, 0.0, 0.0, 0.7934];
    asset.node(json!({ "translation": [0.0, 3.4, 1.4], "rotation": down, "extensions": on(1) }));
    asset.node(json!({ "rotation": [-0.32, 0.3, 0.1, 0.89], "extensions": on(2) }));
}

fn animation(asset: &mut Asset) {
    let map = texture(asset, 64, REPEAT, arrows);
    let mesh = ball_mesh(
        asset,
        json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": map }, "metallicFactor": 0 } }),
    );
    let times = asset.floats(&[[0.0], [1.0], [2.0]]);
    let up = |x: f32| [[x, 0.85, 0.0], [x, 2.0, 0.0], [x, 0.85, 0.0]];
    let (step, linear) = (asset.floats(&up(-1.8)), asset.floats(&up(0.0)));
    let cubic = {
        let flat = [0.0; 3];
        let [a, b, c] = up(1.8);
        asset.floats(&[flat, a, [0.0, 6.0, 0.0], flat, b, flat, flat, c, flat])
    };
    let turn = asset.floats(&[[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, -1.0]]);
    for (output, how) in [(step, "STEP"), (linear, "LINEAR"), (cubic, "CUBICSPLINE")] {
        let node = put(asset, mesh, 0.0);
        animate(asset, node, "translation", times, output, how);
        animate(asset, node, "rotation", times, turn, "LINEAR");
    }
}

/// A strip of squares upwards, `rows` high.
fn strip(rows: u16) -> (Vec<[f32; 3]>, Vec<u16>) {
    let positions =
        (0..=rows).flat_map(|j| [-0.35, 0.35].map(|x| [x, 2.2 * f32::from(j) / f32::from(rows), 0.0])).collect();
    let indices = (0..rows).flat_map(|j| [0, 1, 3, 0, 3, 2].map(|k| 2 * j + k)).collect();
    (positions, indices)
}

fn skin(asset: &mut Asset) {
    let (positions, indices) = strip(16);
    let joints: Vec<[u8; 4]> = positions.iter().map(|_| [0, 1, 0, 0]).collect();
    let weights: Vec<[f32; 4]> = positions
        .iter()
        .map(|p| {
            let w = ((p[1] - 0.6) / 1.0).clamp(0.0, 1.0);
            [1.0 - w, w, 0.0, 0.0]
        })
        .collect();
    let mut attributes = Map::new();
    attributes.insert("POSITION".into(), asset.floats(&positions).into());
    attributes.insert("NORMAL".into(), asset.floats(&vec![[0.0, 0.0, 1.0]; positions.len()]).into());
    attributes.insert("JOINTS_0".into(), asset.bytes(&joints, false).into());
    attributes.insert("WEIGHTS_0".into(), asset.floats(&weights).into());
    let indices = asset.indices(&indices);
    let mut material = color(0.7, 0.35, 0.2);
    material["doubleSided"] = json!(true);
    let mesh = mesh(asset, (attributes, indices), material);
    let upper = asset.node(json!({ "translation": [0, 1, 0] }));
    let lower = asset.node(json!({ "children": [upper] }));
    let move_up = |y: f32| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -y, 0.0, 1.0];
    let matrices = asset.floats(&[move_up(0.0), move_up(1.0)]);
    let skin = asset.add("skins", json!({ "joints": [lower, upper], "inverseBindMatrices": matrices }));
    asset.node(json!({ "mesh": mesh, "skin": skin }));
    let times = asset.floats(&[[0.0], [1.0]]);
    let turn = asset.floats(&[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.5, 0.866]]);
    animate(asset, upper, "rotation", times, turn, "LINEAR");
}

fn morph(asset: &mut Asset) {
    let shape = ball(asset);
    let material = asset.add("materials", color(0.2, 0.4, 0.7));
    let count =
        asset.json["accessors"][shape.0["POSITION"].as_u64().unwrap() as usize]["count"].as_u64().unwrap() as usize;
    // The ball becomes a spindle: rings go outwards in waves.
    let row = 49;
    let offsets: Vec<[f32; 3]> = (0..count)
        .map(|i| {
            let v = (i / row) as f32 / 24.0;
            let (su, cu) = (TAU * (i % row) as f32 / 48.0).sin_cos();
            let out = 0.35 * (v * TAU * 2.0).sin() * (PI * v).sin();
            [out * cu, 0.25 * (0.5 - v), out * su]
        })
        .collect();
    let target = asset.floats(&offsets);
    let (attributes, indices) = shape;
    for (k, weight) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        let mesh = asset.add(
            "meshes",
            json!({
                "primitives": [{ "attributes": attributes, "indices": indices, "material": material, "targets": [{ "POSITION": target }] }],
                "weights": [weight],
            }),
        );
        put(asset, mesh, 1.8 * k as f32 - 1.8);
    }
}

fn instancing(asset: &mut Asset) {
    let mesh = ball_mesh(asset, color(0.7, 0.5, 0.15));
    let places: Vec<[f32; 3]> =
        (0..40).map(|i| [(i % 8) as f32 * 0.6 - 2.1, 0.25 + 0.1 * (i / 8) as f32, -0.7 * (i / 8) as f32]).collect();
    let scales: Vec<[f32; 3]> = (0..40)
        .map(|i| {
            let s = 0.16 + 0.01 * (i % 8) as f32;
            [s, s * (1.0 + 0.2 * (i / 8) as f32), s]
        })
        .collect();
    let attributes = json!({ "TRANSLATION": asset.floats(&places), "SCALE": asset.floats(&scales) });
    asset.node(json!({ "mesh": mesh, "extensions": { "EXT_mesh_gpu_instancing": { "attributes": attributes } } }));
}

type Make = fn(&mut Asset);

/// Every feature, and the instant at which it is looked at.
const FEATURES: [(&str, Make, f64); 19] = [
    ("hierarchy", hierarchy, 0.0),
    ("metallic-roughness", metallic_roughness, 0.0),
    ("normal-maps", normal_maps, 0.0),
    ("occlusion", occlusion, 0.0),
    ("emission", emission, 0.0),
    ("alpha-mask", alpha_mask, 0.0),
    ("alpha-blend", alpha_blend, 0.0),
    ("double-sided", double_sided, 0.0),
    ("vertex-colors", vertex_colors, 0.0),
    ("two-uv-sets", two_uv_sets, 0.0),
    ("samplers", samplers, 0.0),
    ("texture-transform", texture_transform, 0.0),
    ("far-texture", far_texture, 0.0),
    ("unlit", unlit, 0.0),
    ("lights", lights, 0.0),
    ("animation", animation, 0.7),
    ("skin", skin, 0.8),
    ("morph-targets", morph, 0.0),
    ("instancing", instancing, 0.0),
];

/// Renders a feature's asset.
fn frame(device: &TestDevice, target: &GBuffer, make: Make, time: f64) -> Vec<u8> {
    let mut asset = Asset::new();
    stage(&mut asset);
    make(&mut asset);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asset.glb");
    asset.write(&path);
    let scene = Scene::around(gltf::load(&path, &|_| true).unwrap());
    let renderer = Renderer::for_scene(device, &scene).unwrap();
    let camera = Camera::looking_at(glam::Vec3::new(0.9, 2.1, 5.6), glam::Vec3::new(0.0, 0.95, 0.0), 0.78);
    let view = View {
        camera,
        previous_camera: camera,
        time,
        previous_time: time,
        jitter: [0.0; 2],
        frame: 0,
        samples: SAMPLES,
        effects: Effects::ALL,
    };
    for part in 0..renderer.parts(target, &view) {
        let mut recorded = Ok(());
        let record = |commands: &mut gpu::CommandBuffer| {
            recorded = renderer.record_part(commands, target, &scene, &view, part);
        };
        device.run_once("frame", record).unwrap();
        recorded.unwrap();
    }
    let picture = target.read().unwrap();
    codes(&picture).into_iter().map(|v| (v * 255.0 + 0.5) as u8).collect()
}

fn rgb8(bytes: Vec<u8>) -> Rgb8 {
    Rgb8::new(Extent::new(WIDTH, HEIGHT), bytes).unwrap()
}

fn save(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    image::RgbImage::from_raw(WIDTH, HEIGHT, bytes.to_vec()).unwrap().save(path).unwrap();
}

#[test]
fn every_feature_looks_as_it_did() {
    let device = TestDevice::open().unwrap();
    let target = GBuffer::new(&device, WIDTH, HEIGHT).unwrap();
    let accept = std::env::var_os("NRVIEW_ACCEPT").is_some();
    let failed = std::env::temp_dir().join("nrview-golden");
    let mut wrong = Vec::new();
    for (name, make, time) in FEATURES {
        let made = frame(&device, &target, make, time);
        let path = folder().join(format!("{name}.png"));
        if accept {
            save(&path, &made);
            continue;
        }
        let golden = image::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).into_rgb8().into_raw();
        let map = flip(&rgb8(golden), &rgb8(made.clone()), DEFAULT_PIXELS_PER_DEGREE);
        println!("{name}: FLIP {:.5}", map.mean());
        if map.mean() >= LIMIT {
            save(&failed.join(format!("{name}.new.png")), &made);
            save(&failed.join(format!("{name}.flip.png")), heat_map(&map).bytes());
            wrong.push(format!("{name}: FLIP {:.4}", map.mean()));
        }
    }
    assert!(!accept, "the golden frames were written; look at them, and run again without NRVIEW_ACCEPT");
    assert!(wrong.is_empty(), "not below {LIMIT}: {wrong:?}; see {}", failed.display());
}
