//! With the network off, the window records none of it and shows the picture of a run that never had one, byte for byte.

use std::fs;
use std::path::Path;

use image::RgbImage;
use nrview_tests::display::wait_until;
use nrview_tests::screen::{Rect, contrast};
use nrview_tests::window::{SLOW, SOON, Viewer};
use serde_json::{Value, json};

/// Neither jitter nor new noise: pictures of a scene in which nothing moves are the same at any time.
const SETTINGS: &str = r#"{"hinted": true, "jitter": false, "look": {"frozen_seed": true}}"#;

/// Writes a scene in which nothing moves, a square before a larger one under a lamp, seen by a camera that stands.
fn still_scene(folder: &Path) {
    let square = |side: f32, z: f32| [[-side, -side, z], [side, -side, z], [side, side, z], [-side, side, z]];
    let corners = [square(3.0, -1.0), square(0.6, 0.5)];
    let mut bytes: Vec<u8> = corners.iter().flatten().flatten().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend([0_u16, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7].iter().flat_map(|v| v.to_le_bytes()));
    let model = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": [-3, -3, -1], "max": [3, 3, 0.5] },
            { "bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR" },
        ],
        "bufferViews": [{ "buffer": 0, "byteLength": 96 }, { "buffer": 0, "byteOffset": 96, "byteLength": 24 }],
        "buffers": [{ "uri": "squares.bin", "byteLength": bytes.len() }],
    });
    let scene = json!({
        "format": "nrview-scene", "version": 1, "title": "Still", "model": "squares.gltf", "camera": "front",
        "cameras": { "front": { "keys": [{ "position": [0.5, 0.4, 4], "target": [0, 0, 0] }] } },
        "sun": { "azimuth": 150, "elevation": 40, "diameter": 4, "color": [1, 1, 1], "intensity": 1.5 },
        "lamps": [{ "position": [0, 2, 1], "radius": 0.3, "color": [1, 0.8, 0.6], "intensity": 5 }],
    });
    fs::write(folder.join("squares.bin"), &bytes).expect("writable");
    fs::write(folder.join("squares.gltf"), model.to_string()).expect("writable");
    fs::write(folder.join("scene.json"), scene.to_string()).expect("writable");
}

fn start(scene: &Path, screenshots: &Path, network: &str) -> Viewer {
    let scene = format!("--scene={}", scene.display());
    let screenshots = format!("--screenshots={}", screenshots.display());
    let arguments = [&scene, "--size=96x64", "--split=on", network, &screenshots];
    let viewer = Viewer::start_with((1400, 900), SETTINGS, &arguments);
    viewer.wait_for(SLOW, "the scene", |state| {
        state["status"]["scene_loading"].is_null() && state["status"]["presented"].as_u64() > Some(10)
    });
    viewer.settle();
    viewer
}

fn pictures(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort_by_key(|path| path.metadata().and_then(|file| file.modified()).ok());
    files
}

/// The picture that F2 writes: of the window without the overlay.
fn shot(viewer: &Viewer, folder: &Path) -> RgbImage {
    let before = pictures(folder).len();
    viewer.display.key("F2");
    let mut picture = None;
    wait_until(SOON, "the screenshot", || {
        let files = pictures(folder);
        // The name is taken before the picture is written.
        picture = files.last().filter(|_| files.len() > before).and_then(|file| image::open(file).ok());
        picture.is_some()
    });
    picture.map(|picture| picture.to_rgb8()).unwrap_or_default()
}

fn submissions(state: &Value) -> u64 {
    state["status"]["network_submissions"].as_u64().expect("a number of submissions")
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn off_is_a_run_without_a_network() {
    let [scene, folder] = [0, 1].map(|_| tempfile::tempdir().expect("a temporary directory"));
    still_scene(scene.path());
    let viewer = start(scene.path(), folder.path(), "--no-network");
    let absent = shot(&viewer, folder.path());
    assert!(contrast(&absent, Rect::new(400, 200, 600, 400)) > 3.0, "the scene is on it");
    viewer.settle();
    assert!(absent == shot(&viewer, folder.path()), "the picture is the same at any time");
    assert_eq!(submissions(&viewer.state()), 0);
    viewer.display.key("Escape");
    viewer.ends_well();

    let viewer = start(scene.path(), folder.path(), "--model=starter");
    viewer.wait_for_frames(1);
    assert!(shot(&viewer, folder.path()) != absent, "the network changes the picture");
    for turn in 0..2 {
        viewer.display.key("n");
        viewer.wait_for(SOON, "the network is off", |state| state["network"] == false);
        viewer.settle();
        assert!(shot(&viewer, folder.path()) == absent, "switched off, it is the picture of a run without one");
        let (state, begun) = (viewer.state(), |state: &Value| state["status"]["presented"].as_u64().unwrap_or(0));
        viewer.wait_for(SOON, "twenty more frames", |now| begun(now) >= begun(&state) + 20);
        assert!(submissions(&state) > 0, "the network ran before");
        assert_eq!(submissions(&viewer.state()), submissions(&state), "no step of it is submitted any more");
        // Switched on again, the next frame that goes through it shows it.
        let before = viewer.evaluated();
        viewer.display.key("n");
        viewer.wait_for(SLOW, "the next frame", |state| {
            state["status"]["evaluated"].as_u64() > Some(before) && state["status"]["preview"] == false
        });
        assert!(shot(&viewer, folder.path()) != absent, "turn {turn}: its effect is there again");
    }
    viewer.display.key("Escape");
    viewer.ends_well();
}
