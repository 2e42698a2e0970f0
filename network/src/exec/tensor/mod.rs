//! The routes on matrix units (cooperative matrices): every multiply and attention of the plan.
//!
//! `tensor` multiplies halves. E4M3 operands are exact halves, so only the sums differ from the contract: the device adds sixteen
//! products with its own truncation before it rounds to half. The route is therefore never called exact. Everything else, from
//! seeds to publication, is computed as in the exact route.
//!
//! `float8` multiplies E4M3 codes and is the same kernels otherwise. Where the units do the F13 step it is exact; [`float8`]
//! finds out.
//!
//! [`Groups`] says which operations of a plan run in one kernel, [`Lowering`] turns a group into dispatches and
//! [`TensorWeights`] holds the weights in tiles of halves or codes.

pub mod float8;
mod fragments;
mod groups;
mod kernel;
mod lower;
mod support;
mod tiles;
mod weights;

pub(super) use fragments::Fragments;
pub(super) use groups::Groups;
pub use kernel::Operands;
pub(super) use kernel::{Form, TensorKernel};
pub(super) use lower::Lowering;
pub use support::missing;
pub(super) use weights::TensorWeights;

#[cfg(test)]
mod tests;
