//! The passes on the GPU against their CPU twins.

mod math;
mod passes;
mod support;
mod temporal;
