//! Why a panorama is not loaded.

use std::path::PathBuf;

/// Why an environment's picture is not loaded. Each message is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Larger than may be read.
    #[error("{path} has {count} {what}, and at most {limit} are read")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes or pixels.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
    /// Neither of the two formats.
    #[error("{path} is neither a Radiance (.hdr) nor an OpenEXR (.exr) picture")]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// A file that is cut off or broken.
    #[error("{path} is broken: {reason}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A sound picture that cannot surround a scene.
    #[error("{path} cannot be an environment: {reason}")]
    Unsuitable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Result with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
