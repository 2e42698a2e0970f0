//! A frame of a capture in memory.

use serde::{Deserialize, Serialize};

use super::parameters::FrameParameters;
use super::schema::CameraPose;
use super::tensor::Tensor;

/// What is known of a frame beside its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FrameInfo {
    /// Place in the sequence of the source; consecutive in a bundle.
    pub number: u32,
    /// Whether a reset came before the frame.
    pub reset: bool,
    /// Everything that the frame passes were given; its `historyValid` is the history's validity.
    pub parameters: FrameParameters,
    /// Seconds of the animation, where there is one.
    pub time: Option<f64>,
    /// Offset of the sample from the pixel centre, in pixels.
    pub jitter: Option<[f32; 2]>,
    /// The camera.
    pub camera: Option<CameraPose>,
    /// The camera of the frame before.
    pub previous_camera: Option<CameraPose>,
}

/// A frame with all its tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedFrame {
    /// Everything else.
    pub info: FrameInfo,
    /// The tensors.
    pub tensors: Vec<Tensor>,
}

impl CapturedFrame {
    /// The tensor of that name.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Bytes of all tensors.
    pub fn bytes(&self) -> usize {
        self.tensors.iter().map(|tensor| tensor.bytes.len()).sum()
    }
}
