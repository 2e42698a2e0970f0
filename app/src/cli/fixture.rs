//! A frame of a capture as a parity fixture, for implementations that read those.

use anyhow::Result;
use network::capture::{CapturedFrame, DType, Tensor};
use network::geometry::Geometry;
use network::numerics::half;
use network::parity::{RecordedInput, RecordedOutput, Recording};

use super::capture::required;

/// Features, head, boundaries and the 8-bit picture of a frame, as a fixture holds them.
pub struct Recorded<'a> {
    geometry: &'a Geometry,
    features: Vec<f32>,
    head: Vec<f32>,
    boundaries: Vec<(&'a str, &'a [u8])>,
    /// The composed colour in 8 bits, where the fixture's rule (no history) gives it.
    output: Option<Vec<u8>>,
}

impl<'a> Recorded<'a> {
    /// Takes what a fixture can hold from a frame.
    ///
    /// # Errors
    /// The frame lacks features or head.
    pub fn of(geometry: &'a Geometry, frame: &'a CapturedFrame) -> Result<Self> {
        let widened = |tensor: &Tensor| tensor.as_halves().into_iter().map(half::to_f32).collect();
        let is_boundary = |tensor: &&Tensor| {
            tensor.dtype == DType::E4m3 && (tensor.name.starts_with("block-") || tensor.name.starts_with("transition-"))
        };
        let boundaries = frame.tensors.iter().filter(is_boundary).map(|t| (t.name.as_str(), t.bytes.as_slice()));
        let output = if frame.info.parameters.history_valid {
            None
        } else {
            let composed = required(frame, "next-history")?.as_halves();
            let code = |&bits: &u16| network::frame::cpu::compose::code(half::to_f32(bits));
            Some(composed.iter().map(code).collect())
        };
        Ok(Self {
            geometry,
            features: widened(required(frame, "features")?),
            head: widened(required(frame, "head")?),
            boundaries: boundaries.collect(),
            output,
        })
    }

    /// The fixture.
    pub fn recording(&self) -> Recording<'_> {
        Recording {
            geometry: self.geometry,
            input: RecordedInput::Features(&self.features),
            boundaries: &self.boundaries,
            head: Some(&self.head),
            output: self.output.as_deref().map(RecordedOutput::U8),
        }
    }
}
