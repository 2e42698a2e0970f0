//! The passes around the network: preprocessing, composition, history, display (the frame part of the arithmetic contract).
//!
//! [`cpu`] holds every formula once for the CPU; the compute shaders in `shaders/glsl/frame` hold the same formulas
//! operation by operation, transcendental functions included, and give the same bits on every device. [`Passes`] are the
//! shaders' pipelines, a [`Frame`] the passes of one extent.

pub mod cpu;

mod block;
mod clock;
mod error;
mod gpu_frame;
mod native;
mod parameters;
mod passes;
mod preview;
#[cfg(test)]
mod tests;

pub use block::dynamic_fields;
pub use clock::FrameClock;
pub use error::FrameError;
pub use gpu_frame::{Frame, FrameInputs, FrameObjects};
pub use parameters::{CustomStyle, MIN_PAPER_WHITE, ParameterError, Parameters, Style, ranges};
pub use passes::{Passes, SourceKind};
pub use preview::Preview;
