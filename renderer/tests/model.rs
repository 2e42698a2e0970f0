//! Triangle models from glTF files on the device, under the validation layer.

#[allow(dead_code, reason = "each test uses a part of it")]
mod asset;

use asset::Asset;
use gpu::testing::TestDevice;
use renderer::{Compared, Effects, GBuffer, Picture, Renderer, Scene, View, check_motion, gltf};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SIDE: u32 = 96;
/// Height of the world that the camera "front" sees at z = 0.
const HEIGHT: f32 = 4.0;

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const REPEAT: u32 = 10497;
const CLAMP: u32 = 33071;
const MIRROR: u32 = 33648;

/// A scene of the asset, seen from its camera "front".
fn front(asset: &Asset) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asset.glb");
    asset.write(&path);
    Scene::around(gltf::load(&path, &|_| true).unwrap()).seen_from("front").unwrap()
}

fn view(scene: &Scene, time: f64, previous_time: f64) -> View {
    let camera = scene.path.at(0.0);
    View {
        camera,
        previous_camera: camera,
        time,
        previous_time,
        jitter: [0.0; 2],
        frame: 0,
        samples: 1,
        effects: Effects::NONE,
    }
}

/// Dropped from top to bottom: the device comes last.
struct Stage {
    renderer: Renderer,
    target: GBuffer,
    device: TestDevice,
}

impl Stage {
    fn new(scene: &Scene) -> Self {
        let device = TestDevice::open().unwrap();
        let renderer = Renderer::for_scene(&device, scene).unwrap();
        Self { renderer, target: GBuffer::new(&device, SIDE, SIDE).unwrap(), device }
    }

    fn render(&self, scene: &Scene, view: &View) -> Picture {
        let mut recorded = Ok(());
        let record = |commands: &mut gpu::CommandBuffer| {
            recorded = self.renderer.record(commands, &self.target, scene, view);
        };
        self.device.run_once("frame", record).unwrap();
        recorded.unwrap();
        self.target.read().unwrap()
    }
}

/// Colour at a place of the world in the plane z = 0.
fn at(picture: &Picture, x: f32, y: f32) -> [f32; 3] {
    let cell = |v: f32| ((v * SIDE as f32) as usize).min(SIDE as usize - 1);
    picture.rgb(cell(0.5 - y / HEIGHT) * SIDE as usize + cell(0.5 + x / HEIGHT))
}

/// A wall of 4 x 4 squares of side 1, and what each must look like.
struct Wall {
    asset: Asset,
    checks: Vec<(String, [f32; 2], [f32; 3], f32)>,
    count: usize,
}

impl Wall {
    fn centre(index: usize) -> [f32; 2] {
        [(index % 4) as f32 - 1.5, 1.5 - (index / 4) as f32]
    }

    /// Hangs up the next square; `colours` are those at places of it, (0, 0) its top left corner.
    fn hang(&mut self, name: &str, mesh: usize, node: Value, colours: &[([f32; 2], [f32; 3])], tolerance: f32) {
        let [x, y] = Self::centre(self.count);
        let mut node = node;
        node["mesh"] = mesh.into();
        node["translation"] = json!([x, y, 0.0]);
        node["scale"] = json!([0.48, 0.48, 0.48]);
        self.asset.node(node);
        for (place, colour) in colours {
            let place = [x - 0.48 + 0.96 * place[0], y + 0.48 - 0.96 * place[1]];
            self.checks.push((name.to_owned(), place, *colour, tolerance));
        }
        self.count += 1;
    }

    fn unlit(&mut self, name: &str, pbr: Value, more: Value, colours: &[([f32; 2], [f32; 3])]) {
        let mut material = more;
        material["pbrMetallicRoughness"] = pbr;
        material["extensions"] = json!({ "KHR_materials_unlit": {} });
        let mesh = self.asset.square_mesh(material);
        self.hang(name, mesh, json!({}), colours, 0.01);
    }
}

fn moved(texture: usize, transform: Value) -> Value {
    json!({ "baseColorTexture": { "index": texture, "extensions": { "KHR_texture_transform": transform } } })
}

const MAGENTA: [f32; 3] = [1.0, 0.0, 1.0];
const R: [f32; 3] = [1.0, 0.0, 0.0];
const G: [f32; 3] = [0.0, 1.0, 0.0];
const B: [f32; 3] = [0.0, 0.0, 1.0];

fn wall() -> Wall {
    let mut wall = Wall { asset: Asset::new(), checks: Vec::new(), count: 0 };
    let middle = [0.5, 0.5];
    // A magenta plane behind everything.
    let back = wall.asset.square_mesh(json!({
        "pbrMetallicRoughness": { "baseColorFactor": [1, 0, 1, 1] },
        "extensions": { "KHR_materials_unlit": {} },
    }));
    wall.asset.node(json!({ "mesh": back, "translation": [0, 0, -0.01], "scale": [2.5, 2.5, 1] }));
    wall.asset.camera("front", 20.0, HEIGHT);

    let four = wall.asset.texture(2, 2, &[RED, GREEN, BLUE, [188, 188, 188, 255]], REPEAT);
    let half = json!({ "baseColorTexture": { "index": four }, "baseColorFactor": [0.5, 0.5, 1.0, 1.0] });
    let corners = [
        ([0.2, 0.2], [0.5, 0.0, 0.0]),
        ([0.8, 0.2], [0.0, 0.5, 0.0]),
        ([0.2, 0.8], B),
        ([0.8, 0.8], [0.251, 0.251, 0.503]),
    ];
    wall.unlit("texture, factor, sRGB", half, json!({}), &corners);

    let row =
        |y: [[f32; 3]; 4]| [0.1, 0.35, 0.65, 0.9].into_iter().zip(y).map(|(x, c)| ([x, 0.5], c)).collect::<Vec<_>>();
    let wraps = [(REPEAT, [R, G, R, G]), (MIRROR, [R, G, G, R]), (CLAMP, [R, G, G, G])];
    for (wrap, wanted) in wraps {
        let pair = wall.asset.texture(2, 1, &[RED, GREEN], wrap);
        wall.unlit(&format!("wrap {wrap}"), moved(pair, json!({ "scale": [2, 1] })), json!({}), &row(wanted));
    }
    // A quarter turn of the coordinates against the clock: the picture turns with it.
    let turned = moved(four, json!({ "rotation": std::f32::consts::FRAC_PI_2, "offset": [0, 1] }));
    let grey = [0.503; 3];
    let wanted = [([0.2, 0.2], B), ([0.8, 0.2], R), ([0.2, 0.8], grey), ([0.8, 0.8], G)];
    wall.unlit("rotation", turned, json!({}), &wanted);

    // The second set of coordinates points at the blue texel; the colour of the vertices counts.
    let (mut attributes, indices) = wall.asset.square();
    let second = wall.asset.floats(&[[0.25, 0.75]; 4]);
    let colours = wall.asset.bytes(&[[255, 255, 128, 255]; 4], true);
    attributes.insert("TEXCOORD_1".into(), second.into());
    attributes.insert("COLOR_0".into(), colours.into());
    let material = wall.asset.add(
        "materials",
        json!({
            "pbrMetallicRoughness": { "baseColorTexture": { "index": four, "texCoord": 1 } },
            "extensions": { "KHR_materials_unlit": {} },
        }),
    );
    let primitive = json!({ "attributes": attributes, "indices": indices, "material": material });
    let mesh = wall.asset.add("meshes", json!({ "primitives": [primitive] }));
    wall.hang("second coordinates, vertex colours", mesh, json!({}), &[(middle, [0.0, 0.0, 0.502])], 0.01);

    let holes = wall.asset.texture(2, 1, &[[0, 0, 255, 90], [0, 0, 255, 200]], CLAMP);
    let holes = json!({ "baseColorTexture": { "index": holes } });
    let mask = json!({ "alphaMode": "MASK", "alphaCutoff": 0.5 });
    wall.unlit("mask", holes, mask, &[([0.25, 0.5], MAGENTA), ([0.75, 0.5], B)]);
    let glass = json!({ "baseColorFactor": [0, 1, 0, 0.25] });
    wall.unlit("blend", glass, json!({ "alphaMode": "BLEND" }), &[]);

    let away = json!({ "rotation": [0, 1, 0, 0] });
    for (double, wanted) in [(false, MAGENTA), (true, G)] {
        let mesh = wall.asset.square_mesh(json!({
            "pbrMetallicRoughness": { "baseColorFactor": [0, 1, 0, 1] },
            "extensions": { "KHR_materials_unlit": {} },
            "doubleSided": double,
        }));
        wall.hang("seen from the back", mesh, away.clone(), &[(middle, wanted)], 0.01);
    }

    // White light from the front, green from the right, blue from above; each makes 1 of a white
    // surface that faces it. The dim sky adds a little.
    wall.asset.json.insert(
        "extensions".into(),
        json!({ "KHR_lights_punctual": { "lights": [
        { "type": "directional", "intensity": std::f32::consts::PI },
        { "type": "directional", "intensity": std::f32::consts::PI, "color": [0, 1, 0] },
        { "type": "directional", "intensity": std::f32::consts::PI, "color": [0, 0, 1] },
    ] } }),
    );
    let h = std::f32::consts::FRAC_1_SQRT_2;
    for (light, turn) in [[0.0, 0.0, 0.0, 1.0], [0.0, h, 0.0, h], [-h, 0.0, 0.0, h]].into_iter().enumerate() {
        wall.asset.node(json!({ "rotation": turn, "extensions": { "KHR_lights_punctual": { "light": light } } }));
    }
    let matte = json!({ "metallicFactor": 0, "roughnessFactor": 1 });
    let lit = |wall: &mut Wall, name: &str, material: Value, wanted: [f32; 3]| {
        let mesh = wall.asset.square_mesh(material);
        wall.hang(name, mesh, json!({}), &[(middle, wanted)], 0.03);
    };
    lit(&mut wall, "lit", json!({ "pbrMetallicRoughness": matte }), [1.04, 1.04, 1.06]);
    for (normal, wanted) in [([204, 128, 230, 255], [0.84, 1.47, 0.86]), ([128, 204, 230, 255], [0.84, 0.85, 1.49])] {
        let normal = wall.asset.texture(1, 1, &[normal], REPEAT);
        let material = json!({ "pbrMetallicRoughness": matte, "normalTexture": { "index": normal } });
        lit(&mut wall, "normal map", material, wanted);
    }
    let orm = wall.asset.texture(1, 1, &[[0, 255, 255, 255]], REPEAT);
    let occluded = json!({ "pbrMetallicRoughness": matte, "occlusionTexture": { "index": orm } });
    lit(&mut wall, "occlusion", occluded, [1.01, 1.01, 1.01]);
    let metal = json!({ "pbrMetallicRoughness": {
        "baseColorFactor": [1, 0, 0, 1], "metallicRoughnessTexture": { "index": orm },
    } });
    // It mirrors the dim sky as well.
    lit(&mut wall, "metal", metal, [0.28, 0.0, 0.0]);
    let glow = json!({
        "pbrMetallicRoughness": { "baseColorFactor": [0, 0, 0, 1], "metallicFactor": 1 },
        "emissiveFactor": [0.5, 0.25, 0],
        "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 4 } },
    });
    lit(&mut wall, "emission", glow, [2.0, 1.0, 0.0]);
    wall
}

#[test]
fn materials_look_as_they_should() {
    let wall = wall();
    assert_eq!(wall.count, 16);
    let scene = front(&wall.asset);
    let stage = Stage::new(&scene);
    let picture = stage.render(&scene, &view(&scene, 0.0, 0.0));
    let wrong: Vec<String> = wall
        .checks
        .iter()
        .filter_map(|(name, [x, y], wanted, tolerance)| {
            let found = at(&picture, *x, *y);
            let good = found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= *tolerance);
            (!good).then(|| format!("{name}: {found:.3?} at {x:.2}, {y:.2}, not {wanted:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");

    // A quarter of the samples meets the surface with alpha 0.25.
    let [x, y] = Wall::centre(7);
    let places = (0..400).map(|i| [x - 0.4 + 0.04 * (i % 20) as f32, y - 0.4 + 0.04 * (i / 20) as f32]);
    let met = places.filter(|[x, y]| at(&picture, *x, *y) == G).count();
    assert!((60..140).contains(&met), "{met} of 400 samples");
    assert!(picture.depth.iter().all(|d| (d - 20.0).abs() < 0.02));
    assert!(picture.motion.iter().flatten().all(|m| m.to_f32() == 0.0), "nothing moves");

    // Analytic objects and the model in one scene: the nearest counts, and each has its ids.
    let plaza = Scene { model: scene.model.clone(), ..Scene::builtin() };
    let both = stage.render(&plaza, &View::scripted(&plaza, 40, 30.0));
    let objects = plaza.instances.len() as u32;
    let count = |of: std::ops::RangeInclusive<u32>| both.id.iter().filter(|id| of.contains(id)).count();
    assert!(count(1..=objects) > 1000 && count(objects + 1..=objects + 20) > 1000);
    let other = Scene::builtin();
    let mut recorded = Ok(());
    let record = |commands: &mut gpu::CommandBuffer| {
        recorded = stage.renderer.record(commands, &stage.target, &other, &View::scripted(&other, 0, 30.0));
    };
    stage.device.run_once("frame", record).unwrap();
    assert!(recorded.unwrap_err().to_string().contains("another model"));
}

#[test]
fn lights_with_a_size_throw_soft_shadows() {
    let mut asset = Asset::new();
    asset.camera("front", 20.0, HEIGHT);
    let matte = json!({ "pbrMetallicRoughness": { "metallicFactor": 0, "roughnessFactor": 1 }, "doubleSided": true });
    let mesh = asset.square_mesh(matte);
    asset.node(json!({ "mesh": mesh, "scale": [2, 2, 1] }));
    // Half of the way to the light and behind the camera; its edge is at x = 0.
    asset.node(json!({ "mesh": mesh, "translation": [10, 0, 2], "scale": [10, 10, 1] }));
    asset.json.insert(
        "extensions".into(),
        json!({ "KHR_lights_punctual": { "lights": [{ "type": "point", "intensity": 60 }] } }),
    );
    asset.node(json!({ "translation": [0, 0, 4], "extensions": { "KHR_lights_punctual": { "light": 0 } } }));
    let mut scene = front(&asset);
    scene.environment.as_mut().unwrap().intensity = 0.0;
    let camera = renderer::Camera::looking_at(glam::Vec3::new(0.0, 0.0, 1.0), glam::Vec3::ZERO, 1.2);
    let shadows = Effects { shadows: true, ..Effects::NONE };
    let seen = View { camera, previous_camera: camera, samples: 16, effects: shadows, ..view(&scene, 0.0, 0.0) };
    let stage = Stage::new(&scene);
    let mut between = [0; 2];
    for (found, radius) in between.iter_mut().zip([0.0, 0.4]) {
        scene.light_radius = radius;
        let picture = stage.render(&scene, &seen);
        let row: Vec<f32> = (0..SIDE).map(|x| picture.rgb((SIDE / 2 * SIDE + x) as usize)[1]).collect();
        let full = row[4];
        assert!(full > 0.5 && row[SIDE as usize - 4] < 0.01, "lit at the left, dark at the right: {row:?}");
        *found = row.iter().filter(|v| **v > 0.1 * full && **v < 0.85 * full).count();
    }
    assert!(between[0] <= 3 && between[1] > 12, "pixels of half shadow: {between:?}");
}

/// A picture of one-texel squares, and how a sampler makes it smaller.
fn checker(asset: &mut Asset, side: u32, colours: [[u8; 4]; 2], min_filter: u32) -> Value {
    let texels: Vec<[u8; 4]> = (0..side * side).map(|i| colours[((i % side + i / side) % 2) as usize]).collect();
    let texture = asset.texture(side, side, &texels, REPEAT);
    let sampler = asset.json["samplers"].as_array().unwrap().len() - 1;
    asset.json["samplers"][sampler]["minFilter"] = json!(min_filter);
    json!({ "baseColorTexture": { "index": texture } })
}

#[test]
fn mipmaps_are_made_and_used_as_samplers_say() {
    const NEAREST: u32 = 9728;
    const TRILINEAR: u32 = 9987;
    const MIPMAP_NEAREST: u32 = 9984;
    let mut wall = Wall { asset: Asset::new(), checks: Vec::new(), count: 0 };
    wall.asset.camera("front", 20.0, HEIGHT);
    let (black, white) = ([0, 0, 0, 255], [255; 4]);
    for filter in [NEAREST, TRILINEAR, MIPMAP_NEAREST] {
        let pbr = checker(&mut wall.asset, 256, [black, white], filter);
        wall.unlit("checker", pbr, json!({}), &[]);
    }
    // Three of four texels have alpha: far away, three of four samples meet the surface.
    let leaf: Vec<[u8; 4]> =
        (0..256 * 256).map(|i| [0, 255, 0, if i % 2 == 1 || (i / 256) % 2 == 1 { 255 } else { 0 }]).collect();
    let leaf = wall.asset.texture(256, 256, &leaf, REPEAT);
    let leaf = json!({ "baseColorTexture": { "index": leaf } });
    wall.unlit("leaf", leaf, json!({ "alphaMode": "MASK", "alphaCutoff": 0.5 }), &[]);
    // Near enough that a texel covers several pixels.
    let near = checker(&mut wall.asset, 4, [black, white], TRILINEAR);
    wall.unlit("near", near, json!({}), &[]);
    let scene = front(&wall.asset);
    let stage = Stage::new(&scene);
    let picture = stage.render(&scene, &view(&scene, 0.0, 0.0));
    let inside = |number: usize| {
        let [x, y] = Wall::centre(number);
        let places = (0..144).map(move |i| [x - 0.35 + 0.06 * (i % 12) as f32, y - 0.35 + 0.06 * (i / 12) as f32]);
        places.map(|[x, y]| at(&picture, x, y)).collect::<Vec<_>>()
    };
    let hard = |c: &[f32; 3]| c[0] < 0.01 || c[0] > 0.99;
    assert!(inside(0).iter().all(hard), "no mipmaps: {:?}", inside(0));
    // The mean of black and white light is 0.5, which is not the mean of their codes.
    for number in [1, 2] {
        assert!(inside(number).iter().all(|c| (c[0] - 0.5).abs() < 0.02), "mipmaps: {:?}", inside(number));
    }
    let met = inside(3).iter().filter(|c| **c == G).count();
    assert!((86..130).contains(&met), "{met} of 144 samples meet three quarters of a leaf");
    assert!(inside(4).iter().all(hard), "a near picture is as sharp as before: {:?}", inside(4));
    // Many samples see the picture itself, and so the same mean.
    let many = stage.render(&scene, &View { samples: 16, ..view(&scene, 0.0, 0.0) });
    let [x, y] = Wall::centre(0);
    assert!((at(&many, x, y)[0] - 0.5).abs() < 0.2);
}

/// Four objects of half a metre that each move by 0.25 m from second 0.25 to second 0.5, in
/// different ways, and how: right and up.
fn movers() -> (Asset, Vec<[f32; 2]>) {
    let mut asset = Asset::new();
    asset.camera("front", 20.0, HEIGHT);
    let smooth: Vec<[u8; 4]> = (0..64).map(|i| [(i % 8 * 32) as u8, (i / 8 * 32) as u8, (i * 4) as u8, 255]).collect();
    let texture = asset.texture(8, 8, &smooth, CLAMP);
    asset.json["samplers"][0]["magFilter"] = json!(9729);
    let material = json!({
        "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } },
        "extensions": { "KHR_materials_unlit": {} },
    });
    let plain = asset.square_mesh(material.clone());
    let size = json!([0.5, 0.5, 0.5]);
    let animation = |asset: &mut Asset, node: usize, path: &str, times: usize, values: usize, how: &str| {
        let sampler = json!({ "input": times, "output": values, "interpolation": how });
        let channel = json!({ "sampler": 0, "target": { "node": node, "path": path } });
        asset.add("animations", json!({ "samplers": [sampler], "channels": [channel] }));
    };
    let second = asset.floats(&[[0.0], [1.0]]);

    // A node.
    let node = asset.node(json!({ "mesh": plain, "scale": size, "translation": [-1, 1, 0] }));
    let values = asset.floats(&[[-1.5, 1.0, 0.0], [-0.5, 1.0, 0.0]]);
    animation(&mut asset, node, "translation", second, values, "LINEAR");

    // A morph target.
    let (attributes, indices) = asset.square();
    let up = asset.floats(&[[0.0, 2.0, 0.0]; 4]);
    let primitive = json!({
        "attributes": attributes, "indices": indices, "material": 0, "targets": [{ "POSITION": up }],
    });
    let morphed = asset.add("meshes", json!({ "primitives": [primitive], "weights": [0.0] }));
    let node = asset.node(json!({ "mesh": morphed, "scale": size, "translation": [1, 0.5, 0] }));
    let values = asset.floats(&[[0.0], [1.0]]);
    animation(&mut asset, node, "weights", second, values, "LINEAR");

    // A skin, along a spline that is straight.
    let (mut attributes, indices) = asset.square();
    let (joints, weights) = (asset.bytes(&[[1, 0, 0, 0]; 4], false), asset.floats(&[[1.0, 0.0, 0.0, 0.0]; 4]));
    attributes.insert("JOINTS_0".into(), joints.into());
    attributes.insert("WEIGHTS_0".into(), weights.into());
    let primitive = json!({ "attributes": attributes, "indices": indices, "material": 0 });
    let skinned = asset.add("meshes", json!({ "primitives": [primitive] }));
    let moving = asset.node(json!({}));
    let root = asset.node(json!({ "children": [moving], "translation": [-1, -1, 0], "scale": size }));
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let matrices = asset.floats(&[identity, identity]);
    let skin = asset.add("skins", json!({ "joints": [root, moving], "inverseBindMatrices": matrices }));
    asset.node(json!({ "mesh": skinned, "skin": skin, "translation": [9, 9, 9] }));
    let slope = [-2.0, 0.0, 0.0];
    let values = asset.floats(&[slope, [1.0, 0.0, 0.0], slope, slope, [-1.0, 0.0, 0.0], slope]);
    animation(&mut asset, moving, "translation", second, values, "CUBICSPLINE");

    // Many instances of one node, which moves.
    let (places, sizes) = (asset.floats(&[[0.0, 0.5, 0.0], [0.0, -0.5, 0.0]]), asset.floats(&[[0.3, 0.3, 0.3]; 2]));
    let node = asset.node(json!({
        "mesh": plain, "translation": [1, -1, 0],
        "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": places, "SCALE": sizes } } },
    }));
    let values = asset.floats(&[[1.0, -1.0, 0.0], [1.0, 0.0, 0.0]]);
    animation(&mut asset, node, "translation", second, values, "LINEAR");
    let needed = ["EXT_mesh_gpu_instancing", "KHR_materials_unlit"];
    asset.json.insert("extensionsRequired".into(), json!(needed));
    asset.json.insert("extensionsUsed".into(), json!(needed));
    let (right, left, up) = ([0.25, 0.0], [-0.25, 0.0], [0.0, 0.25]);
    (asset, vec![right, up, left, up, up])
}

#[test]
fn motion_is_exact_for_every_kind_of_animation() {
    let (asset, ways) = movers();
    let scene = front(&asset);
    let stage = Stage::new(&scene);
    let current = stage.render(&scene, &view(&scene, 0.5, 0.25));
    let ids: BTreeSet<u32> = current.id.iter().copied().collect();
    assert_eq!(ids, (0..=5).collect(), "the sky and five instances are in view");
    for (pixel, &id) in current.id.iter().enumerate().filter(|(_, id)| **id > 0) {
        let [right, up] = ways[id as usize - 1];
        let [x, y] = current.motion[pixel].map(|m| m.to_f32());
        // To the previous place, y down.
        let (wanted_x, wanted_y) = (-right / HEIGHT, up / HEIGHT);
        assert!((x - wanted_x).abs() < 2e-4 && (y - wanted_y).abs() < 2e-4, "object {id} moves by {x}, {y}");
    }
    let mean = |id: u32| {
        let all: Vec<usize> = (0..current.id.len()).filter(|&i| current.id[i] == id).collect();
        let sum = |of: &dyn Fn(usize) -> usize| all.iter().map(|&i| of(i) as f32 + 0.5).sum::<f32>() / all.len() as f32;
        let (x, y) = (sum(&|i| i % SIDE as usize), sum(&|i| i / SIDE as usize));
        [(x / SIDE as f32 - 0.5) * HEIGHT, (0.5 - y / SIDE as f32) * HEIGHT]
    };
    for (id, wanted) in [(1, [-1.0, 1.0]), (2, [1.0, 1.0]), (3, [-1.0, -1.0]), (4, [1.0, 0.0]), (5, [1.0, -1.0])] {
        let found = mean(id);
        let off = (found[0] - wanted[0]).hypot(found[1] - wanted[1]);
        // Objects that lie over each other hide a part.
        assert!(off < 0.3, "object {id} is at {found:?}, not {wanted:?}");
    }
    let previous = stage.render(&scene, &view(&scene, 0.25, 0.25));
    let check = check_motion(&current, &previous, Compared::Moving).unwrap();
    println!("{check:?}");
    assert!(check.passes(1.0 / 3.0), "{check:?}");
}
