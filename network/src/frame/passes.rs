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

/// A form of the passes; all have the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For any device.
    Portable,
    /// For devices whose own instructions round as the contract does.
    Native,
    /// The native one with portable sums and conversions.
    #[cfg(test)]
    Model,
}

impl Form {
    /// Preprocess, composite and bypass.
    const fn shaders(self) -> [&'static str; 3] {
        match self {
            Self::Portable => ["frame/preprocess.portable", "frame/composite.portable", "frame/bypass.portable"],
            Self::Native => ["frame/preprocess.native", "frame/composite.native", "frame/bypass.native"],
            #[cfg(test)]
            Self::Model => {
                ["frame/preprocess.native_model", "frame/composite.native_model", "frame/bypass.native_model"]
            }
        }
    }
}

/// The pipelines of the passes, created for a kind of source when a frame first needs it.
pub struct Passes {
    device: Arc<Device>,
    form: Form,
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
        Self::in_form(device, native::form(device)?)
    }

    /// [`Passes::new`] in a form.
    pub(super) fn in_form(device: &Arc<Device>, form: Form) -> Result<Arc<Self>, FrameError> {
        let passes = Self { device: Arc::clone(device), form, kinds: Default::default() };
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
        let create = |name: &'static str| {
            let shader = shaders::shader(name).ok_or(FrameError::Shader { name })?;
            Ok::<_, FrameError>(ComputePipeline::new(&self.device, shader, &[(0, kind.index())], name)?)
        };
        let [preprocess, composite, bypass] = self.form.shaders();
        let pipelines = Arc::new(Pipelines {
            preprocess: create(preprocess)?,
            composite: create(composite)?,
            bypass: create(bypass)?,
        });
        Ok(Arc::clone(slot.get_or_init(|| pipelines)))
    }
}
