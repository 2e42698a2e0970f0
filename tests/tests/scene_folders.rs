//! Scene folders, the scenes that come with the program, their motion, camera paths with cuts, and datasets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nrview_tests::program::{Finished, command, nrview, wait, workspace};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const LIMIT: Duration = Duration::from_secs(600);

fn run(arguments: &[&str]) -> Finished {
    nrview(&[&["--json"], arguments].concat(), LIMIT)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// Names of the scenes that have a folder.
fn shipped() -> Vec<String> {
    let listed = run(&["scenes"]).expect_code(0).json();
    let scenes = listed["scenes"].as_array().expect("a list");
    let with_folder = scenes.iter().filter(|scene| !scene["folder"].is_null());
    with_folder.map(|scene| scene["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn at_least_four_scenes_come_with_the_program() {
    let listed = run(&["scenes"]).expect_code(0).json();
    for scene in listed["scenes"].as_array().expect("a list") {
        assert!(scene["broken"].is_null(), "{scene}");
        assert!(scene["description"].as_str().is_some_and(|text| text.len() > 20), "{scene}");
    }
    let names = shipped();
    assert!(names.len() >= 4, "{names:?}");
    let mut bytes = 0;
    for name in &names {
        let folder = workspace().join("assets/scenes").join(name);
        assert!(folder.join("LICENSE").is_file(), "{name} has a licence beside it");
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            bytes += entry.metadata().expect("a file").len();
        }
    }
    assert!(bytes < 25_000_000, "{bytes} bytes");
}

#[test]
fn the_motion_of_the_built_in_scene_is_right() {
    motion_is_right(["builtin".to_owned()]);
}

#[test]
#[ignore = "long: ./scripts/test.sh long"]
fn the_motion_of_every_shipped_scene_is_right() {
    motion_is_right(shipped());
}

/// Reprojection explains each scene's change under its moving camera, and what moves under a still one.
fn motion_is_right(names: impl IntoIterator<Item = String>) {
    let mut wrong = Vec::new();
    for name in names {
        for still in [false, true] {
            let mut arguments = vec!["render", "--scene", &name, "--check-motion", "--frames=1", "--size=480x270"];
            if still {
                arguments.push("--still-camera");
            }
            let run = run(&arguments);
            let (code, found) = (run.code, run.json());
            println!("{name}, still {still}: {:.3} of {}", found["share"], found["all"]);
            if code != Some(0) || found["holds"] != true {
                wrong.push(format!("{name}, still camera {still}: {found}"));
            }
            assert!(found["all"]["pixels"].as_u64().is_some_and(|pixels| pixels > 100), "{name}: {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A folder with a small scene of its own, which `change` may spoil.
fn folder(change: &dyn Fn(&mut Value)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let corners: [[f32; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let mut bytes: Vec<u8> = corners.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend([0_u16, 1, 2, 0, 2, 3].iter().flat_map(|v| v.to_le_bytes()));
    fs::write(folder.path().join("square.bin"), &bytes).expect("writable");
    let model = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [-1, -1, 0], "max": [1, 1, 0] },
            { "bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR" },
        ],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }, { "buffer": 0, "byteOffset": 48, "byteLength": 12 }],
        "buffers": [{ "uri": "square.bin", "byteLength": bytes.len() }],
    });
    fs::write(folder.path().join("square.gltf"), model.to_string()).expect("writable");
    let mut scene = json!({
        "format": "nrview-scene", "version": 1, "title": "Square", "model": "square.gltf", "camera": "front",
        "cameras": { "front": { "keys": [
            { "position": [0, 0, 4], "target": [0, 0, 0] },
            { "time": 1, "position": [1, 0, 4], "target": [0, 0, 0] },
            { "time": 2, "position": [-2, 1, 4], "target": [0, 0, 0], "cut": true },
        ] } },
        "sun": { "azimuth": 150, "elevation": 40, "diameter": 1, "color": [1, 1, 1], "intensity": 1.5 },
        "lamps": [{ "position": [0, 2, 1], "radius": 0.1, "color": [1, 0.8, 0.6], "intensity": 5 }],
    });
    change(&mut scene);
    fs::write(folder.path().join("scene.json"), scene.to_string()).expect("writable");
    folder
}

#[test]
fn wrong_folders_are_refused() {
    let refused = |words: &[&str], change: &dyn Fn(&mut Value)| {
        let folder = folder(change);
        let out = folder.path().join("out");
        let arguments = ["render", "--scene", text(folder.path()), "--out", text(&out)];
        nrview(&arguments, LIMIT).expect_refusal(words);
        assert!(!out.exists(), "nothing is written");
    };
    refused(&["scene.json", "colour"], &|scene| scene["colour"] = json!(1));
    refused(&["scene.json", "brightness"], &|scene| scene["sun"]["brightness"] = json!(1));
    refused(&["../square.gltf", "folder"], &|scene| scene["model"] = json!("../square.gltf"));
    refused(&["/etc/passwd", "folder"], &|scene| scene["cameras"]["other"] = json!({ "file": "/etc/passwd" }));
    refused(&["no camera \"back\""], &|scene| scene["camera"] = json!("back"));
    refused(&["sun.elevation", "400"], &|scene| scene["sun"]["elevation"] = json!(400));
    refused(&["5 lamps"], &|scene| scene["lamps"] = json!(vec![scene["lamps"][0].clone(); 5]));
    refused(&["nrview-scene"], &|scene| scene["version"] = json!(2));
    refused(&["front", "key 1", "ascend"], &|scene| scene["cameras"]["front"]["keys"][1]["time"] = json!(-1));
    refused(&["title"], &|scene| scene["title"] = json!(""));
}

#[test]
fn a_cut_is_a_reset_of_one_frame() {
    let folder = folder(&|_| {});
    let path = folder.path().join("path.json");
    let keys = json!([
        { "position": [0, 0, 4], "yaw": 0 },
        { "time": 1, "position": [0.4, 0, 4], "yaw": 2 },
        { "time": 2, "position": [-2, 0, 4], "yaw": 20, "cut": true },
        { "time": 4, "position": [-2.4, 0, 4], "yaw": 22 },
    ]);
    fs::write(&path, json!({ "format": "nrview-camera-path", "version": 1, "keys": keys }).to_string())
        .expect("writable");
    let record = |out: &Path, count: usize| {
        let frames = format!("--frames={count}");
        let arguments = ["capture", text(out), &frames, "--rate=1", "--size=33x33", "--pictures=none"];
        let more = ["--model=identity", "--scene", text(folder.path()), "--camera-path", text(&path)];
        run(&[&arguments[..], &more].concat()).expect_code(0);
        let frame = |n: u32| fs::read(out.join(format!("frames/{n:06}/frame.json"))).expect("a document");
        (0..count as u32).map(|n| serde_json::from_slice::<Value>(&frame(n)).expect("JSON")).collect::<Vec<_>>()
    };
    let frames = record(&folder.path().join("a"), 3);
    let resets: Vec<bool> = frames.iter().map(|frame| frame["frame"]["reset"] == true).collect();
    assert_eq!(resets, [true, false, true]);
    // The same command gives the same bytes. (A capture's own identity is new each time.)
    let again = record(&folder.path().join("b"), 2);
    for (number, (one, other)) in frames.iter().zip(&again).enumerate() {
        assert_eq!((&one["frame"], &one["tensors"]), (&other["frame"], &other["tensors"]), "frame {number}");
    }
}

/// Every file of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("inside").display().to_string();
                all.insert(name, fs::read(path).expect("readable"));
            }
        }
    }
    all
}

#[test]
fn an_interrupted_dataset_goes_on() {
    let folder = folder(&|_| {});
    let arguments = |out: &Path, more: &[&str]| -> Vec<String> {
        let base = ["--json", "render", "--scene", text(folder.path()), "--dataset", text(out)];
        let size = ["--size=96x64", "--sequences=3", "--frames=4", "--reference=16", "--rate=2"];
        base.iter().chain(&size).chain(more).map(|&word| word.to_owned()).collect()
    };
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let made = nrview(&arguments(&whole, &[]), LIMIT).expect_code(0).json();
    assert_eq!((&made["frames"], &made["rendered"]), (&json!(12), &json!(12)));

    // Killed as soon as a frame is there.
    let mut child = command().args(arguments(&broken, &[])).spawn().expect("it starts");
    let begun = Instant::now();
    while !broken.join("sequence-0000/frame-000001/frame.json").exists() && begun.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(2));
    }
    _ = child.kill();
    wait(&mut child, LIMIT);
    // And a frame whose bytes have changed since.
    let spoiled = broken.join("sequence-0000/frame-000000/motion.f16");
    let mut bytes = fs::read(&spoiled).expect("a file");
    bytes[0] ^= 1;
    fs::write(&spoiled, bytes).expect("writable");

    for (option, key) in [
        ("--seed=9", "seed: "),
        ("--without=ao,jitter", "jitter: true there, false asked for"),
        ("--without=ao", "without: [] there, [\"ao\"] asked for"),
        ("--exposure=1", "exposure: null there, 1.0 asked for"),
        ("--paper-white=2", "paperWhite: null there, 2.0 asked for"),
    ] {
        let other = nrview(&arguments(&broken, &[option]), LIMIT).expect_code(2);
        assert!(other.stderr.contains("other settings") && other.stderr.contains(key), "{other:#?}");
    }
    let resumed = nrview(&arguments(&broken, &[]), LIMIT).expect_code(0).json();
    let rendered = resumed["rendered"].as_u64().expect("a count");
    assert!((1..=12).contains(&rendered), "{resumed}");
    let (whole, broken) = (files(&whole), files(&broken));
    assert!(whole.keys().eq(broken.keys()), "{:?} {:?}", whole.keys(), broken.keys());
    assert_eq!(whole, broken, "the same bytes as in one go");
    assert_eq!(whole.len(), 1 + 12 * 5);

    let manifest: Value = serde_json::from_slice(&whole["manifest.json"]).expect("JSON");
    assert_eq!(manifest["complete"], true);
    for frame in manifest["frames"].as_array().expect("a list") {
        let name = frame[0].as_str().expect("a name");
        let document = &whole[&format!("{name}/frame.json")];
        let hex: String = Sha256::digest(document).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(frame[1], hex);
    }
    let color = &whole["sequence-0001/frame-000000/color.f16"];
    assert_eq!(color.len(), 96 * 64 * 3 * 2);
    assert_ne!(color, &whole["sequence-0001/frame-000000/reference.f16"]);
}
