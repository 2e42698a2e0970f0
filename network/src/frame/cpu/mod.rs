//! The frame passes on the CPU, operation by operation as the shaders do them.

pub mod compose;
pub mod display;
pub mod math;
pub mod noise;
pub mod pipeline;
pub mod preprocess;
#[cfg(test)]
mod properties;
pub mod proxy;
pub mod sampling;
pub mod style;
#[cfg(test)]
pub(crate) mod temporal;
#[cfg(test)]
pub(crate) mod vectors;

pub use pipeline::{Composed, CpuFrame, Head, Image, compose_frame};
pub use preprocess::{LANES, Source, preprocess};
pub use sampling::{Half4, History};
