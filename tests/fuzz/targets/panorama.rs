//! Any bytes as an environment's picture.

#![no_main]

use libfuzzer_sys::fuzz_target;
use renderer::panorama::Panorama;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(panorama) = Panorama::from_bytes("fuzz", Path::new("fuzz"), bytes) {
        assert!(panorama.pixels().as_flattened().iter().all(|v| v.is_finite() && *v >= 0.0));
    }
});
