//! The starter weights: the default model, carried inside the program (assets/starter.md).

use std::path::Path;

use sha2::{Digest, Sha256};

use super::container;
use super::error::ModelError;
use super::files::{file_length, inside, read_exactly, read_manifest};
use super::layout;
use super::manifest::Node;
use super::records::{Model, Provenance, hex};

/// [`Model::digest`] of the starter model.
pub const DIGEST: &str = "b356de9c4b7651214c3f7f1c3948f122b624d55e0fc6d7edb9f3ac9470f10353";

/// The container that is built in.
static CONTAINER: &[u8] = include_bytes!("../../../assets/starter.nrw");

/// Largest record file that is read, in bytes.
const MAX_RECORD: u64 = 16 << 20;

/// Expands the built-in starter weights.
///
/// # Errors
/// The built-in container is damaged.
pub fn model() -> Result<Model, ModelError> {
    container::expand(CONTAINER, "starter", Provenance::Starter)
}

/// The weights of a directory, packed as a container's bytes (`nrview model pack`).
///
/// The directory is a complete model, or starter weights: a `manifest.json` of format `starter-weights` that lists
/// one raw file for every record that is not default. `told` is that of [`container::pack`].
///
/// # Errors
/// The directory is neither, or anything in it is wrong.
pub fn pack_directory(dir: &Path, verify: bool, told: &dyn Fn(usize, usize)) -> Result<Vec<u8>, ModelError> {
    let (text, path) = read_manifest(dir)?;
    let document: serde_json::Value = serde_json::from_slice(&text).map_err(|e| ModelError::InvalidManifest {
        path: path.clone(),
        key: "document".into(),
        problem: format!("not JSON: {e}"),
    })?;
    let root = Node { path: &path, key: String::new(), value: &document };
    let (model, license) = if document["format"] == "starter-weights" {
        (read_records(dir, &root, verify)?, document["license"].as_str())
    } else {
        (super::load(dir, verify)?, None)
    };
    let description = document["description"].as_str().unwrap_or("weights of the 71-block network");
    container::pack(&model, description, license, told)
}

/// Reads the records that a starter manifest lists; the others are default.
fn read_records(dir: &Path, root: &Node, verify: bool) -> Result<Model, ModelError> {
    let mut records = Vec::new();
    for tensor in root.get("tensors")?.items()? {
        let name = tensor.get("name")?.text()?.to_owned();
        let file = tensor.get("file")?.text()?;
        let length = tensor.get("byteLength")?.integer()?;
        let expected = tensor.get("sha256")?.text()?.to_ascii_lowercase();
        let path = inside(dir, file).map_err(|problem| tensor.invalid(problem))?;
        let fail = |source| ModelError::ReadStage { id: name.clone(), path: path.clone(), source };
        let found = file_length(&path).map_err(fail)?;
        if found != length {
            return Err(ModelError::StageSize { id: name, found, expected: length });
        }
        if length > MAX_RECORD {
            return Err(ModelError::TooLarge { what: name, found: length, limit: MAX_RECORD });
        }
        let bytes = read_exactly(&path, length).map_err(fail)?;
        let digest = hex(&Sha256::digest(&bytes));
        if verify && digest != expected {
            return Err(ModelError::StageDigest { id: name, found: digest, expected });
        }
        records.push((name, bytes));
    }
    let defaults: Vec<_> = layout::records()
        .iter()
        .filter(|layout| !records.iter().any(|(name, _)| *name == layout.name))
        .map(|layout| (layout.name.clone(), container::default_record(layout)))
        .collect();
    let description = dir.display().to_string();
    Model::from_records(description, Provenance::Starter, records.into_iter().chain(defaults))
}

#[cfg(test)]
mod tests;
