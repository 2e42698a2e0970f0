//! The tensor route: every multiply and attention of the plan on matrix units that multiply halves (cooperative matrices).
//!
//! E4M3 operands are exact halves, so only the sums differ from the contract: the device adds sixteen products with its own
//! truncation before it rounds to half. The route is therefore never called exact. Everything else, from seeds to
//! publication, is computed as in the exact route.
//!
//! [`Groups`] says which operations of a plan run in one kernel, [`Lowering`] turns a group into dispatches and
//! [`TensorWeights`] holds the weights in tiles of halves.

mod fragments;
mod groups;
mod kernel;
mod lower;
mod support;
mod tiles;
mod weights;

pub(super) use fragments::Fragments;
pub(super) use groups::Groups;
pub(super) use kernel::TensorKernel;
pub(super) use lower::Lowering;
pub use support::missing;
pub(super) use weights::TensorWeights;

#[cfg(test)]
mod tests;
