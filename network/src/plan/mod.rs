//! The 71 blocks as data.
//!
//! A [`Plan`] is a list of tensors and a list of typed operations over them, in the order of the network's graph
//! (network section 5). One pure function, [`Plan::new`], builds it from the geometry. Everything that deals with the
//! network reads the plan: the CPU reference, the GPU routes, the cost model, profiler labels, parity, bisecting.
//! The plan knows nothing of Vulkan and holds no weight bytes, only references into the records of a model.

mod blocks;
mod build;
mod cost;
mod lifetime;
mod op;
#[cfg(test)]
pub(crate) mod properties;
mod tensor;
#[cfg(test)]
mod tests;
mod weights;

pub use cost::Cost;
pub use lifetime::{Arena, ArenaSlot, Lifetime, largest_cut, lifetimes};
pub use op::{
    Adapter, Gemm, Head, Merge, Normalise, Op, OpId, OpKind, Pool, PostBlend, Seed, VitAttention, WindowAttention,
};
pub use tensor::{Format, Tensor, TensorId};
pub use weights::{MatrixF16Ref, MatrixRef, PriorRef, ScaleRef, VectorRef};

use crate::geometry::Geometry;

/// The network for one geometry: tensors, and operations in execution order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The valid rectangle, the padded field and the six levels.
    pub geometry: Geometry,
    /// Every tensor of the frame, indexed by [`TensorId`].
    pub tensors: Vec<Tensor>,
    /// The operations, in an order that satisfies every dependency.
    pub ops: Vec<Op>,
    /// Input: `[field rows][16]` halves (frame section 2, rounded as in graph step 1).
    pub features: TensorId,
    /// Output: `[field rows][4]` halves, RGB residual and temporal logit (graph step 26).
    pub head: TensorId,
}

impl Plan {
    /// Builds the plan of all 71 blocks (network section 5) for a geometry.
    pub fn new(geometry: &Geometry) -> Self {
        build::plan(geometry)
    }

    /// The tensor behind an id of this plan.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    /// The operation behind an id of this plan.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.0 as usize]
    }

    /// The stage that a block belongs to, such as `encoder 64`; blocks of a stage have the same shapes.
    pub fn stage(block: u32) -> String {
        blocks::stage_name(block)
    }

    /// The tensors that carry a boundary name (network section 6), in graph order.
    pub fn boundaries(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.tensors.iter().enumerate().filter(|(_, t)| t.boundary.is_some()).map(|(i, t)| (TensorId(i as u32), t))
    }

    /// The tensor with a boundary name such as `block-5`, `transition-4-5` or `pooled-4-5`.
    pub fn boundary(&self, name: &str) -> Option<TensorId> {
        self.boundaries().find(|(_, t)| t.boundary.as_deref() == Some(name)).map(|(id, _)| id)
    }
}
