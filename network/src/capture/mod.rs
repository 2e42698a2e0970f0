//! Capture bundles: recorded frames with every input and output, for another device, route, implementation or day.
//!
//! A bundle is a folder: `manifest.json` and one folder a frame with `frame.json`, raw little-endian tensors, an OpenEXR
//! file for looking and PNG files as presented. Every file's SHA-256 is recorded, and both documents carry one of
//! themselves, so that any changed bit is found. `docs/capture-format.md` describes the format for other readers.
//!
//! [`Writer`] publishes whole frames only; [`Recorder`] runs it on a thread behind a bounded queue. [`Capture::open`]
//! checks everything before it gives anything.

mod error;
mod frame;
mod layout;
mod parameters;
mod picture;
mod reader;
mod recorder;
mod schema;
mod seal;
mod tensor;
mod writer;

pub use error::{CaptureError, CaptureProblem};
pub use frame::{CapturedFrame, FrameInfo};
pub use layout::{Expected, expected, tensor_name};
pub use parameters::FrameParameters;
pub use reader::{Capture, RecordedFrame};
pub use recorder::Recorder;
pub use schema::{
    CameraPose, Check, DeviceIdentity, Extents, Header, ModelName, MotionConvention, Program, RouteIdentity,
    SCHEMA_VERSION, SourceIdentity,
};
pub use tensor::{DType, Tensor};
pub use writer::{Pictures, Writer};

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    crate::model::records::hex(&sha2::Sha256::digest(bytes))
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
