//! Any bytes as a glTF file: refused with a sentence, or a model that can be drawn.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renderer::{Scene, gltf};

fuzz_target!(|bytes: &[u8]| {
    match gltf::from_bytes("fuzz", bytes.to_vec(), &|_| true) {
        Ok(model) => {
            model.packed_elements(0.4);
            let scene = Scene::around(model);
            assert!(scene.path.at(0.3).position.is_finite());
        }
        Err(error) => {
            assert!(!matches!(error, gltf::Error::Unreadable { .. }), "a panic inside");
            assert!(!error.to_string().contains('\n'), "one sentence");
        }
    }
});
