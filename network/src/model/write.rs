//! Writer of portable model directories.
//!
//! Files and manifest are byte for byte those of the public generators for the same weights. The directory is
//! written beside its target and moved into place at the end, so a failure leaves what was there before.

use std::fs;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use faults::files;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use sha2::{Digest, Sha256};

use super::error::ModelError;
use super::files::{inside, read_manifest};
use super::layout::{self, BLOCK_COUNT, RecordLayout, STAGES};
use super::manifest;
use super::records::{Model, Provenance, hex};

/// How records are grouped into stage files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Eleven files by resolution stage.
    #[default]
    Eleven,
    /// One file per record.
    PerTensor,
}

/// Form of a written directory.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Grouping into stage files.
    pub grouping: Grouping,
    /// Alignment in bytes of each record inside its stage file; gaps are zero.
    pub align: NonZeroUsize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { grouping: Grouping::Eleven, align: NonZeroUsize::MIN }
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// Records.
    pub tensors: usize,
    /// Stage files.
    pub stages: usize,
    /// Bytes of all stage files.
    pub packed_byte_length: usize,
    /// The model's digest.
    pub digest: String,
}

#[derive(Serialize)]
struct Document<'a> {
    totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    synthetic: Option<Synthetic<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starter: Option<Origin<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin<'a>>,
    stages: Vec<Stage>,
    tensors: Vec<Tensor<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    block_count: u64,
    tensor_count: usize,
    stage_count: usize,
    packed_byte_length: usize,
}

#[derive(Serialize)]
struct Synthetic<'a> {
    generator: &'static str,
    version: u32,
    seed: u64,
    preset: &'a str,
    digest: &'a str,
}

#[derive(Serialize)]
struct Origin<'a> {
    digest: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stage {
    id: String,
    file: String,
    packed_byte_length: usize,
    sha256: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tensor<'a> {
    name: &'a str,
    block: u32,
    layer: u32,
    parameter: &'a str,
    stage: String,
    stage_offset: usize,
    byte_length: usize,
}

/// Writes `model` as the directory `target`, which may be absent, empty, or a model directory to replace.
///
/// # Errors
/// The target holds anything that is not a model, or a file cannot be written. The target is then unchanged.
pub fn write(model: &Model, target: &Path, options: &WriteOptions) -> Result<Written, ModelError> {
    let replaces = check_target(target)?;
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    files::create_dir_all(&parent).map_err(|e| ModelError::io("create", &parent, e))?;
    let scratch = tempfile::Builder::new()
        .prefix(".model-")
        .tempdir_in(&parent)
        .map_err(|e| ModelError::io("create a directory in", &parent, e))?;
    let fresh = scratch.path().join("new");
    let written = write_files(model, &fresh, options)?;
    if replaces {
        let old = scratch.path().join("old");
        files::rename(target, &old).map_err(|e| ModelError::io("replace", target, e))?;
        if let Err(error) = files::rename(&fresh, target) {
            // Put the previous model back; the first error is the one to report.
            let _ = files::rename(&old, target);
            return Err(ModelError::io("create", target, error));
        }
    } else {
        files::rename(&fresh, target).map_err(|e| ModelError::io("create", target, e))?;
    }
    Ok(written)
}

/// Whether the target exists and may be replaced.
fn check_target(target: &Path) -> Result<bool, ModelError> {
    let refused = |problem: String| ModelError::RefusedTarget { path: target.to_owned(), problem };
    let metadata = match fs::symlink_metadata(target) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(ModelError::io("examine", target, error)),
    };
    if !metadata.is_dir() {
        return Err(refused("it exists and is not a directory".into()));
    }
    let entries = list(target)?;
    if entries.is_empty() {
        return Ok(true);
    }
    let unreadable = |e: ModelError| refused(format!("it is not empty and not a model ({e})"));
    let (text, path) = read_manifest(target).map_err(unreadable)?;
    let manifest = manifest::parse(&text, &path).map_err(unreadable)?;
    // Replace nothing but a model's own files.
    let base = target.join("model");
    let mut own = vec![path];
    own.extend(manifest.stages.iter().filter_map(|stage| inside(&base, &stage.file).ok()));
    let mut pending = entries;
    while let Some(entry) = pending.pop() {
        if entry.is_dir() && !entry.is_symlink() && own.iter().any(|file| file.starts_with(&entry)) {
            pending.extend(list(&entry)?);
        } else if !own.contains(&entry) {
            return Err(refused(format!("it holds {}, which is no part of its model", entry.display())));
        }
    }
    Ok(true)
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let fail = |e| ModelError::io("list", dir, e);
    fs::read_dir(dir).map_err(fail)?.map(|entry| Ok(entry.map_err(fail)?.path())).collect()
}

/// A group of records that share a stage file: id, file under `model/`, record indices.
fn groups(grouping: Grouping) -> Vec<(String, String, Vec<usize>)> {
    let records = layout::records();
    match grouping {
        Grouping::Eleven => STAGES
            .iter()
            .enumerate()
            .map(|(stage, (name, _, _))| {
                let members = (0..records.len()).filter(|&record| records[record].stage == stage).collect();
                (format!("stage-{stage:02}-{name}"), format!("stages/{stage:02}-{name}.bin"), members)
            })
            .collect(),
        Grouping::PerTensor => (0..records.len())
            .map(|record| (format!("tensor-{record:03}"), format!("{record:03}.bin"), vec![record]))
            .collect(),
    }
}

fn write_files(model: &Model, dir: &Path, options: &WriteOptions) -> Result<Written, ModelError> {
    let base = dir.join("model");
    let mut stages = Vec::new();
    let mut tensors = Vec::new();
    for (id, file, members) in groups(options.grouping) {
        let path = base.join(&file);
        let folder = path.parent().unwrap_or(&base);
        files::create_dir_all(folder).map_err(|e| ModelError::io("create", folder, e))?;
        let mut out = StageFile::create(&path)?;
        for index in members {
            let record: &'static RecordLayout = &layout::records()[index];
            let bytes = model.record_at(index);
            let offset = out.position.next_multiple_of(options.align.get());
            out.write(&vec![0; offset - out.position])?;
            out.write(bytes)?;
            tensors.push(Tensor {
                name: &record.name,
                block: record.block,
                layer: record.layer,
                parameter: record.parameter,
                stage: id.clone(),
                stage_offset: offset,
                byte_length: bytes.len(),
            });
        }
        let (packed_byte_length, sha256) = out.finish()?;
        stages.push(Stage { id, file, packed_byte_length, sha256 });
    }
    let written = Written {
        tensors: tensors.len(),
        stages: stages.len(),
        packed_byte_length: stages.iter().map(|stage| stage.packed_byte_length).sum(),
        digest: model.digest().to_owned(),
    };
    write_manifest(model, dir, &written, stages, tensors)?;
    Ok(written)
}

fn write_manifest(
    model: &Model,
    dir: &Path,
    written: &Written,
    stages: Vec<Stage>,
    tensors: Vec<Tensor>,
) -> Result<(), ModelError> {
    let digest = written.digest.as_str();
    let mut document = Document {
        totals: Totals {
            block_count: BLOCK_COUNT,
            tensor_count: written.tensors,
            stage_count: written.stages,
            packed_byte_length: written.packed_byte_length,
        },
        synthetic: None,
        starter: None,
        origin: None,
        stages,
        tensors,
    };
    match *model.provenance() {
        Provenance::Synthetic { preset, seed } => {
            // The name under which the generator's format is known, whoever runs it.
            let generator = "synth_model.py";
            document.synthetic = Some(Synthetic { generator, version: 1, seed, preset, digest });
        }
        Provenance::Starter => document.starter = Some(Origin { digest }),
        Provenance::Records => document.origin = Some(Origin { digest }),
    }
    let path = dir.join("manifest.json");
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b" "));
    document.serialize(&mut serializer).map_err(|e| ModelError::io("serialise", &path, std::io::Error::other(e)))?;
    text.push(b'\n');
    files::write(&path, &text).map_err(|e| ModelError::io("write", &path, e))
}

/// A stage file being written, with its length and digest so far.
struct StageFile {
    path: PathBuf,
    out: BufWriter<files::File>,
    position: usize,
    hash: Sha256,
}

impl StageFile {
    fn create(path: &Path) -> Result<Self, ModelError> {
        let file = files::create(path).map_err(|e| ModelError::io("create", path, e))?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file), position: 0, hash: Sha256::new() })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.hash.update(bytes);
        self.position += bytes.len();
        self.out.write_all(bytes).map_err(|e| ModelError::io("write", &self.path, e))
    }

    fn finish(mut self) -> Result<(usize, String), ModelError> {
        self.out.flush().map_err(|e| ModelError::io("write", &self.path, e))?;
        Ok((self.position, hex(&self.hash.finalize())))
    }
}

#[cfg(test)]
mod tests;
