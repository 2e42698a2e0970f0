//! Triangle models from glTF files on the device, under the validation layer.

mod asset;

use asset::Asset;
use gpu::testing::TestDevice;
use renderer::{Compared, Effects, GBuffer, Picture, Renderer, Scene, View, check_motion, gltf};
use serde_json::{Value, json};

const SIDE: u32 = 64;

fn load(asset: &Asset) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asset.glb");
    asset.write(&path);
    Scene::around(gltf::load(&path, &|_| true).unwrap())
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

fn render_on(device: &TestDevice, scene: &Scene, views: &[View]) -> Vec<Picture> {
    let renderer = Renderer::for_scene(device, scene).unwrap();
    let target = GBuffer::new(device, SIDE, SIDE).unwrap();
    let mut pictures = Vec::new();
    for view in views {
        let mut recorded = Ok(());
        device.run_once("frame", |commands| recorded = renderer.record(commands, &target, scene, view)).unwrap();
        recorded.unwrap();
        pictures.push(target.read().unwrap());
    }
    pictures
}

fn render(scene: &Scene, views: &[View]) -> Vec<Picture> {
    render_on(&TestDevice::open().unwrap(), scene, views)
}

/// A scene of the asset, seen from its camera "front".
fn front(asset: &Asset) -> Scene {
    load(asset).seen_from("front").unwrap()
}

fn picture(asset: &Asset) -> Picture {
    let scene = front(asset);
    render(&scene, &[view(&scene, 0.0, 0.0)]).remove(0)
}

/// Colour at a place, 0..1 from the top left.
fn at(picture: &Picture, x: f32, y: f32) -> [f32; 3] {
    let cell = |v: f32| ((v * SIDE as f32) as usize).min(SIDE as usize - 1);
    picture.rgb(cell(y) * SIDE as usize + cell(x))
}

#[track_caller]
fn assert_color(picture: &Picture, place: [f32; 2], wanted: [f32; 3]) {
    let found = at(picture, place[0], place[1]);
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.01), "{found:?} at {place:?}, not {wanted:?}");
}

/// A square of side 2 that fills the picture of its camera "front".
fn filling(material: impl FnOnce(&mut Asset) -> Value) -> Asset {
    let mut asset = Asset::new();
    let material = material(&mut asset);
    let mesh = asset.square_mesh(material);
    asset.node(json!({ "mesh": mesh }));
    asset.camera("front", 5.0, 2.0);
    asset
}

fn unlit(base: Value) -> Value {
    json!({ "pbrMetallicRoughness": base, "extensions": { "KHR_materials_unlit": {} } })
}

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const GREY: [u8; 4] = [188, 188, 188, 255];

#[test]
fn a_textured_square_is_the_right_way_up() {
    let quad = filling(|asset| {
        let texture = asset.texture(2, 2, &[RED, GREEN, BLUE, GREY], 10497);
        unlit(json!({ "baseColorTexture": { "index": texture }, "baseColorFactor": [0.5, 0.5, 1.0, 1.0] }))
    });
    let picture = picture(&quad);
    assert_color(&picture, [0.25, 0.25], [0.5, 0.0, 0.0]);
    assert_color(&picture, [0.75, 0.25], [0.0, 0.5, 0.0]);
    assert_color(&picture, [0.25, 0.75], [0.0, 0.0, 1.0]);
    assert_color(&picture, [0.75, 0.75], [0.251, 0.251, 0.503]);
    assert!(picture.id.iter().all(|&id| id == 1));
    assert!(picture.depth.iter().all(|d| (d - 5.0).abs() < 1e-3));
}
