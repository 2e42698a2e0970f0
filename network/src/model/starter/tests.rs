//! The built-in weights, and packing of directories.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::model::synth::{Preset, generate};
use crate::model::{WriteOptions, write};

#[test]
fn the_built_in_model_has_its_digest() {
    let model = model().unwrap();
    assert_eq!(model.digest(), DIGEST);
    assert_eq!(model.provenance(), &Provenance::Starter);
}

/// A starter directory of one record.
fn directory() -> (tempfile::TempDir, Value) {
    let dir = tempfile::tempdir().unwrap();
    let record = model().unwrap().record("block1.layer0.layer").unwrap().to_vec();
    fs::write(dir.path().join("one.bin"), &record).unwrap();
    let manifest = json!({
        "format": "starter-weights", "license": "CC0-1.0", "description": "one record",
        "tensors": [{
            "name": "block1.layer0.layer", "file": "one.bin", "byteLength": record.len(),
            "sha256": hex(&Sha256::digest(&record)),
        }],
    });
    (dir, manifest)
}

fn pack(dir: &Path, manifest: &Value) -> Result<Vec<u8>, ModelError> {
    fs::write(dir.join("manifest.json"), manifest.to_string()).unwrap();
    pack_directory(dir, true, &|_, _| {})
}

#[test]
fn starter_directories_are_packed() {
    let (dir, manifest) = directory();
    let bytes = pack(dir.path(), &manifest).unwrap();
    let index = container::index(&bytes, "test").unwrap();
    assert_eq!((index.license.as_deref(), index.description.as_str()), (Some("CC0-1.0"), "one record"));
    assert_eq!(index.records.len(), 1);
    let packed = container::expand(&bytes, "test", Provenance::Records).unwrap();
    let name = "block1.layer0.layer";
    assert_eq!(packed.record(name).unwrap(), model().unwrap().record(name).unwrap());
}

#[test]
fn bad_starter_directories_are_refused() {
    let (dir, good) = directory();
    let fail = |change: &dyn Fn(&mut Value)| {
        let mut manifest = good.clone();
        change(&mut manifest);
        pack(dir.path(), &manifest).unwrap_err()
    };
    let error = fail(&|m| m["tensors"][0]["sha256"] = json!("00"));
    assert!(matches!(error, ModelError::StageDigest { .. }), "{error}");
    let error = fail(&|m| m["tensors"][0]["file"] = json!("../one.bin"));
    assert!(matches!(&error, ModelError::InvalidManifest { key, .. } if key == "tensors[0]"), "{error}");
    let error = fail(&|m| m["tensors"][0]["file"] = json!("two.bin"));
    assert!(matches!(error, ModelError::ReadStage { .. }), "{error}");
    let error = fail(&|m| m["tensors"][0]["byteLength"] = json!(7));
    assert!(matches!(error, ModelError::StageSize { .. }), "{error}");
    let error = fail(&|m| m["tensors"][0]["name"] = json!("block1.layer9.layer"));
    assert!(matches!(error, ModelError::UnknownTensor(_)), "{error}");
    let error = fail(&|m| m["tensors"] = json!(3));
    assert!(matches!(error, ModelError::InvalidManifest { .. }), "{error}");
}

#[test]
fn model_directories_are_packed() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("model");
    let model = generate(Preset::Identity, 1).unwrap();
    write(&model, &dir, &WriteOptions::default()).unwrap();
    let bytes = pack_directory(&dir, true, &|_, _| {}).unwrap();
    let index = container::index(&bytes, "test").unwrap();
    assert_eq!((index.digest.as_str(), index.license), (model.digest(), None));
}
