//! Why a file is not loaded.

use std::path::PathBuf;

/// Why a glTF file is not loaded. Each message is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is larger than may be read.
    #[error("{path} has {size} bytes, and at most {limit} are read")]
    FileSize {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// Most bytes.
        limit: u64,
    },
    /// Not glTF at all.
    #[error("{path} is not a glTF 2.0 file: {reason}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The asset needs an extension that is not supported.
    #[error("the asset needs the extension {}, which is not supported; export it without", messages::shortened(name))]
    Extension {
        /// Name of the extension.
        name: String,
    },
    /// More of something than may be.
    #[error("the asset has {count} {what}, and at most {limit} are loaded")]
    TooMany {
        /// Kind of thing.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A part of the asset is broken.
    #[error("{what} {index} of the asset is broken: {reason}")]
    Broken {
        /// Kind of part.
        what: &'static str,
        /// Its index.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// A reference to a file that may not be followed.
    #[error("the asset refers to {}, which is not a file in its own folder", messages::quoted(uri))]
    Outside {
        /// The reference.
        uri: String,
    },
    /// The reader of the JSON gave up, for a reason it does not tell.
    #[error("{path} is not a glTF 2.0 file that can be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
    /// Nothing to see.
    #[error("the asset has no triangles in its scene")]
    Empty,
    /// There is no scene of that number.
    #[error("the asset has no scene")]
    NoScene,
    /// There is none of the name or number that was asked for.
    #[error("the asset has no scene {}; it has {there}", messages::quoted(wanted))]
    OtherScene {
        /// What was asked for.
        wanted: String,
        /// The scenes that there are.
        there: String,
    },
    /// Whoever asked does not want it any more.
    #[error("loading was cancelled")]
    Cancelled,
}

impl Error {
    /// A broken part.
    pub(super) fn broken(what: &'static str, index: usize, reason: impl Into<String>) -> Self {
        Self::Broken { what, index, reason: reason.into() }
    }
}

/// Result with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
