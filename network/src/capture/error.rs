//! What can be wrong with a capture.

use std::path::PathBuf;

use thiserror::Error;

/// Why a capture cannot be written or read.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// A file or folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder is no capture.
    #[error("{} is not a capture: it has no manifest.json of format {}", .0.display(), super::schema::FORMAT)]
    NotACapture(PathBuf),
    /// The bundle is defective; nothing of it is used.
    #[error("capture {} is refused:{}", path.display(), messages::lines(problems))]
    Invalid {
        /// The bundle.
        path: PathBuf,
        /// Everything that is wrong.
        problems: Vec<CaptureProblem>,
    },
    /// A frame to be written does not fit the bundle.
    #[error("frame {number} does not fit the capture: {problem}")]
    Frame {
        /// Its number.
        number: u32,
        /// What is wrong.
        problem: String,
    },
    /// A capture that is there cannot be continued.
    #[error("capture {} cannot be continued: {problem}", path.display())]
    Resume {
        /// The bundle.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A picture cannot be encoded.
    #[error("cannot encode {file}: {problem}")]
    Encode {
        /// The file.
        file: String,
        /// What the encoder said.
        problem: String,
    },
    /// The recording thread has ended early.
    #[error("the thread that writes the capture has ended")]
    Stopped,
}

/// One defect of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaptureProblem {
    /// A document cannot be read as one.
    #[error("{file}: {problem}")]
    Document {
        /// Path in the bundle.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A file or folder that the documents name is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// A file or folder that no document names.
    #[error("{0} is not part of the capture")]
    Extra(String),
    /// A file has another size than recorded.
    #[error("{file} has {found} bytes instead of {expected}")]
    Size {
        /// Path in the bundle.
        file: String,
        /// Bytes found.
        found: u64,
        /// Bytes recorded.
        expected: u64,
    },
    /// A file has another SHA-256 than recorded.
    #[error("{0} has been changed: its SHA-256 is not the recorded one")]
    Digest(String),
    /// A file cannot be read.
    #[error("{file} cannot be read: {problem}")]
    Unreadable {
        /// Path in the bundle.
        file: String,
        /// What the system said.
        problem: String,
    },
}
