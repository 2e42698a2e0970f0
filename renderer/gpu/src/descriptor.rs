//! Descriptor sets.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{Image, Sampler};
use crate::live::LiveToken;
use crate::pipeline::{ComputePipeline, descriptor_type};
use crate::retire::Retired;
use ash::vk;
use shaders::{Binding, BindingKind};
use std::sync::Arc;

/// One binding of a set.
#[derive(Clone, Copy)]
pub struct Bind<'a> {
    /// Binding number in the shader.
    pub binding: u32,
    /// What is bound.
    pub resource: BindResource<'a>,
}

/// What a binding refers to.
#[derive(Clone, Copy)]
pub enum BindResource<'a> {
    /// A storage or uniform buffer, whichever the shader declares.
    Buffer {
        /// The buffer.
        buffer: &'a Buffer,
        /// First byte; a multiple of the device's minimum alignment.
        offset: u64,
        /// Bytes.
        range: u64,
    },
    /// A storage image, in the layout of [`crate::ImageUse::ComputeWrite`].
    StorageImage(&'a Image),
    /// An image read through a sampler, in the layout of [`crate::ImageUse::ComputeSample`].
    Sampled(&'a Image, &'a Sampler),
}

impl<'a> Bind<'a> {
    /// A whole buffer.
    #[must_use]
    pub fn buffer(binding: u32, buffer: &'a Buffer) -> Self {
        Self::range(binding, buffer, 0, buffer.size())
    }

    /// A part of a buffer, in bytes.
    #[must_use]
    pub fn range(binding: u32, buffer: &'a Buffer, offset: u64, range: u64) -> Self {
        Self { binding, resource: BindResource::Buffer { buffer, offset, range } }
    }

    /// A storage image.
    #[must_use]
    pub fn storage_image(binding: u32, image: &'a Image) -> Self {
        Self { binding, resource: BindResource::StorageImage(image) }
    }

    /// A sampled image.
    #[must_use]
    pub fn sampled(binding: u32, image: &'a Image, sampler: &'a Sampler) -> Self {
        Self { binding, resource: BindResource::Sampled(image, sampler) }
    }
}

/// A descriptor set made for a pipeline; fits every pipeline with the same bindings. It does not
/// keep alive what it refers to: drop buffers and images after the last submission that uses them.
pub struct DescriptorSet {
    raw: vk::DescriptorSet,
    bindings: &'static [Binding],
    _pool: Arc<Pool>,
}

impl DescriptorSet {
    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::DescriptorSet {
        self.raw
    }

    pub(crate) fn fits(&self, pipeline: &ComputePipeline) -> bool {
        self.bindings == pipeline.bindings()
    }
}

/// A Vulkan pool; lives as long as the arena or any of its sets.
struct Pool {
    raw: vk::DescriptorPool,
    device: Arc<Device>,
    _live: LiveToken,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.device.retire(Retired::DescriptorPool(self.raw));
    }
}

/// Allocates descriptor sets that live together; grows as needed.
pub struct DescriptorArena {
    device: Arc<Device>,
    name: String,
    chunk: u32,
    pools: Vec<Arc<Pool>>,
    count: usize,
}

/// Descriptors of each kind a pool holds per set.
const PER_SET: [(vk::DescriptorType, u32); 4] = [
    (vk::DescriptorType::STORAGE_BUFFER, 8),
    (vk::DescriptorType::UNIFORM_BUFFER, 1),
    (vk::DescriptorType::STORAGE_IMAGE, 4),
    (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 4),
];

impl DescriptorArena {
    /// An arena for about `sets` sets; more make it grow.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str, sets: u32) -> Result<Self> {
        let mut arena = Self {
            device: Arc::clone(device),
            name: name.to_owned(),
            chunk: sets.clamp(1, 1024),
            pools: Vec::new(),
            count: 0,
        };
        arena.grow()?;
        Ok(arena)
    }

    fn grow(&mut self) -> Result<()> {
        // A set may hold more of a kind than PER_SET, so the smallest pool still serves it.
        let sizes = PER_SET
            .map(|(ty, per_set)| vk::DescriptorPoolSize { ty, descriptor_count: (per_set * self.chunk).max(32) });
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(self.chunk).pool_sizes(&sizes);
        // SAFETY: plain creation.
        let raw = unsafe { self.device.ash().create_descriptor_pool(&info, None) }
            .map_err(|code| self.device.creation_failed("vkCreateDescriptorPool", &self.name, 0, code))?;
        self.device.names.set(raw, &self.name);
        self.pools.push(Arc::new(Pool {
            raw,
            _live: self.device.live("DescriptorPool", &self.name),
            device: Arc::clone(&self.device),
        }));
        Ok(())
    }

    /// A set for `pipeline` with every binding given.
    ///
    /// # Errors
    /// [`Error::Usage`] when a binding is missing, twice, unknown, of the wrong kind, misaligned
    /// or outside its buffer; [`Error::Limit`] when a range is over the device's limit.
    pub fn allocate(&mut self, pipeline: &ComputePipeline, binds: &[Bind<'_>]) -> Result<DescriptorSet> {
        let name = format!("{} {}: {}", self.name, self.count, pipeline.name());
        check(&self.device, pipeline, binds)?;
        let (raw, pool) = match self.try_allocate(pipeline)? {
            Some(found) => found,
            None => {
                self.grow()?;
                self.try_allocate(pipeline)?
                    .ok_or_else(|| Error::usage(&name, "a fresh descriptor pool cannot hold it: too many bindings"))?
            }
        };
        self.count += 1;
        self.device.names.set(raw, &name);
        write(&self.device, raw, pipeline, binds);
        Ok(DescriptorSet { raw, bindings: pipeline.bindings(), _pool: pool })
    }

    /// From the newest pool; `None` when it is full.
    fn try_allocate(&self, pipeline: &ComputePipeline) -> Result<Option<(vk::DescriptorSet, Arc<Pool>)>> {
        let Some(pool) = self.pools.last() else { return Ok(None) };
        let layouts = [pipeline.set_layout()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool.raw).set_layouts(&layouts);
        // SAFETY: pool and layout are alive; the pool is used by this arena alone (`&mut self`
        // above).
        match unsafe { self.device.ash().allocate_descriptor_sets(&info) } {
            Ok(sets) => Ok(Some((sets[0], Arc::clone(pool)))),
            Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL) => Ok(None),
            Err(code) => Err(self.device.creation_failed("vkAllocateDescriptorSets", pipeline.name(), 0, code)),
        }
    }
}

/// Everything Vulkan demands of the bindings, before it is asked.
fn check(device: &Device, pipeline: &ComputePipeline, binds: &[Bind<'_>]) -> Result<()> {
    let name = pipeline.name();
    let limits = &device.caps().limits;
    for declared in pipeline.bindings() {
        let given = binds.iter().filter(|b| b.binding == declared.binding).count();
        if given != declared.count as usize {
            return Err(Error::usage(
                name,
                format!("binding {} needs {} resources and got {given}", declared.binding, declared.count),
            ));
        }
    }
    for bind in binds {
        let number = bind.binding;
        let Some(declared) = pipeline.bindings().iter().find(|b| b.binding == number) else {
            return Err(Error::usage(name, format!("the shader has no binding {number}")));
        };
        match (&bind.resource, declared.kind) {
            (BindResource::Buffer { buffer, offset, range }, BindingKind::StorageBuffer) => {
                let what = format!("{} at binding {number} of {name}", buffer.name());
                Error::check_limit(&what, *range, limits.max_storage_buffer_range, "maxStorageBufferRange")?;
                check_buffer(buffer, name, number, *offset, *range, limits.min_storage_alignment)?;
            }
            (BindResource::Buffer { buffer, offset, range }, BindingKind::UniformBuffer) => {
                let what = format!("{} at binding {number} of {name}", buffer.name());
                Error::check_limit(&what, *range, limits.max_uniform_buffer_range, "maxUniformBufferRange")?;
                check_buffer(buffer, name, number, *offset, *range, limits.min_uniform_alignment)?;
            }
            (BindResource::StorageImage(_), BindingKind::StorageImage)
            | (BindResource::Sampled(..), BindingKind::SampledImage) => {}
            (_, kind) => {
                return Err(Error::usage(name, format!("binding {number} is a {kind:?} and got something else")));
            }
        }
    }
    Ok(())
}

fn check_buffer(buffer: &Buffer, pipeline: &str, binding: u32, offset: u64, range: u64, alignment: u64) -> Result<()> {
    buffer.check_range(&format!("binding {binding} of {pipeline}"), offset, range)?;
    if range == 0 {
        return Err(Error::usage(buffer.name(), format!("binding {binding} of {pipeline} is empty")));
    }
    if !offset.is_multiple_of(alignment.max(1)) {
        return Err(Error::usage(
            buffer.name(),
            format!("binding {binding} of {pipeline} starts at {offset}, which is no multiple of {alignment}"),
        ));
    }
    Ok(())
}

fn write(device: &Device, set: vk::DescriptorSet, pipeline: &ComputePipeline, binds: &[Bind<'_>]) {
    let mut buffers = Vec::with_capacity(binds.len());
    let mut images = Vec::with_capacity(binds.len());
    for bind in binds {
        let mut buffer_info = vk::DescriptorBufferInfo::default();
        let mut image_info = vk::DescriptorImageInfo::default();
        match bind.resource {
            BindResource::Buffer { buffer, offset, range } => {
                buffer_info = buffer_info.buffer(buffer.raw()).offset(offset).range(range);
            }
            BindResource::StorageImage(image) => {
                image_info = image_info.image_view(image.view()).image_layout(vk::ImageLayout::GENERAL);
            }
            BindResource::Sampled(image, sampler) => {
                image_info = image_info
                    .image_view(image.view())
                    .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)
                    .sampler(sampler.raw());
            }
        }
        buffers.push([buffer_info]);
        images.push([image_info]);
    }
    let mut writes = Vec::with_capacity(binds.len());
    for (i, bind) in binds.iter().enumerate() {
        let kind = pipeline.bindings().iter().find(|b| b.binding == bind.binding).map(|b| b.kind);
        let Some(kind) = kind else { continue };
        // Several resources of one array binding go to its elements in the order given.
        let element = binds[..i].iter().filter(|b| b.binding == bind.binding).count();
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(bind.binding)
            .dst_array_element(u32::try_from(element).unwrap_or(u32::MAX))
            .descriptor_type(descriptor_type(kind));
        writes.push(match bind.resource {
            BindResource::Buffer { .. } => write.buffer_info(&buffers[i]),
            _ => write.image_info(&images[i]),
        });
    }
    // SAFETY: the set is new, so no work uses it; kinds, ranges and alignments were checked; the
    // info arrays outlive the call.
    unsafe { device.ash().update_descriptor_sets(&writes, &[]) };
}
