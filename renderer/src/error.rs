//! Errors of the renderer.

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a frame cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device layer said no.
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// A shader is not in the program.
    #[error("shader \"{name}\" is not part of this program; run build-shaders and build again")]
    Shader {
        /// Name of the shader.
        name: &'static str,
    },
    /// An image without pixels.
    #[error("an image of {width} x {height} pixels cannot be rendered; each side must be at least 1")]
    Empty {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// A scene with more than the tables hold.
    #[error("scene \"{scene}\" has {count} {what}, and at most {limit} can be rendered")]
    TooMany {
        /// Name of the scene.
        scene: String,
        /// Kind of thing.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A renderer was prepared for another model than the scene's.
    #[error("scene \"{scene}\" cannot be drawn by a renderer that was prepared for another model")]
    OtherModel {
        /// Name of the scene.
        scene: String,
    },
    /// A renderer was prepared for other surroundings than the scene's.
    #[error("scene \"{scene}\" cannot be drawn by a renderer that was prepared for another environment")]
    OtherEnvironment {
        /// Name of the scene.
        scene: String,
    },
    /// A model with more geometry than the device takes in one buffer.
    #[error(
        "model \"{model}\" takes {need} MiB of geometry, and this device takes at most {limit} MiB; simplify the model"
    )]
    ModelTooLarge {
        /// Name of the model.
        model: String,
        /// MiB it takes.
        need: u64,
        /// MiB that fit.
        limit: u64,
    },
    /// Something in a scene refers to something that isn't there.
    #[error("scene \"{scene}\": {from} refers to {what} {index}, but there are only {count}")]
    Reference {
        /// Name of the scene.
        scene: String,
        /// What refers.
        from: String,
        /// Kind of thing referred to.
        what: &'static str,
        /// The index given.
        index: usize,
        /// Number of such things.
        count: usize,
    },
}
