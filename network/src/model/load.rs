//! Loader of portable model directories (weights section 1).
//!
//! Everything that the manifest alone can get wrong is refused before a stage file is opened, and no buffer is
//! allocated before the file's size has been compared with the manifest.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::error::ModelError;
use super::files::{file_length, inside, read_exactly, read_manifest};
use super::layout;
use super::manifest::{self, Manifest, StageEntry};
use super::records::{Model, Provenance, check_length, complete, hex};

/// Most bytes of all stage files together: seven times a model of the documented size.
const MAX_STAGES: u64 = 1 << 30;

/// Whether the directory holds a `manifest.json`.
pub fn is_model_directory(dir: &Path) -> bool {
    dir.join("manifest.json").is_file()
}

/// Loads a model directory. With `verify`, the SHA-256 of every stage file is checked.
///
/// # Errors
/// Every condition of weights section 1; the message names the manifest key, stage or tensor.
pub fn load(dir: &Path, verify: bool) -> Result<Model, ModelError> {
    let (text, path) = read_manifest(dir)?;
    let manifest = manifest::parse(&text, &path)?;
    let files = stage_files(dir, &manifest.stages)?;
    let spans = tensor_spans(&manifest)?;
    let storage = manifest
        .stages
        .par_iter()
        .zip(&files)
        .map(|(stage, file)| read_stage(stage, file, verify))
        .collect::<Result<Vec<_>, _>>()?;
    Model::from_spans(super::source::public_name(dir), Provenance::Records, storage, spans)
}

/// Checks ids, names and the total size; the path of every stage file.
fn stage_files(dir: &Path, stages: &[StageEntry]) -> Result<Vec<PathBuf>, ModelError> {
    let base = dir.join("model");
    let mut ids = HashSet::new();
    let mut total = 0u64;
    let mut files = Vec::with_capacity(stages.len());
    for stage in stages {
        let invalid = |problem: &str| ModelError::InvalidStage { id: stage.id.clone(), problem: problem.to_owned() };
        if stage.id.is_empty() {
            return Err(invalid("its id is empty"));
        }
        if !ids.insert(stage.id.as_str()) {
            return Err(invalid("its id is repeated"));
        }
        files.push(inside(&base, &stage.file).map_err(invalid)?);
        total = total.saturating_add(stage.length);
    }
    if total > MAX_STAGES {
        let what = "the sum of the stage files".to_owned();
        return Err(ModelError::TooLarge { what, found: total, limit: MAX_STAGES });
    }
    Ok(files)
}

/// The place of every record of the network: stage index and byte range.
fn tensor_spans(manifest: &Manifest) -> Result<Vec<(usize, Range<usize>)>, ModelError> {
    let stages: HashMap<&str, usize> =
        manifest.stages.iter().enumerate().map(|(index, stage)| (stage.id.as_str(), index)).collect();
    let mut names = HashSet::new();
    let mut found = vec![None; layout::RECORD_COUNT];
    for tensor in &manifest.tensors {
        if !names.insert(tensor.name.as_str()) {
            return Err(ModelError::DuplicateTensor(tensor.name.clone()));
        }
        let &stage = stages
            .get(tensor.stage.as_str())
            .ok_or_else(|| ModelError::UnknownStage { tensor: tensor.name.clone(), stage: tensor.stage.clone() })?;
        let stage_length = manifest.stages[stage].length;
        let end = tensor.offset.checked_add(tensor.length).filter(|&end| end <= stage_length);
        let range = end.and_then(|end| Some(usize::try_from(tensor.offset).ok()?..usize::try_from(end).ok()?));
        let Some(range) = range else {
            return Err(ModelError::TensorExceedsStage {
                tensor: tensor.name.clone(),
                stage: tensor.stage.clone(),
                offset: tensor.offset,
                length: tensor.length,
                stage_length,
            });
        };
        // Tensors that the network does not have are allowed and left alone.
        if let Some(index) = layout::index(&tensor.name) {
            check_length(&layout::records()[index], range.len())?;
            found[index] = Some((stage, range));
        }
    }
    complete(found)
}

fn read_stage(stage: &StageEntry, file: &Path, verify: bool) -> Result<Arc<Vec<u8>>, ModelError> {
    let fail = |source| ModelError::ReadStage { id: stage.id.clone(), path: file.to_owned(), source };
    let found = file_length(file).map_err(fail)?;
    if found != stage.length {
        return Err(ModelError::StageSize { id: stage.id.clone(), found, expected: stage.length });
    }
    let bytes = read_exactly(file, found).map_err(fail)?;
    if verify {
        let digest = hex(&Sha256::digest(&bytes));
        if digest != stage.sha256 {
            let expected = stage.sha256.clone();
            return Err(ModelError::StageDigest { id: stage.id.clone(), found: digest, expected });
        }
    }
    Ok(Arc::new(bytes))
}

#[cfg(test)]
mod tests;
