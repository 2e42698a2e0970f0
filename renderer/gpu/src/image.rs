//! Two-dimensional images and samplers.

use crate::buffer::{Owner, allocate};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::live::LiveToken;
use crate::retire::Retired;
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;
use std::sync::Arc;

/// What an image is used for.
pub type ImageUsage = vk::ImageUsageFlags;

/// An image to create: one mip level, one layer, optimal tiling.
#[derive(Clone, Copy, Debug)]
pub struct ImageDesc<'a> {
    /// Debug name.
    pub name: &'a str,
    /// Width and height in pixels.
    pub extent: [u32; 2],
    /// Pixel format.
    pub format: vk::Format,
    /// What it is used for.
    pub usage: ImageUsage,
}

/// A color image with its memory and a view of all of it. Its layout is undefined at first;
/// [`crate::CommandBuffer::image_barrier`] changes it.
pub struct Image {
    reference: ImageRef,
    allocation: Option<Allocation>,
    name: String,
    device: Arc<Device>,
    _live: LiveToken,
}

/// Handles of an image of ours or of a swapchain, for recording.
#[derive(Clone, Copy, Debug)]
pub struct ImageRef {
    pub(crate) raw: vk::Image,
    pub(crate) view: vk::ImageView,
    /// Width and height in pixels.
    pub extent: [u32; 2],
    /// Pixel format.
    pub format: vk::Format,
}

impl ImageRef {
    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::Image {
        self.raw
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> vk::ImageView {
        self.view
    }
}

/// Format features a usage needs, in words for the error message.
const NEEDS: [(ImageUsage, vk::FormatFeatureFlags, &str); 5] = [
    (ImageUsage::STORAGE, vk::FormatFeatureFlags::STORAGE_IMAGE, "storage"),
    (ImageUsage::SAMPLED, vk::FormatFeatureFlags::SAMPLED_IMAGE, "sampled"),
    (ImageUsage::COLOR_ATTACHMENT, vk::FormatFeatureFlags::COLOR_ATTACHMENT, "color attachment"),
    (ImageUsage::TRANSFER_SRC, vk::FormatFeatureFlags::TRANSFER_SRC, "copy source"),
    (ImageUsage::TRANSFER_DST, vk::FormatFeatureFlags::TRANSFER_DST, "copy target"),
];

/// Formats without color, which views and copies here do not cover.
const DEPTH: [vk::Format; 7] = [
    vk::Format::D16_UNORM,
    vk::Format::X8_D24_UNORM_PACK32,
    vk::Format::D32_SFLOAT,
    vk::Format::S8_UINT,
    vk::Format::D16_UNORM_S8_UINT,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D32_SFLOAT_S8_UINT,
];

impl Image {
    /// Creates an image; its contents are undefined.
    ///
    /// # Errors
    /// [`Error::Limit`] over maxImageDimension2D or the largest allocation,
    /// [`Error::Unsupported`] when the format cannot be used so, [`Error::OutOfMemory`],
    /// [`Error::Usage`] for an empty extent.
    pub fn new(device: &Arc<Device>, desc: &ImageDesc<'_>) -> Result<Self> {
        let ImageDesc { name, extent, format, usage } = *desc;
        let [width, height] = extent;
        if width == 0 || height == 0 {
            return Err(Error::usage(name, format!("an image of {width}x{height} pixels is empty")));
        }
        if DEPTH.contains(&format) {
            return Err(device.unsupported(name, format!("{format:?} as color image")));
        }
        let limit = device.caps().limits.max_image_dimension;
        Error::check_limit(name, width.max(height).into(), limit.into(), "maxImageDimension2D")?;
        // SAFETY: plain query on the device's own physical device.
        let properties =
            unsafe { device.instance().raw().get_physical_device_format_properties(device.physical(), format) };
        for (flag, feature, word) in NEEDS {
            if usage.contains(flag) && !properties.optimal_tiling_features.contains(feature) {
                return Err(device.unsupported(name, format!("{format:?} as {word} image")));
            }
        }
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        // SAFETY: format, usage and extent were checked above.
        let raw = unsafe { device.ash().create_image(&info, None) }
            .map_err(|code| device.creation_failed("vkCreateImage", name, 0, code))?;
        // SAFETY: just created.
        let requirements = unsafe { device.ash().get_image_memory_requirements(raw) };
        let allocation = allocate(device, name, requirements, MemoryLocation::GpuOnly, Owner::Image(raw));
        let allocation = allocation.inspect_err(|_| {
            // SAFETY: just created, never used.
            unsafe { device.ash().destroy_image(raw, None) };
        })?;
        let (memory, offset) = {
            // SAFETY: the handle is used for binding only, below.
            (unsafe { allocation.memory() }, allocation.offset())
        };
        let mut image = Self {
            reference: ImageRef { raw, view: vk::ImageView::null(), extent, format },
            allocation: Some(allocation),
            name: name.to_owned(),
            _live: device.live("Image", name),
            device: Arc::clone(device),
        };
        // SAFETY: the memory was allocated for this image's requirements.
        unsafe { device.ash().bind_image_memory(raw, memory, offset) }
            .map_err(|code| device.creation_failed("vkBindImageMemory", name, requirements.size, code))?;
        image.reference.view = create_view(device, raw, format, name)?;
        device.names.set(raw, name);
        device.names.set(image.reference.view, name);
        Ok(image)
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::Image {
        self.reference.raw
    }

    /// View of the whole image.
    #[must_use]
    pub fn view(&self) -> vk::ImageView {
        self.reference.view
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn extent(&self) -> [u32; 2] {
        self.reference.extent
    }

    /// Pixel format.
    #[must_use]
    pub fn format(&self) -> vk::Format {
        self.reference.format
    }

    /// The debug name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// For recording.
    #[must_use]
    pub fn reference(&self) -> ImageRef {
        self.reference
    }
}

/// A view of a whole color image.
pub(crate) fn create_view(device: &Device, raw: vk::Image, format: vk::Format, name: &str) -> Result<vk::ImageView> {
    let info = vk::ImageViewCreateInfo::default()
        .image(raw)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(whole());
    // SAFETY: the image belongs to this device and has this format.
    unsafe { device.ash().create_image_view(&info, None) }
        .map_err(|code| device.creation_failed("vkCreateImageView", name, 0, code))
}

/// The one subresource of our images.
pub(crate) fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    }
}

/// The one layer of our images.
pub(crate) fn layer() -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let ImageRef { raw, view, .. } = self.reference;
        self.device.retire(Retired::Image(raw, view, self.allocation.take()));
    }
}

/// How a sampler or a blit reads between pixels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Filter {
    /// The nearest pixel.
    Nearest,
    /// Between the four nearest.
    Linear,
}

impl Filter {
    pub(crate) fn raw(self) -> vk::Filter {
        match self {
            Self::Nearest => vk::Filter::NEAREST,
            Self::Linear => vk::Filter::LINEAR,
        }
    }
}

/// A sampler; coordinates outside take the edge.
pub struct Sampler {
    raw: vk::Sampler,
    device: Arc<Device>,
    _live: LiveToken,
}

impl Sampler {
    /// Creates a sampler.
    ///
    /// # Errors
    /// A Vulkan error of the driver.
    pub fn new(device: &Arc<Device>, name: &str, filter: Filter) -> Result<Self> {
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter.raw())
            .min_filter(filter.raw())
            .address_mode_u(edge)
            .address_mode_v(edge)
            .address_mode_w(edge);
        // SAFETY: plain creation without features.
        let raw = unsafe { device.ash().create_sampler(&info, None) }
            .map_err(|code| device.creation_failed("vkCreateSampler", name, 0, code))?;
        device.names.set(raw, name);
        Ok(Self { raw, _live: device.live("Sampler", name), device: Arc::clone(device) })
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::Sampler {
        self.raw
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.device.retire(Retired::Sampler(self.raw));
    }
}
