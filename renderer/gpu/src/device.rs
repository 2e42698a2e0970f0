//! The device: one queue, memory, and what is shared by everything made from it.

use crate::cache::{self, CacheKey, CacheMode};
use crate::capabilities::{Capabilities, HeapBudget, MemoryUse};
use crate::debug::DebugNames;
use crate::error::{Error, Result};
use crate::extensions::{
    Bfloat16Features, COOPERATIVE_MATRIX2, CooperativeMatrix2Features, DEVICE_GENERATED_COMMANDS, Float8Features,
    SHADER_BFLOAT16, SHADER_FLOAT8,
};
use crate::generated;
use crate::instance::{Instance, lifecycle};
use crate::live::{self, LiveObject, LiveToken};
use crate::probe;
use crate::retire::{Bin, Retired};
use crate::select::DeviceSelector;
use crate::submit::QueueState;
use ash::{ext, khr, vk};
use gpu_allocator::AllocationSizes;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Which device to open, and how.
#[derive(Clone, Debug, Default)]
pub struct DeviceDesc {
    /// The device.
    pub selector: DeviceSelector,
    /// Where the pipeline cache is kept.
    pub cache: CacheMode,
    /// Leave every optional extension off, as on a device that has none of them. For tools that
    /// do not know the newer ones: old validation layers, frame debuggers.
    pub plain: bool,
    /// Bound every access of a shader to a buffer or image, as far as the device can
    /// (robustBufferAccess, `VK_EXT_robustness2`): reads outside give zero, writes are dropped.
    pub robust: bool,
}

/// An open device.
pub struct Device {
    instance: Arc<Instance>,
    physical: vk::PhysicalDevice,
    raw: ash::Device,
    capabilities: Capabilities,
    queue_family: u32,
    pub(crate) queue: Mutex<QueueState>,
    pub(crate) timeline: vk::Semaphore,
    pub(crate) names: DebugNames,
    pub(crate) bin: Bin,
    pub(crate) lost: AtomicBool,
    /// Dropped by hand, before the device.
    pub(crate) allocator: ManuallyDrop<Mutex<Allocator>>,
    pub(crate) pipeline_cache: vk::PipelineCache,
    generated: Option<generated::Functions>,
    cache_file: Option<PathBuf>,
    cache_key: CacheKey,
    scope: u64,
    _live: LiveToken,
}

impl Device {
    /// Opens a device with the pipeline cache in its usual place.
    ///
    /// # Errors
    /// See [`Device::open_with`].
    pub fn open(instance: &Arc<Instance>, selector: &DeviceSelector) -> Result<Arc<Self>> {
        Self::open_with(instance, &DeviceDesc { selector: selector.clone(), ..DeviceDesc::default() })
    }

    /// Opens a device.
    ///
    /// # Errors
    /// [`Error::NoDevice`] when none fits (with the reason for each one found), or a Vulkan
    /// error of the driver.
    pub fn open_with(instance: &Arc<Instance>, desc: &DeviceDesc) -> Result<Arc<Self>> {
        let _lifecycle = lifecycle();
        let physicals = instance.physical_devices()?;
        let adapters: Vec<_> = physicals.iter().enumerate().map(|(i, &d)| probe::probe(instance, d, i)).collect();
        let infos: Vec<_> = adapters.iter().map(|p| p.info.clone()).collect();
        let index = desc.selector.choose(&infos)?;
        let (physical, mut capabilities) = (physicals[index], infos[index].capabilities.clone());
        if desc.plain {
            capabilities.drop_extensions();
        }
        let Some(queue_family) = adapters[index].queue_family else {
            return Err(Error::NoDevice { detail: " (no compute queue)".into() });
        };
        let robust = desc.robust.then(|| Robustness::of(instance, physical));
        let raw = create(instance, physical, queue_family, &capabilities, robust.as_ref())?;
        Self::finish(instance, physical, raw, capabilities, queue_family, &desc.cache)
    }

    /// Makes the shared objects; on failure destroys what was made so far.
    fn finish(
        instance: &Arc<Instance>,
        physical: vk::PhysicalDevice,
        raw: ash::Device,
        capabilities: Capabilities,
        queue_family: u32,
        cache_mode: &CacheMode,
    ) -> Result<Arc<Self>> {
        let destroy = |error: Error| {
            // SAFETY: the device was just created and has no other child objects left.
            unsafe { raw.destroy_device(None) };
            error
        };
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw().clone(),
            device: raw.clone(),
            physical_device: physical,
            debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
            buffer_device_address: capabilities.buffer_device_address,
            allocation_sizes: AllocationSizes::new(32 << 20, 16 << 20)
                .with_max_device_memblock_size(256 << 20)
                .with_max_host_memblock_size(64 << 20),
        })
        .map_err(|e| destroy(Error::usage("allocator", e.to_string())))?;
        let mut timeline_info =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(0);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut timeline_info);
        // SAFETY: timeline semaphores are enabled on every device opened here.
        let timeline = unsafe { raw.create_semaphore(&info, None) }
            .map_err(|code| destroy(Error::vulkan("vkCreateSemaphore (timeline)", code)))?;
        let cache_key = CacheKey::new(&capabilities);
        let cache_file = cache_mode.file(&cache_key);
        let pipeline_cache = create_cache(&raw, cache_file.as_deref(), &cache_key).map_err(|code| {
            // SAFETY: just created, not in use.
            unsafe { raw.destroy_semaphore(timeline, None) };
            destroy(Error::vulkan("vkCreatePipelineCache", code))
        })?;
        // SAFETY: the family was enabled with one queue.
        let queue = unsafe { raw.get_device_queue(queue_family, 0) };
        let debug = instance.has_debug_utils();
        let names = DebugNames::new(debug.then(|| ext::debug_utils::Device::new(instance.raw(), &raw)));
        names.set(queue, "queue");
        names.set(timeline, "timeline");
        names.set(pipeline_cache, "pipeline cache");
        let generated = capabilities.device_generated_commands;
        let generated = generated.then(|| generated::Functions::load(instance.raw(), raw.handle())).flatten();
        let scope = live::unique();
        let name = capabilities.name.clone();
        Ok(Arc::new(Self {
            instance: Arc::clone(instance),
            physical,
            raw,
            capabilities,
            queue_family,
            queue: Mutex::new(QueueState::new(queue)),
            timeline,
            names,
            bin: Bin::default(),
            lost: AtomicBool::new(false),
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            pipeline_cache,
            generated,
            cache_file,
            cache_key,
            scope,
            // Of no device's scope: a device is not among its own objects.
            _live: LiveToken::new(0, "Device", &name),
        }))
    }

    /// The Vulkan functions of the device.
    #[must_use]
    pub fn ash(&self) -> &ash::Device {
        &self.raw
    }

    /// The instance this device was opened from.
    #[must_use]
    pub fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// The physical device.
    #[must_use]
    pub fn physical(&self) -> vk::PhysicalDevice {
        self.physical
    }

    /// What the device can do.
    #[must_use]
    pub fn caps(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The family of the one queue.
    #[must_use]
    pub fn queue_family(&self) -> u32 {
        self.queue_family
    }

    /// The functions of `VK_EXT_device_generated_commands`, where the device has them.
    pub(crate) fn generated_functions(&self) -> Option<generated::Functions> {
        self.generated
    }

    /// Objects made from this device that are alive, oldest first. Dropped objects are not among
    /// them, even while the GPU still uses their handles.
    #[must_use]
    pub fn live_objects(&self) -> Vec<LiveObject> {
        live::of_scope(self.scope)
    }

    /// A sentence that names what is still alive on this device; `None` when nothing is.
    #[must_use]
    pub fn leak_report(&self) -> Option<String> {
        let live = self.live_objects();
        (!live.is_empty()).then(|| format!("{} objects alive: {}", live.len(), live::list(&live)))
    }

    /// Every memory heap with what is free at this moment.
    #[must_use]
    pub fn memory_budget(&self) -> Vec<HeapBudget> {
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default();
        let known = self.capabilities.memory_budget;
        if known {
            properties = properties.push_next(&mut budget);
        }
        // SAFETY: the chained structure is of an extension the device has.
        unsafe {
            self.instance.raw().get_physical_device_memory_properties2(self.physical, &mut properties);
        }
        let heaps = properties.memory_properties;
        let heaps = heaps.memory_heaps_as_slice().iter().enumerate();
        heaps
            .map(|(i, heap)| HeapBudget {
                size: heap.size,
                budget: if known { budget.heap_budget[i] } else { heap.size },
                usage: if known { budget.heap_usage[i] } else { 0 },
                device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
            })
            .collect()
    }

    /// Device memory of every kind this device's objects have at this moment.
    #[must_use]
    pub fn memory_use(&self) -> MemoryUse {
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let report = allocator.generate_report();
        MemoryUse { used: report.total_allocated_bytes, reserved: allocator.capacity() }
    }

    /// Name and bytes of everything that this device's objects have in device memory at this moment.
    #[must_use]
    pub fn allocations(&self) -> Vec<(String, u64)> {
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        allocator.generate_report().allocations.into_iter().map(|one| (one.name, one.size)).collect()
    }

    /// Registers a child object.
    pub(crate) fn live(&self, kind: &'static str, name: &str) -> LiveToken {
        LiveToken::new(self.scope, kind, name)
    }

    /// Destroys the handles of a dropped object as soon as nothing in flight can use them.
    pub(crate) fn retire(&self, object: Retired) {
        let last = self.queue_state().last;
        self.bin.put(last, object);
        self.collect();
    }

    /// The error for a failed call that creates `object`.
    pub(crate) fn creation_failed(&self, call: &str, object: &str, size: u64, code: vk::Result) -> Error {
        let memory = match code {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => "device",
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => "host",
            vk::Result::ERROR_DEVICE_LOST => {
                return self.failed(&mut self.queue_state(), call, code);
            }
            code => return Error::vulkan(format!("{call} (\"{object}\")"), code),
        };
        self.out_of_memory(memory, object, size)
    }

    pub(crate) fn out_of_memory(&self, memory: &'static str, object: &str, size: u64) -> Error {
        let heaps = self.memory_budget();
        let fitting = heaps.iter().filter(|h| memory == "host" || h.device_local);
        let best = fitting.max_by_key(|h| h.budget.saturating_sub(h.usage));
        Error::OutOfMemory {
            memory,
            object: object.to_owned(),
            size,
            available: best.map_or(0, |h| h.budget.saturating_sub(h.usage)),
            total: best.map_or(0, |h| h.size),
        }
    }

    pub(crate) fn unsupported(&self, object: &str, feature: impl Into<String>) -> Error {
        Error::Unsupported {
            object: object.to_owned(),
            feature: feature.into(),
            device: self.capabilities.name.clone(),
        }
    }

    /// The device and driver that cached files belong to.
    pub fn cache_key(&self) -> &CacheKey {
        &self.cache_key
    }

    /// A file beside the pipeline cache that belongs to the same device and driver; `None` when nothing is cached.
    pub fn cached_file(&self, stem: &str, extension: &str) -> Option<PathBuf> {
        self.cache_file.as_ref().map(|file| file.with_file_name(self.cache_key.named(stem, extension)))
    }

    /// Writes the pipeline cache to disk now. It is also written when the device is dropped.
    pub fn save_pipeline_cache(&self) {
        let Some(file) = &self.cache_file else { return };
        // SAFETY: the cache is alive; reading it is allowed beside pipeline creation.
        match unsafe { self.raw.get_pipeline_cache_data(self.pipeline_cache) } {
            Ok(data) => {
                if let Err(error) = cache::write(file, &self.cache_key, &data) {
                    tracing::warn!("pipeline cache {} not written: {error}", file.display());
                }
            }
            Err(code) => tracing::warn!("pipeline cache could not be read back: {code}"),
        }
    }
}

/// What a device can do about accesses that leave their buffer or image.
struct Robustness {
    buffers: bool,
    buffers2: bool,
    images2: bool,
}

impl Robustness {
    fn of(instance: &Instance, physical: vk::PhysicalDevice) -> Self {
        let listed = probe::extension_names(instance, physical).contains(ext::robustness2::NAME);
        let mut second = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
        let mut features = vk::PhysicalDeviceFeatures2::default();
        if listed {
            features = features.push_next(&mut second);
        }
        // SAFETY: the chained structure is of an extension the device lists.
        unsafe { instance.raw().get_physical_device_features2(physical, &mut features) };
        let buffers = features.features.robust_buffer_access == vk::TRUE;
        let (buffers2, images2) = (second.robust_buffer_access2 == vk::TRUE, second.robust_image_access2 == vk::TRUE);
        Self { buffers, buffers2: buffers && buffers2, images2 }
    }
}

/// Creates the Vulkan device with every feature `capabilities` names.
fn create(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    queue_family: u32,
    c: &Capabilities,
    robust: Option<&Robustness>,
) -> Result<ash::Device> {
    let spirv = |name: &str| c.spirv.contains(name);
    let core = vk::PhysicalDeviceFeatures::default()
        .shader_int16(c.int16)
        .robust_buffer_access(robust.is_some_and(|robust| robust.buffers))
        .shader_int64(c.int64)
        .shader_image_gather_extended(spirv("ImageGatherExtended"))
        .shader_storage_image_read_without_format(spirv("StorageImageReadWithoutFormat"))
        .shader_storage_image_write_without_format(spirv("StorageImageWriteWithoutFormat"));
    let mut f11 = vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(true)
        .uniform_and_storage_buffer16_bit_access(spirv("UniformAndStorageBuffer16BitAccess"))
        .storage_push_constant16(spirv("StoragePushConstant16"));
    let mut f12 = vk::PhysicalDeviceVulkan12Features::default()
        .timeline_semaphore(true)
        .storage_buffer8_bit_access(true)
        .uniform_and_storage_buffer8_bit_access(spirv("UniformAndStorageBuffer8BitAccess"))
        .storage_push_constant8(spirv("StoragePushConstant8"))
        .shader_int8(c.int8)
        .shader_float16(c.float16)
        .vulkan_memory_model(c.memory_model)
        .vulkan_memory_model_device_scope(spirv("VulkanMemoryModelDeviceScope"))
        .buffer_device_address(c.buffer_device_address)
        .scalar_block_layout(c.scalar_block_layout);
    let mut f13 = vk::PhysicalDeviceVulkan13Features::default()
        .dynamic_rendering(true)
        .synchronization2(true)
        .maintenance4(true)
        .subgroup_size_control(c.subgroup_size_control)
        .compute_full_subgroups(c.subgroup_size_control);
    let mut matrix = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default().cooperative_matrix(true);
    let mut matrix2 = CooperativeMatrix2Features { flags: [vk::TRUE; 7], ..Default::default() };
    let mut float8 = Float8Features {
        float8: c.float8.into(),
        float8_cooperative_matrix: c.float8_cooperative_matrix.into(),
        ..Default::default()
    };

    let mut robust2 = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
        .robust_buffer_access2(robust.is_some_and(|robust| robust.buffers2))
        .robust_image_access2(robust.is_some_and(|robust| robust.images2));
    let mut bfloat16 = Bfloat16Features { bfloat16: vk::TRUE, cooperative_matrix: vk::TRUE, ..Default::default() };

    let mut generated = generated::Features::enabled();
    let mut maintenance5 = vk::PhysicalDeviceMaintenance5FeaturesKHR::default().maintenance5(true);

    let mut extensions = Vec::new();
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(&core)
        .push_next(&mut f11)
        .push_next(&mut f12)
        .push_next(&mut f13);
    if c.swapchain && instance.has_surfaces() {
        extensions.push(khr::swapchain::NAME.as_ptr());
    }
    if c.memory_budget {
        extensions.push(ext::memory_budget::NAME.as_ptr());
    }
    if !c.cooperative_matrix.is_empty() {
        extensions.push(khr::cooperative_matrix::NAME.as_ptr());
        info = info.push_next(&mut matrix);
    }
    if c.cooperative_matrix2 {
        extensions.push(COOPERATIVE_MATRIX2.as_ptr());
        info = info.push_next(&mut matrix2);
    }
    if c.bfloat16_cooperative_matrix {
        extensions.push(SHADER_BFLOAT16.as_ptr());
        info = info.push_next(&mut bfloat16);
    }
    if c.float8 {
        extensions.push(SHADER_FLOAT8.as_ptr());
        info = info.push_next(&mut float8);
    }
    if c.device_generated_commands {
        extensions.extend([DEVICE_GENERATED_COMMANDS.as_ptr(), khr::maintenance5::NAME.as_ptr()]);
        info = info.push_next(&mut generated).push_next(&mut maintenance5);
    }
    if robust.is_some_and(|robust| robust.buffers2 || robust.images2) {
        extensions.push(ext::robustness2::NAME.as_ptr());
        info = info.push_next(&mut robust2);
    }
    let info = info.enabled_extension_names(&extensions);
    // SAFETY: the features and extensions were reported by this device, and the chain outlives
    // the call.
    unsafe { instance.raw().create_device(physical, &info, None) }
        .map_err(|code| Error::vulkan(format!("vkCreateDevice ({})", c.name), code))
}

fn create_cache(
    raw: &ash::Device,
    file: Option<&std::path::Path>,
    key: &CacheKey,
) -> Result<vk::PipelineCache, vk::Result> {
    let data = file.map(|f| cache::read(f, key)).unwrap_or_default();
    let create = |data: &[u8]| {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: the data are either empty or what this very driver wrote, checked by digest.
        unsafe { raw.create_pipeline_cache(&info, None) }
    };
    create(&data).or_else(|_| create(&[]))
}

impl Drop for Device {
    fn drop(&mut self) {
        let _lifecycle = lifecycle();
        // Every child holds an Arc to this device, so none is left; only handles put aside.
        // SAFETY: no other thread can use the device any more. A lost device is idle as well.
        let _ = unsafe { self.raw.device_wait_idle() };
        self.bin.empty(u64::MAX, &self.raw, &self.allocator);
        if !self.lost.load(Ordering::Acquire) {
            self.save_pipeline_cache();
        }
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.allocator) };
        // SAFETY: all objects of the device are destroyed; these are the last ones.
        unsafe {
            self.raw.destroy_pipeline_cache(self.pipeline_cache, None);
            self.raw.destroy_semaphore(self.timeline, None);
            self.raw.destroy_device(None);
        }
    }
}
