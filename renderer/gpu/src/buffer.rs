//! Buffers.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::live::LiveToken;
use crate::retire::Retired;
use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use gpu_allocator::{AllocationError, MemoryLocation};
use std::sync::{Arc, PoisonError};

/// What a buffer is used for; copies in both directions are always allowed.
pub type BufferUsage = vk::BufferUsageFlags;

/// Where a buffer's memory is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MemoryKind {
    /// Device memory, not visible to the CPU.
    Device,
    /// Written by the CPU, read by the device; always mapped.
    Upload,
    /// Written by the device, read by the CPU; always mapped.
    Readback,
}

impl MemoryKind {
    fn location(self) -> MemoryLocation {
        match self {
            Self::Device => MemoryLocation::GpuOnly,
            Self::Upload => MemoryLocation::CpuToGpu,
            Self::Readback => MemoryLocation::GpuToCpu,
        }
    }
}

/// A buffer to create.
#[derive(Clone, Copy, Debug)]
pub struct BufferDesc<'a> {
    /// Debug name.
    pub name: &'a str,
    /// Bytes, at least 1.
    pub size: u64,
    /// What it is used for.
    pub usage: BufferUsage,
    /// Where its memory is.
    pub memory: MemoryKind,
}

/// A buffer with its memory.
pub struct Buffer {
    raw: vk::Buffer,
    allocation: Option<Allocation>,
    size: u64,
    name: String,
    device: Arc<Device>,
    _live: LiveToken,
}

impl Buffer {
    /// Creates a buffer; its contents are undefined.
    ///
    /// # Errors
    /// [`Error::Limit`] when it is larger than one buffer or one allocation may be,
    /// [`Error::OutOfMemory`] when there is not enough, [`Error::Usage`] for no bytes.
    pub fn new(device: &Arc<Device>, desc: &BufferDesc<'_>) -> Result<Self> {
        let BufferDesc { name, size, usage, memory } = *desc;
        if size == 0 {
            return Err(Error::usage(name, "a buffer needs at least one byte"));
        }
        let limits = &device.caps().limits;
        Error::check_limit(name, size, limits.max_buffer_size, "maxBufferSize")?;
        Error::check_limit(name, size, limits.max_memory_allocation, "maxMemoryAllocationSize")?;
        let copies = BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST;
        let info =
            vk::BufferCreateInfo::default().size(size).usage(usage | copies).sharing_mode(vk::SharingMode::EXCLUSIVE);
        Self::create(device, name, memory, &info)
    }

    /// Creates a buffer in device memory with usage flags of the second set, and a device address. The device has
    /// `VK_KHR_maintenance5`.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub(crate) fn with_usage2(
        device: &Arc<Device>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags2KHR,
    ) -> Result<Self> {
        let limits = &device.caps().limits;
        Error::check_limit(name, size, limits.max_buffer_size, "maxBufferSize")?;
        let usage = usage | vk::BufferUsageFlags2KHR::SHADER_DEVICE_ADDRESS;
        let mut flags = vk::BufferUsageFlags2CreateInfoKHR::default().usage(usage);
        let info = vk::BufferCreateInfo::default().size(size).sharing_mode(vk::SharingMode::EXCLUSIVE);
        Self::create(device, name, MemoryKind::Device, &info.push_next(&mut flags))
    }

    fn create(device: &Arc<Device>, name: &str, memory: MemoryKind, info: &vk::BufferCreateInfo<'_>) -> Result<Self> {
        let size = info.size;
        // SAFETY: the size is within the limits, and the device has what the usage flags need.
        let raw = unsafe { device.ash().create_buffer(info, None) }
            .map_err(|code| device.creation_failed("vkCreateBuffer", name, size, code))?;
        // SAFETY: just created.
        let requirements = unsafe { device.ash().get_buffer_memory_requirements(raw) };
        let allocation = allocate(device, name, requirements, memory.location(), Owner::Buffer(raw));
        let allocation = allocation.inspect_err(|_| {
            // SAFETY: just created, never used.
            unsafe { device.ash().destroy_buffer(raw, None) };
        })?;
        // SAFETY: the memory was allocated for this buffer's requirements.
        let bound = unsafe { device.ash().bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        let buffer = Self {
            raw,
            allocation: Some(allocation),
            size,
            name: name.to_owned(),
            _live: device.live("Buffer", name),
            device: Arc::clone(device),
        };
        bound.map_err(|code| device.creation_failed("vkBindBufferMemory", name, size, code))?;
        device.names.set(raw, name);
        Ok(buffer)
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Where the device finds it. The buffer was created with `SHADER_DEVICE_ADDRESS` usage.
    pub(crate) fn address(&self) -> vk::DeviceAddress {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: the usage is promised, and its users need a device with the feature.
        unsafe { self.device.ash().get_buffer_device_address(&info) }
    }

    /// Bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The debug name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The contents of an [`MemoryKind::Upload`] or [`MemoryKind::Readback`] buffer. Meaningful
    /// only when the work that writes them has finished, with a
    /// [`crate::CommandBuffer::host_read_barrier`] at its end.
    #[must_use]
    pub fn mapped(&self) -> Option<&[u8]> {
        let bytes = self.allocation.as_ref()?.mapped_slice()?;
        bytes.get(..usize::try_from(self.size).ok()?)
    }

    /// The contents of an [`MemoryKind::Upload`] or [`MemoryKind::Readback`] buffer, for writing.
    /// No work that uses the buffer may be in flight.
    #[must_use]
    pub fn mapped_mut(&mut self) -> Option<&mut [u8]> {
        let bytes = self.allocation.as_mut()?.mapped_slice_mut()?;
        bytes.get_mut(..usize::try_from(self.size).ok()?)
    }

    /// Copies values to the beginning of an [`MemoryKind::Upload`] or [`MemoryKind::Readback`] buffer, as they lie in
    /// memory. No work that uses the buffer may be in flight.
    ///
    /// # Errors
    /// [`Error::Usage`] when they do not fit, or the buffer is in device memory.
    pub fn write<T: Copy>(&mut self, values: &[T]) -> Result<()> {
        let bytes = size_of_val(values);
        self.check_range("a write", 0, bytes as u64)?;
        let Some(target) = self.mapped_mut() else {
            return Err(Error::usage(&self.name, "it is not visible to the CPU"));
        };
        // SAFETY: the target has at least so many bytes (checked above), is not part of `values`, and is only ever read
        // as bytes. A copy of bytes asks neither for an alignment nor for padding that is initialized.
        unsafe { values.as_ptr().cast::<u8>().copy_to_nonoverlapping(target.as_mut_ptr(), bytes) };
        Ok(())
    }

    /// An error unless `offset..offset + size` lies inside.
    pub(crate) fn check_range(&self, what: &str, offset: u64, size: u64) -> Result<()> {
        match offset.checked_add(size) {
            Some(end) if end <= self.size => Ok(()),
            _ => Err(Error::usage(
                &self.name,
                format!("{what} of {size} bytes at {offset} is outside its {} bytes", self.size),
            )),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.retire(Retired::Buffer(self.raw, self.allocation.take()));
    }
}

/// What memory is allocated for.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Buffer(vk::Buffer),
    Image(vk::Image),
}

/// Memory of this size or more gets an allocation of its own, so that it goes back to the driver
/// when it is freed.
const DEDICATED: u64 = 16 << 20;

pub(crate) fn allocate(
    device: &Device,
    name: &str,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
    owner: Owner,
) -> Result<Allocation> {
    let limit = device.caps().limits.max_memory_allocation;
    Error::check_limit(name, requirements.size, limit, "maxMemoryAllocationSize")?;
    let allocation_scheme = match owner {
        _ if requirements.size < DEDICATED => AllocationScheme::GpuAllocatorManaged,
        Owner::Buffer(raw) => AllocationScheme::DedicatedBuffer(raw),
        Owner::Image(raw) => AllocationScheme::DedicatedImage(raw),
    };
    let desc = AllocationCreateDesc {
        name,
        requirements,
        location,
        linear: matches!(owner, Owner::Buffer(_)),
        allocation_scheme,
    };
    let mut allocator = device.allocator.lock().unwrap_or_else(PoisonError::into_inner);
    let mut result = allocator.allocate(&desc);
    if matches!(result, Err(AllocationError::OutOfMemory)) {
        // Objects dropped but not yet destroyed may hold what is missing.
        drop(allocator);
        device.wait_idle()?;
        allocator = device.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        result = allocator.allocate(&desc);
    }
    drop(allocator);
    result.map_err(|error| match error {
        AllocationError::OutOfMemory => {
            let memory = if location == MemoryLocation::GpuOnly { "device" } else { "host" };
            device.out_of_memory(memory, name, requirements.size)
        }
        AllocationError::FailedToMap(_) => {
            let what = format!("mapping {} bytes of \"{name}\"", requirements.size);
            Error::vulkan(what, vk::Result::ERROR_MEMORY_MAP_FAILED)
        }
        other => Error::usage(name, format!("{} bytes could not be allocated: {other}", requirements.size)),
    })
}
