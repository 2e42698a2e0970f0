//! The passes around the network: preprocessing, composition, history, display (the frame part of the arithmetic contract).
//!
//! [`cpu`] holds every formula once for the CPU; the compute shaders in `shaders/glsl/frame` hold the same formulas
//! operation by operation, transcendental functions included, and give the same bits.

pub mod cpu;

mod clock;
mod parameters;

pub use clock::FrameClock;
pub use parameters::{CustomStyle, MIN_PAPER_WHITE, ParameterError, Parameters, Style, ranges};
