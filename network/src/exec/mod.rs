//! Execution of a plan on the GPU.
//!
//! A [`Route`] chooses kernels; [`Kernels`] are its pipelines and [`Weights`] the re-laid-out weights, both tied to the
//! device. A [`Network`] belongs to one extent: the arena of activations, placed by the plan's lifetimes, and the
//! recorded form of every operation as a list of *steps*. A step is one dispatch; an operation whose tensors exceed a
//! storage binding, or that would run too long on a slow device, is split into several steps by rows. Some forms run
//! several operations in one kernel (the fusion module); the operations it covers then have no steps of their own.

mod blocks;
mod certify;
mod error;
mod fusion;
mod kernels;
mod lower;
mod memory;
mod network;
mod step;
mod weights;

pub use error::ExecError;
pub use kernels::{Kernels, Route, Tuning};
pub use memory::Memory;
pub use network::{BufferSlice, Network, NetworkOptions};
pub use weights::Weights;

#[cfg(test)]
mod tests;
