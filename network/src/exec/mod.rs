//! Execution of a plan on the GPU.
//!
//! A [`Route`] chooses kernels; [`Kernels`] are its pipelines and [`Weights`] the re-laid-out weights, both tied to the
//! device. A [`Network`] belongs to one extent: the arena of activations, placed by the plan's lifetimes, and the
//! recorded form of every operation as a list of *steps*. A step is one dispatch; an operation whose tensors exceed a
//! storage binding, or that would run too long on a slow device, is split into several steps by rows. Some forms run
//! several operations in one kernel (the fusion module); the operations it covers then have no steps of their own.
//!
//! All work of a forward is issued by one function (the recorder module), whether a command buffer takes it, or the tape
//! of [`replay`](crate::replay). Barriers stand where the order of operations puts them and where the effects that the
//! shaders declare need them.

mod blocks;
mod certify;
mod describe;
mod error;
mod fusion;
mod guards;
mod kernels;
mod lower;
mod memory;
mod network;
mod recorder;
mod retained;
mod step;
pub mod tensor;
pub mod tune;
mod tuned;
mod variants;
mod weights;

pub use error::ExecError;
pub use kernels::{Kernels, Route, Tuning};
pub use memory::Memory;
pub use network::{BufferSlice, Network, NetworkOptions, Objects};
pub use retained::Retained;
pub use tuned::{Entry, Refusal, Table};
pub use variants::{Kind, Shape, Variant};
pub use weights::Weights;

#[cfg(test)]
mod matrix_model;
#[cfg(test)]
mod tape_tests;
#[cfg(test)]
mod tests;
