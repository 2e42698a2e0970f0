//! One dispatch of an operation.

use crate::plan::{OpId, TensorId};

use super::kernels::Kernel;
use super::weights::Slice;

/// What a binding of a step refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// Bytes of a tensor.
    Tensor {
        /// The tensor.
        id: TensorId,
        /// First byte within it.
        offset: u64,
        /// Bytes.
        range: u64,
    },
    /// Bytes of the weights.
    Weight(Slice),
    /// Bytes of the tensor route's weights.
    Tiles(Slice),
    /// The first bytes of the scratch buffer, which holds nothing beyond its operation.
    Scratch(u64),
}

/// One dispatch.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The operation it belongs to.
    pub op: OpId,
    /// What runs.
    pub kernel: Kernel,
    /// The bindings, by number.
    pub bound: Vec<Bound>,
    /// The push constants.
    pub push: Vec<u32>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Whether it reads what the step before it wrote.
    pub after: bool,
    /// Work, in multiply-accumulates or what takes about as long.
    pub cost: u64,
}
