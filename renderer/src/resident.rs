//! A triangle model on the device.

use crate::error::{Error, Result};
use crate::mesh::{Image, Layout, Model, attribute_words, frame_words, image_starts, static_words};
use crate::mipmap;
use crate::scene::Scene;
use crate::view::View;
use gpu::{Bind, Buffer, BufferDesc, BufferUsage, CommandBuffer, Device, MemoryKind};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that one update in the command stream takes.
const UPDATE: usize = 65536;
/// Most bytes of all pictures together, where the device would take more.
const TEXEL_BYTES: u64 = 2 << 30;
const MIB: u64 = 1 << 20;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A model's buffers; lives as long as the renderer.
pub(crate) struct Resident {
    id: u64,
    model: Arc<Model>,
    layout: Layout,
    elements: Buffer,
    attributes: Buffer,
    texels: Buffer,
}

fn buffer(device: &Arc<Device>, name: &str, size: u64) -> Result<Buffer> {
    let desc = BufferDesc { name, size, usage: BufferUsage::STORAGE_BUFFER, memory: MemoryKind::Device };
    Ok(Buffer::new(device, &desc)?)
}

/// The pictures, the largest of them halved until all fit.
fn fitting(images: &[Image], limit: u64) -> Cow<'_, [Image]> {
    let bytes = |images: &[Image]| images.iter().map(|i| 4 * i.texels_with_mipmaps()).sum::<u64>();
    let mut fitting = Cow::Borrowed(images);
    while bytes(&fitting) > limit {
        let largest = fitting.iter().map(Image::texels).max().unwrap_or(0);
        fitting.to_mut().par_iter_mut().filter(|i| 2 * i.texels() > largest).for_each(|i| *i = i.halved());
    }
    fitting
}

/// All pictures with their mipmaps.
fn pictures(device: &Arc<Device>, images: &[Image], colour: &[bool]) -> Result<Buffer> {
    let count: u64 = images.iter().map(Image::texels_with_mipmaps).sum();
    let texels = buffer(device, "scene model textures", (4 * count).max(16))?;
    let starts = image_starts(images);
    for (image, &start) in images.iter().zip(&starts) {
        device.upload(&texels, 4 * u64::from(start), &image.rgba)?;
    }
    mipmap::make(device, &texels, images, &starts, colour)?;
    Ok(texels)
}

impl Resident {
    /// Puts a model on the device. Pictures are halved where they do not fit into one buffer.
    pub(crate) fn new(device: &Arc<Device>, model: &Arc<Model>) -> Result<Self> {
        let range = device.caps().limits.max_storage_buffer_range.min(device.caps().limits.max_buffer_size);
        let layout = Layout::new(model);
        let [elements, attributes] = [layout.end, layout.attributes].map(|count| 16 * count as u64);
        let bytes = elements.max(attributes);
        if bytes > range {
            return Err(Error::ModelTooLarge {
                model: model.name.clone(),
                need: bytes.div_ceil(MIB),
                limit: range / MIB,
            });
        }
        let images = fitting(&model.images, range.min(TEXEL_BYTES));
        let elements = buffer(device, "scene model", elements)?;
        device.upload(&elements, 0, bytemuck::cast_slice(&static_words(model, &images, &layout)))?;
        let attributes = buffer(device, "scene model attributes", attributes.max(16))?;
        device.upload(&attributes, 0, bytemuck::cast_slice(&attribute_words(model)))?;
        let texels = pictures(device, &images, &model.colour_images())?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, model: Arc::clone(model), layout, elements, attributes, texels })
    }

    /// A number that no other model on a device has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Whether this is the model of a scene (or there is none in either).
    pub(crate) fn is_of(resident: Option<&Self>, scene: &Scene) -> bool {
        match (resident, &scene.model) {
            (Some(resident), Some(model)) => Arc::ptr_eq(&resident.model, model),
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn has_alpha(&self) -> bool {
        self.layout.alpha
    }

    pub(crate) fn has_textures(&self) -> bool {
        self.layout.textured
    }

    pub(crate) fn binds(&self) -> [Bind<'_>; 3] {
        [Bind::buffer(10, &self.elements), Bind::buffer(11, &self.texels), Bind::buffer(12, &self.attributes)]
    }

    /// Records what one frame changes, between the barriers of the tables. It travels in the
    /// command stream, so frames in flight each have their own.
    pub(crate) fn record_frame(&self, commands: &mut CommandBuffer, scene: &Scene, view: &View) {
        let [now, before] = [view.time, view.previous_time].map(|time| scene.clock.at(time));
        let words = frame_words(&self.model, &self.layout, now, before, scene.instances.len() as u32 + 1);
        let start = 16 * self.layout.dynamic as u64;
        for (i, chunk) in bytemuck::cast_slice::<_, u8>(&words).chunks(UPDATE).enumerate() {
            commands.update_buffer(&self.elements, start + (i * UPDATE) as u64, chunk);
        }
    }
}
