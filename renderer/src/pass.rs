//! The pass that renders a scene.

use crate::error::{Error, Result};
use crate::gbuffer::GBuffer;
use crate::gpu_data;
use crate::resident::Resident;
use crate::scene::Scene;
use crate::surround::Surround;
use crate::view::View;
use gpu::{CommandBuffer, ComputePipeline, Device};
use std::sync::Arc;

/// Samples of all pixels together that one dispatch takes, so that none runs for long.
const DISPATCH_SAMPLES: u64 = 1 << 22;
/// The same on a device that is a CPU.
const DISPATCH_SAMPLES_CPU: u64 = 1 << 16;

/// Renders scenes. Lives as long as its device.
pub struct Renderer {
    single: ComputePipeline,
    accumulate: ComputePipeline,
    model: Option<Resident>,
    surround: Surround,
    dispatch_samples: u64,
}

/// Some of a frame's samples a pixel.
#[derive(Clone, Copy)]
struct Bundle {
    first: u32,
    count: u32,
    of: u32,
}

/// One of some bands of rows, from the top, that a frame is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// Which one, counted from zero.
    pub number: u32,
    /// Of how many, at least one.
    pub of: u32,
}

impl Band {
    /// All rows.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Which of so many rows of workgroups are its own.
    fn rows(self, all: u32) -> std::ops::Range<u32> {
        let of = u64::from(self.of.max(1));
        let end = |bands: u32| (u64::from(all) * u64::from(bands).min(of) / of) as u32;
        end(self.number)..end(self.number.saturating_add(1))
    }
}

/// Constant of the shaders: whether to search ahead for the next batch instead of branching.
const SEARCH_AHEAD: u32 = 0;

/// Constants of the shaders for models: whether anything has alpha, and a picture.
const HAS_ALPHA: u32 = 1;
const HAS_TEXTURES: u32 = 2;
/// Constant of the shaders: whether there are maps of an environment.
const HAS_ENVIRONMENT: u32 = 3;

fn pipeline(
    device: &Arc<Device>,
    name: &'static str,
    model: Option<&Resident>,
    surround: &Surround,
) -> Result<ComputePipeline> {
    let shader = shaders::shader(name).ok_or(Error::Shader { name })?;
    let mut constants =
        vec![(SEARCH_AHEAD, u32::from(device.caps().is_cpu)), (HAS_ENVIRONMENT, u32::from(surround.is_any()))];
    if let Some(model) = model {
        constants.extend([(HAS_ALPHA, u32::from(model.has_alpha())), (HAS_TEXTURES, u32::from(model.has_textures()))]);
    }
    Ok(ComputePipeline::based(device, shader, &constants, name)?)
}

impl Renderer {
    /// Prepares the pipelines, for scenes without a triangle model and without an environment.
    ///
    /// # Errors
    /// A device error.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        Self::for_scene(device, &Scene { environment: None, ..Scene::empty() })
    }

    /// Prepares the pipelines and puts the scene's model and environment, if it has them, on the
    /// device. Other scenes with the same model, and with the same environment or none, can be
    /// rendered too; rotation and intensity of an environment may change from frame to frame.
    ///
    /// # Errors
    /// A device error, or a model that is too large for the device.
    pub fn for_scene(device: &Arc<Device>, scene: &Scene) -> Result<Self> {
        let model = scene.model.as_ref().map(|model| Resident::new(device, model)).transpose()?;
        let surround = Surround::new(device, scene)?;
        let is_cpu = device.caps().is_cpu;
        let [single, accumulate] = match model {
            Some(_) => ["scene/trace.model_single", "scene/trace.model_accumulate"],
            None => ["scene/trace.single", "scene/trace.accumulate"],
        };
        Ok(Self {
            single: pipeline(device, single, model.as_ref(), &surround)?,
            accumulate: pipeline(device, accumulate, model.as_ref(), &surround)?,
            model,
            surround,
            dispatch_samples: if is_cpu { DISPATCH_SAMPLES_CPU } else { DISPATCH_SAMPLES },
        })
    }

    /// Makes the maps of another environment, for a scene with the same model. No frame may be
    /// in work.
    ///
    /// # Errors
    /// A device error.
    pub fn surround(&mut self, device: &Arc<Device>, scene: &Scene) -> Result<()> {
        if self.surround.is_of(scene) {
            return Ok(());
        }
        let had = self.surround.is_any();
        self.surround = Surround::new(device, scene)?;
        if !had {
            let names = [self.single.shader().name, self.accumulate.shader().name];
            self.single = pipeline(device, names[0], self.model.as_ref(), &self.surround)?;
            self.accumulate = pipeline(device, names[1], self.model.as_ref(), &self.surround)?;
        }
        Ok(())
    }

    /// Number of parts a frame falls into: dispatches that may go into submissions of their
    /// own, so that a frame of many samples never keeps the device busy for long.
    #[must_use]
    pub fn parts(&self, target: &GBuffer, view: &View) -> u32 {
        view.samples.max(1).div_ceil(self.samples_per_part(target))
    }

    /// Samples a pixel of each of [`Renderer::parts`] but the last.
    #[must_use]
    pub fn samples_per_part(&self, target: &GBuffer) -> u32 {
        let pixels = u64::from(target.width()) * u64::from(target.height());
        (self.dispatch_samples / pixels).clamp(1, 64) as u32
    }

    /// Records the whole frame. Work recorded or submitted before may still read the former
    /// frame; dispatches recorded after see this one.
    ///
    /// # Errors
    /// When the scene is too large or broken, or a device error.
    pub fn record(&self, commands: &mut CommandBuffer, target: &GBuffer, scene: &Scene, view: &View) -> Result<()> {
        (0..self.parts(target, view)).try_for_each(|part| self.record_part(commands, target, scene, view, part))
    }

    /// Records one of [`Renderer::parts`]; all of them in order make the frame, and after each the
    /// colour is the mean of the samples so far. Parts past the last record nothing.
    ///
    /// # Errors
    /// When the scene is too large or broken, or a device error.
    pub fn record_part(
        &self,
        commands: &mut CommandBuffer,
        target: &GBuffer,
        scene: &Scene,
        view: &View,
        part: u32,
    ) -> Result<()> {
        let samples = view.samples.max(1);
        let per_part = self.samples_per_part(target);
        let first = part.saturating_mul(per_part);
        if first >= samples {
            return Ok(());
        }
        let bundle = Bundle { first, count: per_part.min(samples - first), of: samples };
        self.record_rows(commands, target, scene, view, bundle, Band::WHOLE)
    }

    /// Records a band of a frame of one sample a pixel. All bands of a frame in order, in as many submissions as one likes,
    /// make the frame, so that one that takes long does not keep the device busy all the while. A frame of more samples
    /// is one band, the first.
    ///
    /// # Errors
    /// When the scene is too large or broken, or a device error.
    pub fn record_band(
        &self,
        commands: &mut CommandBuffer,
        target: &GBuffer,
        scene: &Scene,
        view: &View,
        band: Band,
    ) -> Result<()> {
        match view.samples.max(1) {
            1 => self.record_rows(commands, target, scene, view, Bundle { first: 0, count: 1, of: 1 }, band),
            _ if band.number == 0 => self.record(commands, target, scene, view),
            _ => Ok(()),
        }
    }

    fn record_rows(
        &self,
        commands: &mut CommandBuffer,
        target: &GBuffer,
        scene: &Scene,
        view: &View,
        bundle: Bundle,
        band: Band,
    ) -> Result<()> {
        let model = self.model.as_ref();
        if !Resident::is_of(model, scene) {
            return Err(Error::OtherModel { scene: scene.name.to_string() });
        }
        let surround = &self.surround;
        if !surround.is_of(scene) {
            return Err(Error::OtherEnvironment { scene: scene.name.to_string() });
        }
        let tables = gpu_data::pack(scene, view, target.width(), target.height())?;
        commands.label_begin("scene");
        // The tables travel in the command stream, so frames in flight each have their own.
        commands.compute_to_transfer_barrier();
        commands.update_buffer(target.tables(), 0, &tables);
        if let Some(model) = model {
            model.record_frame(commands, scene, view);
        }
        commands.transfer_to_compute_barrier();
        let groups = |pipeline: &ComputePipeline| {
            let [x, y, _] = pipeline.workgroup_size();
            let rows = band.rows(target.height().div_ceil(y));
            ([0, rows.start, 0], [target.width().div_ceil(x), rows.end - rows.start, 1])
        };
        let recorded = if bundle.of == 1 {
            target.with_single(&self.single, model, surround, |set| {
                let (first, groups) = groups(&self.single);
                commands.dispatch_from(&self.single, set, &[], first, groups);
            })
        } else {
            let push = [bundle.first, bundle.count, bundle.of];
            target.with_accumulate(&self.accumulate, model, surround, |set| {
                let (first, groups) = groups(&self.accumulate);
                commands.dispatch_from(&self.accumulate, set, bytemuck::cast_slice(&push), first, groups);
            })
        };
        commands.compute_barrier();
        commands.label_end();
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_every_row_once() {
        for (all, of) in [(23, 1), (23, 4), (3, 8), (1, 5), (135, 16)] {
            let mut at = 0;
            for number in 0..of {
                let rows = Band { number, of }.rows(all);
                assert_eq!(rows.start, at, "band {number} of {of}");
                at = rows.end;
            }
            assert_eq!((at, Band { number: of, of }.rows(all)), (all, all..all));
        }
        assert_eq!(Band::WHOLE.rows(23), 0..23);
    }
}
