//! Memory of the overlay's renderer: buffers and images of our own, so that they are counted, named, and destroyed when
//! nothing in flight uses them.
//!
//! The renderer uploads textures while the device's queue is locked, and objects of ours want that lock when they are
//! destroyed, or find no memory. What an upload takes is therefore made before it, and what it gives back, or what it was
//! given when it fails, is kept here until after it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use egui::TextureId;
use egui::epaint::ImageDelta;
use egui_ash_renderer::allocator::Allocator;
use egui_ash_renderer::{Renderer, RendererError, RendererResult};
use gpu::{Buffer, BufferDesc, BufferUsage, CommandPool, Device, Image, ImageDesc, ImageUsage, MemoryKind, vk};

/// Name of every object.
const NAME: &str = "window overlay";

/// The objects of one renderer. Clones share them: the renderer keeps one, and who calls the renderer another.
#[derive(Clone)]
pub struct OverlayMemory {
    device: Arc<Device>,
    objects: Arc<Mutex<Objects>>,
}

/// Names an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

#[derive(Default)]
struct Objects {
    /// The number of the next one.
    next: u64,
    buffers: HashMap<Key, Buffer>,
    images: HashMap<Key, Image>,
    /// Made for the next upload.
    staging: Option<Buffer>,
    texture: Option<Image>,
    /// Not used by the renderer any more.
    done: (Vec<Buffer>, Vec<Image>),
}

impl OverlayMemory {
    /// No object yet.
    pub fn new(device: &Arc<Device>) -> Self {
        Self { device: Arc::clone(device), objects: Arc::default() }
    }

    /// Gives the renderer a texture, or a change of one.
    ///
    /// # Errors
    /// No memory, or an error of the device.
    pub fn upload(
        &self,
        renderer: &mut Renderer<Self>,
        commands: &CommandPool,
        id: TextureId,
        delta: &ImageDelta,
    ) -> anyhow::Result<()> {
        let what = "cannot upload a texture of the overlay";
        self.prepare(delta).context(what)?;
        let done = self.device.with_queue(|queue| renderer.set_texture(queue, commands.raw(), id, delta));
        self.tidy();
        done.context(what)
    }

    /// Makes what the upload of a texture will take, while the queue is not locked.
    fn prepare(&self, delta: &ImageDelta) -> gpu::Result<()> {
        let [width, height] = delta.image.size().map(|side| side as u32);
        let bytes = 4 * u64::from(width) * u64::from(height);
        let staging = self.buffer(bytes, BufferUsage::TRANSFER_SRC)?;
        let texture = if delta.pos.is_none() { Some(self.image([width, height])?) } else { None };
        let mut objects = self.lock();
        let left = (objects.staging.replace(staging), std::mem::replace(&mut objects.texture, texture));
        drop(objects);
        drop(left);
        Ok(())
    }

    /// Destroys what the renderer has given back.
    pub fn tidy(&self) {
        let done = std::mem::take(&mut self.lock().done);
        drop(done);
    }

    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn buffer(&self, size: u64, usage: BufferUsage) -> gpu::Result<Buffer> {
        // A frame without a triangle asks for none.
        let size = size.max(4);
        Buffer::new(&self.device, &BufferDesc { name: NAME, size, usage, memory: MemoryKind::Upload })
    }

    fn image(&self, extent: [u32; 2]) -> gpu::Result<Image> {
        let usage = ImageUsage::TRANSFER_DST | ImageUsage::SAMPLED;
        Image::new(&self.device, &ImageDesc { name: NAME, extent, format: vk::Format::R8G8B8A8_SRGB, usage })
    }
}

impl Objects {
    fn key(&mut self) -> Key {
        self.next += 1;
        Key(self.next)
    }
}

fn failed(error: gpu::Error) -> RendererError {
    RendererError::Allocator(error.to_string())
}

fn unknown() -> RendererError {
    RendererError::Allocator(format!("no such object of the {NAME}"))
}

impl Allocator for OverlayMemory {
    type Allocation = Key;

    fn create_buffer(
        &mut self,
        _: &ash::Device,
        size: usize,
        usage: vk::BufferUsageFlags,
    ) -> RendererResult<(vk::Buffer, Key)> {
        let fits = |buffer: &Buffer| usage == BufferUsage::TRANSFER_SRC && buffer.size() >= size as u64;
        let ready = self.lock().staging.take_if(|buffer| fits(buffer));
        let buffer = match ready {
            Some(buffer) => buffer,
            None => self.buffer(size as u64, usage).map_err(failed)?,
        };
        let mut objects = self.lock();
        let (key, raw) = (objects.key(), buffer.raw());
        objects.buffers.insert(key, buffer);
        Ok((raw, key))
    }

    fn create_image(&mut self, _: &ash::Device, width: u32, height: u32) -> RendererResult<(vk::Image, Key)> {
        let ready = self.lock().texture.take_if(|image| image.extent() == [width, height]);
        let image = match ready {
            Some(image) => image,
            None => self.image([width, height]).map_err(failed)?,
        };
        let mut objects = self.lock();
        let (key, raw) = (objects.key(), image.raw());
        objects.images.insert(key, image);
        Ok((raw, key))
    }

    fn destroy_buffer(&mut self, _: &ash::Device, _: vk::Buffer, key: Key) -> RendererResult<()> {
        let mut objects = self.lock();
        let buffer = objects.buffers.remove(&key).ok_or_else(unknown)?;
        objects.done.0.push(buffer);
        Ok(())
    }

    fn destroy_image(&mut self, _: &ash::Device, _: vk::Image, key: Key) -> RendererResult<()> {
        let mut objects = self.lock();
        let image = objects.images.remove(&key).ok_or_else(unknown)?;
        objects.done.1.push(image);
        Ok(())
    }

    fn update_buffer<T: Copy>(&mut self, _: &ash::Device, key: &mut Key, data: &[T]) -> RendererResult<()> {
        self.lock().buffers.get_mut(key).ok_or_else(unknown)?.write(data).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use egui::{Color32, ColorImage, TextureOptions};
    use egui_ash_renderer::Options;
    use gpu::testing::TestDevice;

    use super::*;
    use crate::window::graphics::mode;

    #[test]
    fn textures_come_and_go_without_a_trace() -> anyhow::Result<()> {
        let device = TestDevice::open()?;
        let memory = OverlayMemory::new(&device);
        let mode = mode(vk::Format::B8G8R8A8_UNORM);
        let mut gui = Renderer::with_allocator(memory.clone(), device.ash().clone(), mode, Options::default())?;
        let pool = CommandPool::new(&device, "overlay textures")?;
        let image = |side: usize| ColorImage::filled([side, side], Color32::WHITE);
        let held = || device.allocations().into_iter().filter(|(name, _)| name == NAME).count();
        let id = TextureId::Managed(0);
        memory.upload(&mut gui, &pool, id, &ImageDelta::full(image(64), TextureOptions::LINEAR))?;
        memory.upload(&mut gui, &pool, id, &ImageDelta::partial([8, 16], image(5), TextureOptions::LINEAR))?;
        assert_eq!(held(), 1, "what was uploaded from is gone");
        // A larger one takes its place.
        memory.upload(&mut gui, &pool, id, &ImageDelta::full(image(128), TextureOptions::LINEAR))?;
        assert_eq!(held(), 1);
        // A change of a texture that there is not is refused, and keeps what was made for it no longer than the next one.
        let other = TextureId::Managed(7);
        let change = ImageDelta::partial([0, 0], image(4), TextureOptions::LINEAR);
        assert!(memory.upload(&mut gui, &pool, other, &change).is_err());
        memory.upload(&mut gui, &pool, id, &change)?;
        gui.free_texture(id)?;
        memory.tidy();
        device.wait_idle()?;
        assert_eq!(held(), 0);
        Ok(())
    }

    #[test]
    fn what_the_renderer_has_no_use_for_is_not_written_to() -> anyhow::Result<()> {
        let device = TestDevice::open()?;
        let mut memory = OverlayMemory::new(&device);
        let (raw, mut key) = memory.create_buffer(device.ash(), 12, BufferUsage::VERTEX_BUFFER)?;
        memory.update_buffer(device.ash(), &mut key, &[1_u32, 2, 3])?;
        let error = memory.update_buffer(device.ash(), &mut key, &[1_u64, 2]).expect_err("too much").to_string();
        assert!(error.contains("16 bytes at 0 is outside its 12 bytes"), "{error}");
        memory.destroy_buffer(device.ash(), raw, key)?;
        assert!(memory.update_buffer(device.ash(), &mut key, &[1_u32]).is_err());
        assert!(memory.destroy_buffer(device.ash(), raw, key).is_err());
        Ok(())
    }
}
