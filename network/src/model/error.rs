//! Errors of weight models.

use std::io;
use std::path::PathBuf;

/// Why a model cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The manifest is missing or unreadable.
    #[error("cannot read manifest {path}: {source}", path = path.display())]
    ReadManifest {
        /// The manifest file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing is where the model should be.
    #[error("there is no such file or folder: {path}", path = path.display())]
    Missing {
        /// What was named.
        path: PathBuf,
    },
    /// Not JSON, or a required key is absent or of the wrong type.
    #[error("invalid manifest {path}: {key}: {problem}", path = path.display())]
    InvalidManifest {
        /// The manifest file.
        path: PathBuf,
        /// The key, as `stages[3].sha256`; `document` when the text is not JSON.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// `totals.blockCount` is not 71.
    #[error("wrong block count: the manifest says {found}, the network has {expected}")]
    WrongBlockCount {
        /// What the manifest says.
        found: u64,
        /// 71.
        expected: u64,
    },
    /// A stage id is empty or repeated, or its file leaves the model directory.
    #[error("invalid stage {id}: {problem}", id = messages::quoted(id))]
    InvalidStage {
        /// The stage's id.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A stage file is missing or unreadable.
    #[error("cannot read stage {id}, file {path}: {source}", path = path.display(), id = messages::quoted(id))]
    ReadStage {
        /// The stage's id.
        id: String,
        /// Its file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A stage file's length differs from `packedByteLength`.
    #[error(
        "stage size mismatch: {id} has {found} bytes, its manifest says {expected}; the file is incomplete or from another model",
        id = messages::quoted(id)
    )]
    StageSize {
        /// The stage's id.
        id: String,
        /// Length of the file.
        found: u64,
        /// `packedByteLength`.
        expected: u64,
    },
    /// A stage file's digest differs.
    #[error("stage SHA-256 mismatch: {id} is {found}, its manifest says {expected}", id = messages::quoted(id))]
    StageDigest {
        /// The stage's id.
        id: String,
        /// Digest of the file.
        found: String,
        /// Digest in the manifest.
        expected: String,
    },
    /// A tensor names a stage that the manifest does not list.
    #[error(
        "unknown stage {stage}, named by tensor {tensor}",
        stage = messages::quoted(stage), tensor = messages::quoted(tensor)
    )]
    UnknownStage {
        /// The tensor.
        tensor: String,
        /// The stage it names.
        stage: String,
    },
    /// `stageOffset + byteLength` overflows or passes the end of the stage.
    #[error(
        "tensor {tensor} exceeds stage {stage}: offset {offset} and {length} bytes in a stage of {stage_length}",
        tensor = messages::quoted(tensor), stage = messages::quoted(stage)
    )]
    TensorExceedsStage {
        /// The tensor.
        tensor: String,
        /// Its stage.
        stage: String,
        /// `stageOffset`.
        offset: u64,
        /// `byteLength`.
        length: u64,
        /// Bytes of the stage.
        stage_length: u64,
    },
    /// Two tensors of one name.
    #[error("duplicate tensor {}", messages::quoted(.0))]
    DuplicateTensor(String),
    /// A record of the network is absent.
    #[error("missing tensor {}", messages::quoted(.0))]
    MissingTensor(String),
    /// A tensor of a name that the network does not have, where only its records may stand.
    #[error("unknown tensor {}: the network has no such record", messages::quoted(.0))]
    UnknownTensor(String),
    /// A record whose length is part of the format has another length.
    #[error(
        "unexpected layout of block {block}: {record} has {found} bytes, not {expected}",
        record = messages::quoted(record)
    )]
    UnexpectedLayout {
        /// The block.
        block: u32,
        /// The record.
        record: String,
        /// Its length.
        found: usize,
        /// The length of its layout.
        expected: usize,
    },
    /// A matrix, vector, prior or scale reaches past its tensor.
    #[error(
        "{field} at byte {offset}, {length} bytes long, exceeds tensor {record} of {record_length} bytes",
        record = messages::quoted(record)
    )]
    ExceedsTensor {
        /// The record.
        record: String,
        /// The field, or what was asked for.
        field: String,
        /// Its byte offset.
        offset: usize,
        /// Its length in bytes.
        length: usize,
        /// Bytes of the record.
        record_length: usize,
    },
    /// A matrix whose shape has no packed form.
    #[error("bad matrix shape in {record}: {k} x {n}, {rule}", record = messages::quoted(record))]
    BadMatrixShape {
        /// The record.
        record: String,
        /// Input channels.
        k: usize,
        /// Output channels.
        n: usize,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Something is larger than this program accepts.
    #[error("{what} is too large: {found} bytes, at most {limit} are accepted")]
    TooLarge {
        /// The object.
        what: String,
        /// Its size in bytes.
        found: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The bytes of a weight container are not one.
    #[error("invalid weight container {name}: {problem}")]
    InvalidContainer {
        /// The container's name or file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The `--model` argument names no preset and no file or directory.
    #[error(
        "unknown model {argument}: {problem}; give a model directory, a weight container, or one of {choices}",
        argument = messages::quoted(argument)
    )]
    UnknownSource {
        /// The argument.
        argument: String,
        /// Why it is not one of the choices.
        problem: String,
        /// The choices.
        choices: &'static str,
    },
    /// A directory cannot be replaced because it is not (only) a model.
    #[error("refusing to write a model to {path}: {problem}; name a new or empty directory", path = path.display())]
    RefusedTarget {
        /// The directory.
        path: PathBuf,
        /// What stands in the way.
        problem: String,
    },
    /// Reading or writing failed.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried: `read`, `write`, `create`, ...
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ModelError {
    /// An I/O error with its object.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }
}
