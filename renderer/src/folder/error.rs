//! Why a scene folder is not loaded.

use crate::{gltf, panorama};
use std::path::PathBuf;

/// Why a scene folder is not loaded. Each message is one sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something in its JSON is wrong.
    #[error("{file} is wrong: {reason}")]
    Wrong {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Its model, or a file that it refers to.
    #[error(transparent)]
    Model(#[from] gltf::Error),
    /// The picture of its environment.
    #[error(transparent)]
    Environment(#[from] panorama::Error),
}

/// Result with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
