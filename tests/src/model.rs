//! Model directories for tests: one synthetic model on disk, and damaged relatives of it that
//! share its stage files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::program::nrview;

/// A model directory that ends with the value.
pub struct ModelDir {
    folder: TempDir,
}

impl ModelDir {
    /// A new directory with the model `lively`, seed 1, written by the program (141 MiB).
    ///
    /// # Panics
    /// When the program cannot write it.
    pub fn lively() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let out = folder.path().join("m");
        nrview(
            &["model".as_ref(), "synth".as_ref(), "--seed=1".as_ref(), "--out".as_ref(), out.as_os_str()],
            Duration::from_secs(120),
        )
        .expect_code(0);
        Self { folder }
    }

    /// The directory, as given to `--model`.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("m")
    }

    /// The text of this directory as an argument.
    pub fn argument(&self) -> String {
        self.path().display().to_string()
    }

    /// The parsed manifest.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn manifest(&self) -> Value {
        let text = fs::read_to_string(self.path().join("manifest.json")).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Replaces the manifest.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn set_manifest(&self, manifest: &Value) {
        fs::write(self.path().join("manifest.json"), manifest.to_string()).expect("writable");
    }

    /// Replaces a stage file (a link in a relative) by one with other bytes.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn set_stage(&self, file: &str, bytes: &[u8]) {
        let path = self.path().join("model").join(file);
        fs::remove_file(&path).expect("the stage is there");
        fs::write(&path, bytes).expect("writable");
    }

    /// The bytes of a stage file.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn stage(&self, file: &str) -> Vec<u8> {
        fs::read(self.path().join("model").join(file)).expect("the stage is there")
    }

    /// Changes one byte of a record, the one of `range` (bytes of the record) with the largest FP8 magnitude, by its
    /// sign, and makes the manifest's digest agree again.
    ///
    /// # Panics
    /// When there is no such record.
    pub fn flip_largest(&self, record: &str, range: std::ops::Range<usize>) {
        let mut manifest = self.manifest();
        let named = |list: &str, key: &str, value: &Value| {
            manifest[list].as_array().and_then(|l| l.iter().position(|e| e[key] == *value)).expect("it is listed")
        };
        let tensor = manifest["tensors"][named("tensors", "name", &Value::from(record))].clone();
        let stage = named("stages", "id", &tensor["stage"]);
        let start = usize::try_from(tensor["stageOffset"].as_u64().expect("a number")).expect("small");
        let file = manifest["stages"][stage]["file"].as_str().expect("a file name").to_owned();
        let mut bytes = self.stage(&file);
        let weights = &mut bytes[start + range.start..start + range.end];
        let largest = weights.iter_mut().max_by_key(|code| **code & 0x7f).expect("a range of some bytes");
        *largest ^= 0x80;
        self.set_stage(&file, &bytes);
        manifest["stages"][stage]["sha256"] =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        self.set_manifest(&manifest);
    }

    /// Another directory with the same manifest and links to the same stage files.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn relative(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (from, to) = (self.path(), folder.path().join("m"));
        fs::create_dir_all(&to).expect("writable");
        fs::copy(from.join("manifest.json"), to.join("manifest.json")).expect("a copy");
        for stage in self.manifest()["stages"].as_array().expect("a list of stages") {
            let file = stage["file"].as_str().expect("a file name");
            let link = to.join("model").join(file);
            fs::create_dir_all(link.parent().expect("a folder")).expect("writable");
            symlink(from.join("model").join(file), link).expect("a link");
        }
        Self { folder }
    }
}
