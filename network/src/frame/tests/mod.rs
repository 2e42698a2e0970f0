//! The passes on the GPU against their CPU twins.

mod contraction;
mod math;
mod passes;
mod setup;
mod support;
mod temporal;
