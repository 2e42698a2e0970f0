//! Every loader error of weights section 1, on copies of one good directory that share its stage files.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::model::synth::{Preset, generate};
use crate::model::{WriteOptions, write};

/// A good directory, and a place for broken ones.
struct Bench {
    scratch: tempfile::TempDir,
    good: Value,
}

impl Bench {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let model = generate(Preset::Identity, 1).unwrap();
        write(&model, &scratch.path().join("good"), &WriteOptions::default()).unwrap();
        let text = fs::read(scratch.path().join("good/manifest.json")).unwrap();
        Self { scratch, good: serde_json::from_slice(&text).unwrap() }
    }

    fn stages(&self) -> PathBuf {
        self.scratch.path().join("good/model/stages")
    }

    /// A directory with its own manifest and links to the good stage files.
    fn directory(&self, manifest: &[u8]) -> tempfile::TempDir {
        let dir = tempfile::tempdir_in(self.scratch.path()).unwrap();
        fs::write(dir.path().join("manifest.json"), manifest).unwrap();
        let stages = dir.path().join("model/stages");
        fs::create_dir_all(&stages).unwrap();
        for entry in fs::read_dir(self.stages()).unwrap() {
            let entry = entry.unwrap();
            fs::hard_link(entry.path(), stages.join(entry.file_name())).unwrap();
        }
        dir
    }

    /// The error of the good manifest after a change.
    fn error(&self, change: impl FnOnce(&mut Value)) -> ModelError {
        let mut manifest = self.good.clone();
        change(&mut manifest);
        let dir = self.directory(manifest.to_string().as_bytes());
        load(dir.path(), true).unwrap_err()
    }
}

#[test]
fn every_error_names_its_object() {
    let bench = Bench::new();
    manifest_errors(&bench);
    stage_errors(&bench);
    tensor_errors(&bench);
    file_errors(&bench);
    tolerated(&bench);
}

fn manifest_errors(bench: &Bench) {
    let missing = load(&bench.scratch.path().join("nowhere"), true).unwrap_err();
    assert!(matches!(missing, ModelError::Missing { .. }), "{missing}");
    assert!(missing.to_string().ends_with("nowhere"), "{missing}");
    let empty = tempfile::tempdir_in(bench.scratch.path()).unwrap();
    let unread = load(empty.path(), true).unwrap_err();
    assert!(matches!(unread, ModelError::ReadManifest { .. }), "{unread}");
    assert!(unread.to_string().contains("manifest.json"), "{unread}");

    for text in [&b"{\"totals\""[..], b"", b"\xff\xfe"] {
        let dir = bench.directory(text);
        let error = load(dir.path(), true).unwrap_err();
        assert!(matches!(&error, ModelError::InvalidManifest { key, .. } if key == "document"), "{error}");
    }
    let invalid = |key: &str, change: &dyn Fn(&mut Value)| {
        let error = bench.error(|manifest| change(manifest));
        assert!(matches!(&error, ModelError::InvalidManifest { key: k, .. } if k == key), "{key}: {error}");
    };
    invalid("document", &|m| *m = json!([]));
    invalid("totals", &|m| drop(m.as_object_mut().unwrap().remove("totals")));
    invalid("totals", &|m| m["totals"] = json!(71));
    invalid("totals.blockCount", &|m| m["totals"] = json!({}));
    invalid("totals.blockCount", &|m| m["totals"]["blockCount"] = json!("71"));
    invalid("totals.blockCount", &|m| m["totals"]["blockCount"] = json!(-71));
    invalid("stages", &|m| m["stages"] = json!({}));
    invalid("stages[2]", &|m| m["stages"][2] = json!("x"));
    invalid("tensors", &|m| drop(m.as_object_mut().unwrap().remove("tensors")));
    for key in ["id", "file", "packedByteLength", "sha256"] {
        let full = format!("stages[3].{key}");
        invalid(&full, &|m| drop(m["stages"][3].as_object_mut().unwrap().remove(key)));
        invalid(&full, &|m| m["stages"][3][key] = json!([1]));
    }
    invalid("stages[0].sha256", &|m| m["stages"][0]["sha256"] = json!("abc"));
    for key in ["name", "block", "layer", "parameter", "stage", "stageOffset", "byteLength"] {
        let full = format!("tensors[152].{key}");
        invalid(&full, &|m| drop(m["tensors"][152].as_object_mut().unwrap().remove(key)));
        invalid(&full, &|m| m["tensors"][152][key] = json!(null));
    }
    let error = bench.error(|m| m["totals"]["blockCount"] = json!(70));
    assert!(matches!(error, ModelError::WrongBlockCount { found: 70, expected: 71 }), "{error}");

    let dir = bench.directory(b"");
    let file = fs::File::options().write(true).open(dir.path().join("manifest.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(matches!(load(dir.path(), true).unwrap_err(), ModelError::TooLarge { .. }));
}

fn stage_errors(bench: &Bench) {
    let invalid = |about: &str, change: &dyn Fn(&mut Value)| {
        let error = bench.error(|manifest| change(manifest));
        assert!(matches!(error, ModelError::InvalidStage { .. }), "{error}");
        assert!(error.to_string().contains(about), "{error}");
    };
    invalid("id is empty", &|m| m["stages"][1]["id"] = json!(""));
    invalid("repeated", &|m| m["stages"][1]["id"] = m["stages"][0]["id"].clone());
    invalid("absolute", &|m| m["stages"][1]["file"] = json!("/etc/passwd"));
    invalid("parent", &|m| m["stages"][1]["file"] = json!("../../secret"));
    invalid("parent", &|m| m["stages"][1]["file"] = json!("stages/../../x"));
    invalid("empty", &|m| m["stages"][1]["file"] = json!(""));
    invalid("directory itself", &|m| m["stages"][1]["file"] = json!("./."));

    let error = bench.error(|m| m["stages"][1]["file"] = json!("stages/none.bin"));
    assert!(matches!(&error, ModelError::ReadStage { path, .. } if path.ends_with("stages/none.bin")), "{error}");
    let error = bench.error(|m| m["stages"][1]["file"] = json!("stages"));
    assert!(error.to_string().contains("not a regular file"), "{error}");
    let error = bench.error(|m| m["stages"][10]["packedByteLength"] = json!(106_612));
    assert!(matches!(error, ModelError::StageSize { found: 106_610, expected: 106_612, .. }), "{error}");
    let error = bench.error(|m| m["stages"][10]["packedByteLength"] = json!(u64::MAX));
    assert!(matches!(error, ModelError::TooLarge { .. }), "{error}");
}

fn tensor_errors(bench: &Bench) {
    let error = bench.error(|m| m["tensors"][5]["stage"] = json!("attic"));
    assert!(matches!(&error, ModelError::UnknownStage { stage, .. } if stage == "attic"), "{error}");
    for (offset, length) in [(95_000, 20_672), (u64::MAX, 20_672), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        let error = bench.error(|m| {
            m["tensors"][1]["stageOffset"] = json!(offset);
            m["tensors"][1]["byteLength"] = json!(length);
        });
        assert!(matches!(&error, ModelError::TensorExceedsStage { tensor, .. } if tensor == "block1.layer0.layer"));
    }
    let error = bench.error(|m| m["tensors"][7]["name"] = m["tensors"][6]["name"].clone());
    assert!(matches!(&error, ModelError::DuplicateTensor(name) if name == "block6.layer0.layer"), "{error}");
    let error = bench.error(|m| drop(m["tensors"].as_array_mut().unwrap().remove(152)));
    assert!(matches!(&error, ModelError::MissingTensor(name) if name == "block70.layer0.blend_scale"), "{error}");
    for block in [0, 48, 56, 62, 66, 70] {
        let error = bench.error(|m| {
            let name = json!(format!("block{block}.layer0.layer"));
            let tensors = m["tensors"].as_array_mut().unwrap();
            let tensor = tensors.iter_mut().find(|t| t["name"] == name).unwrap();
            tensor["byteLength"] = json!(tensor["byteLength"].as_u64().unwrap() - 16);
        });
        assert!(matches!(error, ModelError::UnexpectedLayout { block: b, .. } if b == block), "{error}");
    }
    let error = bench.error(|m| m["tensors"][5]["byteLength"] = json!(61_000));
    assert!(matches!(&error, ModelError::ExceedsTensor { field, .. } if field == "projection"), "{error}");
}

fn file_errors(bench: &Bench) {
    let dir = bench.directory(bench.good.to_string().as_bytes());
    let stage = dir.path().join("model/stages/02-enc128.bin");
    let bytes = fs::read(&stage).unwrap();
    let replace = |bytes: &[u8]| {
        // A new file: the old one is shared with the good directory.
        fs::remove_file(&stage).unwrap();
        fs::write(&stage, bytes).unwrap();
    };
    replace(&bytes[..bytes.len() - 1]);
    let error = load(dir.path(), false).unwrap_err();
    assert!(matches!(&error, ModelError::StageSize { id, .. } if id == "stage-02-enc128"), "{error}");
    let mut changed = bytes.clone();
    changed[1000] ^= 1;
    replace(&changed);
    let error = load(dir.path(), true).unwrap_err();
    assert!(matches!(&error, ModelError::StageDigest { id, .. } if id == "stage-02-enc128"), "{error}");
    let model = load(dir.path(), false).unwrap();
    assert_eq!(model.record("block9.layer0.layer").unwrap()[1000], 1, "verification can be switched off");
}

/// What must not be refused: unknown keys and tensors, upper-case digests, surplus bytes.
fn tolerated(bench: &Bench) {
    let mut manifest = bench.good.clone();
    manifest["extra"] = json!({"a": [1, 2]});
    manifest["stages"][0]["comment"] = json!("x");
    let digest = manifest["stages"][0]["sha256"].as_str().unwrap().to_uppercase();
    manifest["stages"][0]["sha256"] = json!(digest);
    let mut tensor = manifest["tensors"][0].clone();
    tensor["name"] = json!("block0.layer7.other");
    manifest["tensors"].as_array_mut().unwrap().push(tensor);
    // The record before last in its stage, 16 bytes longer than its layout.
    manifest["tensors"][3]["byteLength"] = json!(20_688);
    let dir = bench.directory(manifest.to_string().as_bytes());
    let model = load(dir.path(), true).unwrap();
    assert_eq!(model.byte_len(), layout::TOTAL_BYTES + 16);
    assert!(is_model_directory(dir.path()));
}
