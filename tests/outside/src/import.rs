//! Frames of other programs.

use network::import::Import;
use serde_json::json;

use crate::{Check, edit, put, sentence};

const SIZE: [u32; 2] = [33, 7];

fn read(path: &std::path::Path) {
    let import = match Import::open(path) {
        Ok(import) => import,
        Err(error) => return sentence(&error.to_string()),
    };
    let extent = import.geometry().valid;
    for index in 0..import.frames().min(3) {
        match import.frame(index) {
            Ok(frame) => {
                assert_eq!([frame.color.len(), frame.depth.len(), frame.motion.len()], [extent.pixels(); 3]);
                frame.packed_motion(extent);
            }
            Err(error) => sentence(&error.to_string()),
        }
    }
}

/// The document of conventions, with raw files beside it.
pub fn document() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    put(&root.path().join("c.bin"), &vec![0; pixels * 6]);
    put(&root.path().join("m.bin"), &vec![0; pixels * 8]);
    put(&root.path().join("d.bin"), &vec![0; pixels * 4]);
    let frame = json!({ "color": "c.bin", "motion": "m.bin", "depth": "d.bin" });
    let good = json!({
        "description": "d", "size": SIZE, "paperWhite": 1,
        "color": { "format": "f16", "channels": ["R", "G", "B"], "rows": "bottom-first" },
        "motion": { "format": "f32", "channels": ["X", "Y"], "direction": "current-to-previous", "unit": "uv", "y": "down" },
        "depth": { "format": "f32", "channels": ["Z"] }, "frames": [frame, frame],
    });
    Box::new(move |bytes| {
        let path = root.path().join("import.json");
        put(&path, &edit::document(&good, bytes));
        read(&path);
    })
}

/// Any bytes as the OpenEXR file of a sound document.
pub fn exr() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    let path = root.path().join("import.json");
    let document = json!({
        "size": SIZE, "color": { "format": "exr", "channels": ["R", "G", "B"] },
        "motion": { "format": "exr", "channels": ["X", "Y"], "direction": "previous-to-current", "unit": "ndc", "y": "up" },
        "depth": { "format": "exr", "channels": ["Z"] },
        "frames": [{ "color": "a.exr", "motion": "a.exr", "depth": "a.exr" }],
    });
    put(&path, document.to_string().as_bytes());
    Box::new(move |bytes| {
        put(&root.path().join("a.exr"), bytes);
        read(&path);
    })
}
