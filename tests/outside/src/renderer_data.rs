//! What scenes are made of.

use std::path::Path;

use renderer::panorama::Panorama;
use renderer::{CameraPath, PathDocument, Scene, folder, gltf as model};
use serde_json::json;

use crate::{Check, edit, put, sentence};

/// Any bytes as a glTF file: refused with a sentence, or a model that can be drawn.
pub fn gltf() -> Check {
    Box::new(|bytes| match model::from_bytes("asset", bytes.to_vec(), &|_| true) {
        Ok(model) => {
            model.packed_elements(0.4);
            let scene = Scene::around(model);
            assert!(scene.path.at(0.3).position.is_finite());
        }
        Err(error) => {
            assert!(!matches!(error, model::Error::Unreadable { .. }), "a panic inside");
            let message = error.to_string();
            // One sentence about one thing; a list of problems may be longer elsewhere.
            assert!(!message.contains('\n') && message.chars().count() < 2000, "{message}");
            sentence(&message);
        }
    })
}

/// Any bytes as an environment's picture.
pub fn panorama() -> Check {
    Box::new(|bytes| match Panorama::from_bytes("sky", Path::new("sky"), bytes) {
        Ok(panorama) => assert!(panorama.pixels().as_flattened().iter().all(|v| v.is_finite() && *v >= 0.0)),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            sentence(&error.to_string());
        }
    })
}

fn walk(path: &CameraPath) {
    assert!(path.seconds().is_finite() && path.seconds() >= 0.0);
    let ends = [0.0, -0.0, 1e-9, 0.3, 1.0, path.seconds() * 0.5, path.seconds(), 1e7, -1e7];
    for time in ends {
        let camera = path.at(time);
        assert!(
            camera.position.is_finite() && camera.yaw.is_finite() && camera.pitch.is_finite(),
            "{camera:?} at {time}"
        );
        assert!(camera.fov_y > 0.0 && camera.fov_y < 3.2, "{camera:?} at {time}");
        assert!(!path.cuts(time, time), "a jump from {time} to itself");
    }
}

/// A camera path.
pub fn camera_path() -> Check {
    let good = json!({ "format": "nrview-camera-path", "version": 1, "keys": [
        { "position": [1, 2, 3], "target": [0, 0, 0] },
        { "time": 1.5, "position": [4, 2, 3], "yaw": 90, "pitch": -10, "fov": 30, "cut": true },
        { "time": 2.5, "position": [4, 3, 3], "yaw": 100, "pitch": -10 },
    ] });
    Box::new(move |bytes| {
        let document = edit::document(&good, bytes);
        let Ok(text) = std::str::from_utf8(&document) else { return };
        match PathDocument::parse(text) {
            Ok(path) => {
                walk(&path);
                let CameraPath::Keyed(keys) = path else { return };
                // Times are written in steps of a ten-thousandth; closer keys fall together.
                let written = PathDocument::of(&keys).text();
                let apart = keys.keys().windows(2).all(|pair| pair[1].time - pair[0].time > 2e-4);
                match PathDocument::parse(&written) {
                    Ok(CameraPath::Keyed(again)) => assert_eq!(again.keys().len(), keys.keys().len()),
                    Ok(CameraPath::Round(_)) => panic!("keys became a round"),
                    Err(error) => assert!(!apart, "what was written is not read: {error}"),
                }
            }
            Err(error) => sentence(&error),
        }
    })
}

/// A scene folder: its JSON, with a model, an environment and a camera path beside it.
pub fn scene() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    put(&root.path().join("m.glb"), include_bytes!("../../fuzz/corpus/gltf/strip.glb"));
    put(&root.path().join("s.hdr"), include_bytes!("../../fuzz/corpus/panorama/small.hdr"));
    let path = json!({ "format": "nrview-camera-path", "version": 1, "keys": [{ "position": [1, 2, 3], "target": [0, 0, 0] }] });
    put(&root.path().join("p.json"), path.to_string().as_bytes());
    let stop = json!({ "position": [1, 2, 3], "target": [0, 0, 0] });
    let good = json!({
        "format": "nrview-scene", "version": 1, "title": "t", "description": "d", "model": "m.glb", "camera": "b",
        "cameras": {
            "a": { "keys": [{ "time": 0, "position": [1, 2, 3], "yaw": 1 }, { "time": 1, "position": [1, 2, 4], "yaw": 2 }] },
            "b": { "round": { "seconds": 4, "fov": 50, "keys": [stop, stop, stop] } },
            "c": { "file": "p.json" },
        },
        "sun": { "azimuth": 30, "elevation": 40, "diameter": 0.5, "color": [1, 1, 1], "intensity": 3 },
        "sky": { "zenith": [0, 0, 1], "horizon": [1, 1, 1], "ground": [0, 0, 0], "haze": 1, "occlusionDistance": 2 },
        "environment": { "file": "s.hdr", "rotation": 10, "intensity": 2 },
        "lightRadius": 0.1, "lamps": [{ "position": [0, 1, 0], "radius": 0.1, "color": [1, 1, 1], "intensity": 2 }],
        "exposure": 1, "paperWhite": 2, "animation": { "speed": 1, "start": 0 },
    });
    Box::new(move |bytes| {
        put(&root.path().join(folder::FILE), &edit::document(&good, bytes));
        let summary = folder::summary(root.path());
        match folder::load(root.path(), &|_| true) {
            Ok(scene) => {
                summary.expect("what loads has a summary");
                assert!(scene.range.iter().all(|v| v.is_finite()) && scene.paper_white > 0.0);
                scene.cameras.iter().map(|(_, path)| path).chain([&scene.path]).for_each(walk);
            }
            Err(error) => sentence(&error.to_string()),
        }
    })
}
