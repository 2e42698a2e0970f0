//! What can go wrong around the network.

use thiserror::Error;

/// Why the passes of a frame cannot be set up or used.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The device refused or failed.
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// The program was built without a shader.
    #[error("shader {name} is missing from this build; run build-shaders")]
    Shader {
        /// Name of the shader.
        name: &'static str,
    },
    /// A buffer given to the passes is smaller than the frame.
    #[error("{what} has {got} bytes, a frame of this size needs {need}")]
    TooSmall {
        /// Which buffer.
        what: &'static str,
        /// Its bytes.
        got: u64,
        /// Bytes needed.
        need: u64,
    },
}
