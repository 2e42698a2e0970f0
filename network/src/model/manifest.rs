//! Schema of a model directory's `manifest.json` (weights section 1).

use std::path::Path;

use serde_json::{Map, Value};

use super::error::ModelError;
use super::layout::BLOCK_COUNT;

/// A stage file as listed.
#[derive(Debug)]
pub(super) struct StageEntry {
    pub id: String,
    /// Path under `model/`, not yet checked.
    pub file: String,
    pub length: u64,
    /// 64 hexadecimal digits, lower case.
    pub sha256: String,
}

/// A tensor as listed.
#[derive(Debug)]
pub(super) struct TensorEntry {
    pub name: String,
    pub stage: String,
    pub offset: u64,
    pub length: u64,
}

/// The parts of a manifest that matter; unknown keys are ignored.
#[derive(Debug)]
pub(super) struct Manifest {
    pub stages: Vec<StageEntry>,
    pub tensors: Vec<TensorEntry>,
}

/// Parses a manifest; `path` only appears in errors.
pub(super) fn parse(text: &[u8], path: &Path) -> Result<Manifest, ModelError> {
    let document: Value = serde_json::from_slice(text).map_err(|error| ModelError::InvalidManifest {
        path: path.to_owned(),
        key: "document".into(),
        problem: format!("not JSON: {error}"),
    })?;
    let root = Node { path, key: String::new(), value: &document };
    let found = root.get("totals")?.get("blockCount")?.integer()?;
    if found != BLOCK_COUNT {
        return Err(ModelError::WrongBlockCount { found, expected: BLOCK_COUNT });
    }
    let stages = root.get("stages")?.items()?.iter().map(stage).collect::<Result<_, _>>()?;
    let tensors = root.get("tensors")?.items()?.iter().map(tensor).collect::<Result<_, _>>()?;
    Ok(Manifest { stages, tensors })
}

fn stage(node: &Node) -> Result<StageEntry, ModelError> {
    let digest = node.get("sha256")?;
    let sha256 = digest.text()?.to_ascii_lowercase();
    if sha256.len() != 64 || !sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(digest.invalid("is not 64 hexadecimal digits"));
    }
    Ok(StageEntry {
        id: node.get("id")?.text()?.to_owned(),
        file: node.get("file")?.text()?.to_owned(),
        length: node.get("packedByteLength")?.integer()?,
        sha256,
    })
}

fn tensor(node: &Node) -> Result<TensorEntry, ModelError> {
    // Tensors are looked up by name alone; these three are required all the same.
    node.get("block")?.integer()?;
    node.get("layer")?.integer()?;
    node.get("parameter")?.text()?;
    Ok(TensorEntry {
        name: node.get("name")?.text()?.to_owned(),
        stage: node.get("stage")?.text()?.to_owned(),
        offset: node.get("stageOffset")?.integer()?,
        length: node.get("byteLength")?.integer()?,
    })
}

/// A value of a JSON document that knows its key, for errors.
pub(super) struct Node<'a> {
    pub path: &'a Path,
    pub key: String,
    pub value: &'a Value,
}

impl<'a> Node<'a> {
    /// The required member `key` of an object.
    pub fn get(&self, key: &str) -> Result<Node<'a>, ModelError> {
        let full = if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) };
        let object: &Map<String, Value> = self.value.as_object().ok_or_else(|| self.invalid("is not an object"))?;
        match object.get(key) {
            Some(value) => Ok(Node { path: self.path, key: full, value }),
            None => Err(Node { path: self.path, key: full, value: self.value }.invalid("is missing")),
        }
    }

    /// The elements of an array.
    pub fn items(&self) -> Result<Vec<Node<'a>>, ModelError> {
        let array = self.value.as_array().ok_or_else(|| self.invalid("is not an array"))?;
        let node = |(i, value)| Node { path: self.path, key: format!("{}[{i}]", self.key), value };
        Ok(array.iter().enumerate().map(node).collect())
    }

    /// A non-negative integer.
    pub fn integer(&self) -> Result<u64, ModelError> {
        self.value.as_u64().ok_or_else(|| self.invalid("is not a non-negative integer"))
    }

    /// A string.
    pub fn text(&self) -> Result<&'a str, ModelError> {
        self.value.as_str().ok_or_else(|| self.invalid("is not a string"))
    }

    /// The error for this value.
    pub fn invalid(&self, problem: &str) -> ModelError {
        let key = if self.key.is_empty() { "document".to_owned() } else { self.key.clone() };
        ModelError::InvalidManifest { path: self.path.to_owned(), key, problem: problem.to_owned() }
    }
}
