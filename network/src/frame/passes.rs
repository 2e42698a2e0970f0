//! The compute pipelines of the passes; device lifetime.

use std::sync::{Arc, OnceLock};

use gpu::{ComputePipeline, Device};

use super::{FrameError, native};
use crate::geometry::Extent;

/// What the image at a frame's start holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Linear scene colour of the valid extent, 4 halves a pixel.
    Scene,
    /// Linear scene colour of the valid extent, 4 f32 a pixel.
    SceneF32,
    /// Proxy code values 0..=1, 4 f32 a pixel, of an image of this extent.
    Proxy(Extent),
}

impl SourceKind {
    /// Value of the shaders' specialization constant.
    const fn index(self) -> u32 {
        match self {
            Self::Scene => 0,
            Self::SceneF32 => 1,
            Self::Proxy(_) => 2,
        }
    }

    /// Extent of the image, for a frame of valid extent `valid`.
    pub(super) const fn extent(self, valid: Extent) -> Extent {
        match self {
            Self::Proxy(extent) => extent,
            _ => valid,
        }
    }

    /// Bytes of a pixel.
    pub const fn pixel_bytes(self) -> u64 {
        match self {
            Self::Scene => 8,
            _ => 16,
        }
    }

    /// Whether the image is scene light rather than code values.
    pub const fn is_scene(self) -> bool {
        !matches!(self, Self::Proxy(_))
    }
}

/// The pipelines of the passes, created for a kind of source when a frame first needs it.
pub struct Passes {
    device: Arc<Device>,
    /// Whether the native form runs; the portable one has the same bits.
    native: bool,
    kinds: [OnceLock<Arc<Pipelines>>; 3],
}

/// Pipelines for one kind of source.
pub(super) struct Pipelines {
    pub preprocess: ComputePipeline,
    pub composite: ComputePipeline,
    pub bypass: ComputePipeline,
}

impl Passes {
    /// The passes for frames rendered as [`SourceKind::Scene`]; those for other kinds follow on demand. Finds out which form
    /// the device takes.
    ///
    /// # Errors
    /// When the device cannot create a pipeline.
    pub fn new(device: &Arc<Device>) -> Result<Arc<Self>, FrameError> {
        Self::in_form(device, native::admitted(device)?)
    }

    /// [`Passes::new`] in the native form or the portable one.
    pub(super) fn in_form(device: &Arc<Device>, native: bool) -> Result<Arc<Self>, FrameError> {
        let passes = Self { device: Arc::clone(device), native, kinds: Default::default() };
        passes.pipelines(SourceKind::Scene)?;
        Ok(Arc::new(passes))
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(super) fn pipelines(&self, kind: SourceKind) -> Result<Arc<Pipelines>, FrameError> {
        let slot = &self.kinds[kind.index() as usize];
        if let Some(pipelines) = slot.get() {
            return Ok(Arc::clone(pipelines));
        }
        let create = |portable: &'static str, native: &'static str| {
            let name = if self.native { native } else { portable };
            let shader = shaders::shader(name).ok_or(FrameError::Shader { name })?;
            Ok::<_, FrameError>(ComputePipeline::new(&self.device, shader, &[(0, kind.index())], name)?)
        };
        let pipelines = Arc::new(Pipelines {
            preprocess: create("frame/preprocess.portable", "frame/preprocess.native")?,
            composite: create("frame/composite.portable", "frame/composite.native")?,
            bypass: create("frame/bypass.portable", "frame/bypass.native")?,
        });
        Ok(Arc::clone(slot.get_or_init(|| pipelines)))
    }
}
