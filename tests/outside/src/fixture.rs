//! Fixtures, in both forms.

use network::parity::Fixture;
use serde_json::{Value, json};

use crate::{Check, edit, halves, put, sentence};

/// A folder with `fixture.json` or `manifest.json`, by the first byte. What follows a zero byte becomes the compressed
/// features, the raw input and the picture.
pub fn check() -> Check {
    let root = tempfile::tempdir().expect("a scratch folder");
    let compact: Value = serde_json::from_str(include_str!("../../fixtures/lively-33x33/fixture.json")).expect("JSON");
    let file = |name: &str| json!({ "width": 33, "height": 33, "file": name });
    let block = json!({ "block": 5, "width": 160, "height": 160, "channels": 32, "file": "b.bin" });
    let raw = json!({
        "sourceDimensions": [33, 33], "fullDimensions": [320, 320], "checks": ["boundaries", "head", "output"],
        "proxy": file("p.bin"), "seed": 1, "autoMask": true,
        "conditioning": { "localTone": 0.5, "localStructure": 0.5, "skinStructure": -1, "style": 1 },
        "blocks": [block, block], "transitions": [{ "id": "4-5", "width": 160, "height": 160, "channels": 32, "file": "b.bin" }],
        "omittedBoundaries": { "block-1": "because" },
        "referenceHead": { "file": "h.bin" }, "nativeOutput": { "width": 33, "height": 33, "dtype": "u8", "file": "o.bin" },
    });
    put(&root.path().join("p.bin"), &[0; 33 * 33 * 16]);
    put(&root.path().join("o.bin"), &[0; 33 * 33 * 4]);
    Box::new(move |bytes| {
        let (form, bytes) = bytes.split_first().map_or((0, bytes), |(form, rest)| (form % 2, rest));
        let (changes, content) = halves(bytes);
        let (good, name, other) = if form == 0 {
            (&compact, "fixture.json", "manifest.json")
        } else {
            (&raw, "manifest.json", "fixture.json")
        };
        _ = std::fs::remove_file(root.path().join(other));
        put(&root.path().join(name), &edit::document(good, changes));
        for name in ["features.f16.zst", "image.png", "h.bin"] {
            put(&root.path().join(name), content);
        }
        match Fixture::open(root.path()) {
            Ok(fixture) => assert!(fixture.features.is_some() || fixture.proxy.is_some()),
            Err(error) => sentence(&error.to_string()),
        }
    })
}
