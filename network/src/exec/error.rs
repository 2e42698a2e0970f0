//! What can go wrong between a plan and a device.

use thiserror::Error;

use crate::geometry::Extent;
use crate::model::ModelError;

/// Why a plan cannot be executed on a device.
#[derive(Debug, Error)]
pub enum ExecError {
    /// The device refused or failed.
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// The model lacks what the plan reads.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The activations of this size do not fit.
    #[error(
        "the activations of a {valid} frame need {need} bytes, over this device's {limit_name} of {limit}{}",
        .fits.map(|f| format!("; {f} fits")).unwrap_or_default()
    )]
    TooLarge {
        /// The valid rectangle.
        valid: Extent,
        /// Bytes of the arena.
        need: u64,
        /// What the device allows.
        limit: u64,
        /// Name of the limit.
        limit_name: &'static str,
        /// The largest size of about the same shape that fits, if any.
        fits: Option<Extent>,
    },
    /// This build lacks a shader, such as one for an unusual subgroup size.
    #[error("there is no shader {shader}; use the tile form of the kernels")]
    MissingShader {
        /// Name of the shader.
        shader: String,
    },
    /// The device cannot run a route.
    #[error("route {route} is not available on {device}: {reason}")]
    Unavailable {
        /// Name of the route.
        route: &'static str,
        /// Name of the device.
        device: String,
        /// What it lacks.
        reason: String,
    },
    /// The weights were made for another plan.
    #[error("the uploaded weights have nothing at byte {offset} of record {record}")]
    MissingWeight {
        /// Record name.
        record: String,
        /// Byte offset.
        offset: usize,
    },
    /// A row of a tensor alone exceeds a storage binding.
    #[error(
        "{work} lines of operation {op} exceed the device's storage bindings of {limit} bytes; use a smaller frame"
    )]
    RowTooLarge {
        /// Label of the operation.
        op: String,
        /// Smallest number of lines a dispatch covers.
        work: u64,
        /// Bytes a binding may cover.
        limit: u64,
    },
    /// The bytes for a tensor have the wrong length.
    #[error("tensor {tensor} takes {expected} bytes, not {got}")]
    TensorSize {
        /// Label of the tensor.
        tensor: String,
        /// Bytes of the tensor.
        expected: usize,
        /// Bytes given.
        got: usize,
    },
}
