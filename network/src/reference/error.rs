//! Errors of the CPU reference.

use thiserror::Error;

use crate::model::ModelError;
use crate::plan::Format;

/// Why the reference cannot be built or an operation cannot be executed.
#[derive(Debug, Error)]
pub enum ReferenceError {
    /// The weights of an operation cannot be read.
    #[error("weights of operation {op}: {source}")]
    Weights {
        /// Label of the operation.
        op: String,
        /// What the model says.
        source: ModelError,
    },
    /// An operation got too many or too few inputs.
    #[error("operation {op} takes {expected} tensors, got {got}")]
    InputCount {
        /// Label of the operation.
        op: String,
        /// Inputs of the operation.
        expected: usize,
        /// Inputs given.
        got: usize,
    },
    /// An input has another shape or format than the plan says.
    #[error(
        "operation {op}: tensor {tensor} must hold {} elements of {:?}, got {} of {:?}",
        expected.0, expected.1, got.0, got.1
    )]
    Input {
        /// Label of the operation.
        op: String,
        /// Label of the tensor.
        tensor: String,
        /// Elements and format of the plan.
        expected: (usize, Format),
        /// Elements and format given.
        got: (usize, Format),
    },
    /// The plan reads a tensor before writing it.
    #[error("operation {op} reads tensor {tensor}, which no earlier operation writes")]
    Order {
        /// Label of the operation.
        op: String,
        /// Label of the tensor.
        tensor: String,
    },
    /// The plan never writes its head.
    #[error("the plan has no operation that writes its head")]
    NoHead,
}
