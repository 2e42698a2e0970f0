//! Deliberate failures of the driver.
//!
//! With a plan (see [`faults`]) the instance hands out functions of this module in the place of the driver's, for every call
//! that can fail; they count, and fail or pass the call on. Everything above, this crate and those that bring objects of their
//! own, gets the same codes from the same calls as from a driver that fails. Without a plan no function is replaced.

use ash::vk;
use faults::{Failure, Place, reached};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Functions that are replaced. Their places in this list are those in [`REAL`].
const NAMES: [&CStr; 38] = [
    c"vkGetDeviceProcAddr",
    c"vkCreateDevice",
    c"vkAllocateMemory",
    c"vkCreateBuffer",
    c"vkCreateImage",
    c"vkCreateImageView",
    c"vkCreateSampler",
    c"vkCreateShaderModule",
    c"vkCreateDescriptorSetLayout",
    c"vkCreateDescriptorPool",
    c"vkCreatePipelineLayout",
    c"vkCreateCommandPool",
    c"vkCreateQueryPool",
    c"vkCreateSemaphore",
    c"vkCreateFence",
    c"vkCreatePipelineCache",
    c"vkCreateSwapchainKHR",
    c"vkAllocateDescriptorSets",
    c"vkAllocateCommandBuffers",
    c"vkBindBufferMemory",
    c"vkBindImageMemory",
    c"vkCreateComputePipelines",
    c"vkCreateGraphicsPipelines",
    c"vkBeginCommandBuffer",
    c"vkEndCommandBuffer",
    c"vkMapMemory",
    c"vkQueueSubmit",
    c"vkQueueSubmit2",
    c"vkWaitSemaphores",
    c"vkWaitForFences",
    c"vkGetSemaphoreCounterValue",
    c"vkGetQueryPoolResults",
    c"vkQueueWaitIdle",
    c"vkDeviceWaitIdle",
    c"vkAcquireNextImageKHR",
    c"vkQueuePresentKHR",
    c"vkGetFenceStatus",
    c"vkCreateIndirectCommandsLayoutEXT",
];

/// The place in the list of a function that the loader may be too old to know.
const LAYOUT: usize = 37;

/// The functions of those names that are replaced: the loader's own, which serve every device, and that of [`LAYOUT`] as the
/// device that was asked last has it.
static REAL: [AtomicPtr<c_void>; NAMES.len()] = [const { AtomicPtr::new(std::ptr::null_mut()) }; NAMES.len()];

/// Whether the device opened last is lost. A loss lasts until another device is opened.
static LOST: AtomicBool = AtomicBool::new(false);

/// The instance's functions, with those of this module among them when the process has a plan.
pub(crate) fn functions(entry: &ash::Entry, raw: ash::Instance) -> ash::Instance {
    if !faults::active() {
        return raw;
    }
    let handle = raw.handle();
    let real = |name: &CStr| {
        // SAFETY: the instance is alive and the name is null-terminated.
        let function = unsafe { entry.get_instance_proc_addr(handle, name.as_ptr()) };
        function.map_or(std::ptr::null_mut(), |function| function as *mut c_void)
    };
    for (slot, name) in REAL.iter().zip(NAMES) {
        slot.store(real(name), Ordering::Release);
    }
    let load = |name: &CStr| match NAMES[..2].contains(&name) {
        true => replacement(name).unwrap_or(std::ptr::null()),
        false => real(name).cast_const(),
    };
    // SAFETY: each name gets the loader's function of that name or one of the same signature.
    unsafe { ash::Instance::load_with(load, handle) }
}

/// The loader's function at a place of the list, as a function of type `F`.
///
/// # Safety
/// `F` is the type of that function, which the loader has (it is in the list of a device that was opened with it).
unsafe fn real<F: Copy>(at: usize) -> F {
    let pointer = REAL[at].load(Ordering::Acquire);
    assert!(!pointer.is_null(), "{:?} was not loaded", NAMES[at]);
    // SAFETY: the caller vouches for the type, and function pointers have the size of data pointers.
    unsafe { std::mem::transmute_copy(&pointer) }
}

fn is_lost() -> bool {
    LOST.load(Ordering::Acquire)
}

fn lose() -> vk::Result {
    LOST.store(true, Ordering::Release);
    vk::Result::ERROR_DEVICE_LOST
}

type Create = unsafe extern "system" fn(vk::Device, *const c_void, *const c_void, *mut c_void) -> vk::Result;
type Allocate = unsafe extern "system" fn(vk::Device, *const c_void, *mut c_void) -> vk::Result;
type Bind = unsafe extern "system" fn(vk::Device, u64, vk::DeviceMemory, vk::DeviceSize) -> vk::Result;

/// Functions with the parameters of `vkCreateBuffer`; number `AT` of the list.
unsafe extern "system" fn create<const AT: usize>(
    device: vk::Device,
    info: *const c_void,
    callbacks: *const c_void,
    out: *mut c_void,
) -> vk::Result {
    let memory = NAMES[AT] == c"vkAllocateMemory";
    match reached(if memory { Place::Memory } else { Place::Object }) {
        Some(_) if memory => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        Some(_) => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        // SAFETY: the call is passed on as it came; so in all functions below.
        None => unsafe { real::<Create>(AT)(device, info, callbacks, out) },
    }
}

unsafe extern "system" fn allocate<const AT: usize>(
    device: vk::Device,
    info: *const c_void,
    out: *mut c_void,
) -> vk::Result {
    match reached(Place::Object) {
        Some(_) => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        // SAFETY: see above.
        None => unsafe { real::<Allocate>(AT)(device, info, out) },
    }
}

unsafe extern "system" fn bind<const AT: usize>(
    device: vk::Device,
    object: u64,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    match reached(Place::Object) {
        Some(_) => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        // SAFETY: see above.
        None => unsafe { real::<Bind>(AT)(device, object, memory, offset) },
    }
}

type Pipelines = unsafe extern "system" fn(
    vk::Device,
    vk::PipelineCache,
    u32,
    *const c_void,
    *const c_void,
    *mut vk::Pipeline,
) -> vk::Result;

unsafe extern "system" fn pipelines<const AT: usize>(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const c_void,
    callbacks: *const c_void,
    out: *mut vk::Pipeline,
) -> vk::Result {
    if reached(Place::Object).is_some() {
        // Vulkan gives null for each pipeline that was not made.
        // SAFETY: the caller has room for `count` pipelines.
        unsafe { std::slice::from_raw_parts_mut(out, count as usize) }.fill(vk::Pipeline::null());
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    // SAFETY: see above.
    unsafe { real::<Pipelines>(AT)(device, cache, count, infos, callbacks, out) }
}

unsafe extern "system" fn begin<const AT: usize>(commands: vk::CommandBuffer, info: *const c_void) -> vk::Result {
    match reached(Place::Object) {
        Some(_) => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
        None => {
            // SAFETY: see above.
            let real = unsafe { real::<unsafe extern "system" fn(vk::CommandBuffer, *const c_void) -> vk::Result>(AT) };
            // SAFETY: see above.
            unsafe { real(commands, info) }
        }
    }
}

unsafe extern "system" fn end<const AT: usize>(commands: vk::CommandBuffer) -> vk::Result {
    // SAFETY: see above. The recording ends in any case, so that the buffer can be reset.
    let result = unsafe { real::<unsafe extern "system" fn(vk::CommandBuffer) -> vk::Result>(AT)(commands) };
    match reached(Place::Object) {
        Some(_) => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        None => result,
    }
}

unsafe extern "system" fn map<const AT: usize>(
    device: vk::Device,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    flags: vk::MemoryMapFlags,
    out: *mut *mut c_void,
) -> vk::Result {
    match reached(Place::Map) {
        Some(_) => vk::Result::ERROR_MEMORY_MAP_FAILED,
        // SAFETY: see above.
        None => unsafe { real::<vk::PFN_vkMapMemory>(AT)(device, memory, offset, size, flags, out) },
    }
}

type Submit = unsafe extern "system" fn(vk::Queue, u32, *const c_void, vk::Fence) -> vk::Result;

unsafe extern "system" fn submit<const AT: usize>(
    queue: vk::Queue,
    count: u32,
    infos: *const c_void,
    fence: vk::Fence,
) -> vk::Result {
    match reached(Place::Submit) {
        Some(_) => lose(),
        None if is_lost() => vk::Result::ERROR_DEVICE_LOST,
        // SAFETY: see above.
        None => unsafe { real::<Submit>(AT)(queue, count, infos, fence) },
    }
}

/// The outcome of a call that waits: lost, too slow, or (`None`) its own.
fn waits() -> Option<vk::Result> {
    match reached(Place::Wait) {
        Some(Failure::Slow) => Some(vk::Result::TIMEOUT),
        Some(_) => Some(lose()),
        None => is_lost().then_some(vk::Result::ERROR_DEVICE_LOST),
    }
}

unsafe extern "system" fn wait_semaphores<const AT: usize>(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    // SAFETY: see above.
    waits().unwrap_or_else(|| unsafe { real::<vk::PFN_vkWaitSemaphores>(AT)(device, info, timeout) })
}

unsafe extern "system" fn wait_fences<const AT: usize>(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: see above.
    waits().unwrap_or_else(|| unsafe { real::<vk::PFN_vkWaitForFences>(AT)(device, count, fences, all, timeout) })
}

unsafe extern "system" fn counter<const AT: usize>(
    device: vk::Device,
    semaphore: vk::Semaphore,
    out: *mut u64,
) -> vk::Result {
    if is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    // SAFETY: see above.
    unsafe { real::<vk::PFN_vkGetSemaphoreCounterValue>(AT)(device, semaphore, out) }
}

unsafe extern "system" fn fence_status<const AT: usize>(device: vk::Device, fence: vk::Fence) -> vk::Result {
    if is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    // SAFETY: see above.
    unsafe { real::<vk::PFN_vkGetFenceStatus>(AT)(device, fence) }
}

#[allow(clippy::too_many_arguments)] // they are Vulkan's
unsafe extern "system" fn query_results<const AT: usize>(
    device: vk::Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    size: usize,
    out: *mut c_void,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    if is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    // SAFETY: see above.
    unsafe { real::<vk::PFN_vkGetQueryPoolResults>(AT)(device, pool, first, count, size, out, stride, flags) }
}

/// What is on a lost device runs to its end, since its objects are destroyed next and this device is a sound one.
fn idle(real: impl FnOnce() -> vk::Result) -> vk::Result {
    let failure = reached(Place::Wait);
    let result = real();
    match failure {
        Some(_) => lose(),
        None if is_lost() => vk::Result::ERROR_DEVICE_LOST,
        None => result,
    }
}

unsafe extern "system" fn queue_idle<const AT: usize>(queue: vk::Queue) -> vk::Result {
    // SAFETY: see above.
    idle(|| unsafe { real::<vk::PFN_vkQueueWaitIdle>(AT)(queue) })
}

unsafe extern "system" fn device_idle<const AT: usize>(device: vk::Device) -> vk::Result {
    // SAFETY: see above.
    idle(|| unsafe { real::<vk::PFN_vkDeviceWaitIdle>(AT)(device) })
}

unsafe extern "system" fn acquire<const AT: usize>(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    out: *mut u32,
) -> vk::Result {
    let failure = reached(Place::Acquire);
    match failure {
        _ if is_lost() => return vk::Result::ERROR_DEVICE_LOST,
        Some(Failure::Usual) => return vk::Result::ERROR_OUT_OF_DATE_KHR,
        Some(Failure::Lost) => return vk::Result::ERROR_SURFACE_LOST_KHR,
        Some(Failure::Slow) => return vk::Result::TIMEOUT,
        Some(Failure::Suboptimal) | None => {}
    }
    // SAFETY: see above.
    match unsafe { real::<vk::PFN_vkAcquireNextImageKHR>(AT)(device, swapchain, timeout, semaphore, fence, out) } {
        vk::Result::SUCCESS if failure.is_some() => vk::Result::SUBOPTIMAL_KHR,
        result => result,
    }
}

unsafe extern "system" fn present<const AT: usize>(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    let failure = reached(Place::Present);
    if is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    // The image is presented in any case, as the semaphores must be waited for even where presenting fails.
    // SAFETY: see above.
    let result = unsafe { real::<vk::PFN_vkQueuePresentKHR>(AT)(queue, info) };
    match failure {
        Some(Failure::Usual) => vk::Result::ERROR_OUT_OF_DATE_KHR,
        Some(Failure::Lost) => vk::Result::ERROR_SURFACE_LOST_KHR,
        Some(Failure::Suboptimal) if result == vk::Result::SUCCESS => vk::Result::SUBOPTIMAL_KHR,
        Some(_) | None => result,
    }
}

unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    if reached(Place::Device).is_some() {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    LOST.store(false, Ordering::Release);
    // SAFETY: see above.
    unsafe { real::<vk::PFN_vkCreateDevice>(1)(physical, info, callbacks, out) }
}

unsafe extern "system" fn device_function(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: see above. What the device does not have is not replaced either.
    let real = unsafe { real::<vk::PFN_vkGetDeviceProcAddr>(0)(device, name) }?;
    // SAFETY: Vulkan's names are null-terminated.
    let name = unsafe { CStr::from_ptr(name) };
    if name == NAMES[LAYOUT] {
        REAL[LAYOUT].store(real as *mut c_void, Ordering::Release);
    }
    match replacement(name) {
        // SAFETY: a function of this module.
        Some(function) => Some(unsafe { std::mem::transmute::<*const c_void, unsafe extern "system" fn()>(function) }),
        None => Some(real),
    }
}

/// The function of this module for a name; each has the signature that Vulkan gives the name.
fn replacement(name: &CStr) -> Option<*const c_void> {
    macro_rules! list {
        ($($at:literal => $function:ident),* $(,)?) => {
            match NAMES.iter().position(|known| *known == name)? {
                0 => device_function as *const c_void,
                1 => create_device as *const c_void,
                $($at => $function::<$at> as *const c_void,)*
                _ => return None,
            }
        };
    }
    Some(list! {
        2 => create, 3 => create, 4 => create, 5 => create, 6 => create, 7 => create, 8 => create, 9 => create,
        10 => create, 11 => create, 12 => create, 13 => create, 14 => create, 15 => create, 16 => create,
        17 => allocate, 18 => allocate, 19 => bind, 20 => bind, 21 => pipelines, 22 => pipelines, 23 => begin, 24 => end,
        25 => map, 26 => submit, 27 => submit, 28 => wait_semaphores, 29 => wait_fences, 30 => counter,
        31 => query_results, 32 => queue_idle, 33 => device_idle, 34 => acquire, 35 => present, 36 => fence_status,
        37 => create,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: u64 = 7;

    /// A driver's function that makes layouts.
    unsafe extern "system" fn layout(
        _: vk::Device,
        _: *const c_void,
        _: *const c_void,
        out: *mut c_void,
    ) -> vk::Result {
        // SAFETY: the caller has room for a handle.
        unsafe { out.cast::<u64>().write(MADE) };
        vk::Result::SUCCESS
    }

    /// A driver with functions of two names: one that is replaced, and one that is not.
    unsafe extern "system" fn driver(_: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
        // SAFETY: Vulkan's names are null-terminated.
        let name = unsafe { CStr::from_ptr(name) };
        let known = name == NAMES[LAYOUT] || name == c"vkCmdExecuteGeneratedCommandsEXT";
        // SAFETY: function pointers of another type, made what they were before they are called.
        known.then(|| unsafe { std::mem::transmute::<Create, unsafe extern "system" fn()>(layout) })
    }

    #[test]
    fn every_name_has_its_function() {
        assert_eq!(NAMES[LAYOUT], c"vkCreateIndirectCommandsLayoutEXT");
        for name in NAMES {
            assert!(replacement(name).is_some(), "{name:?}");
        }
        assert!(replacement(c"vkCmdDispatch").is_none());
    }

    /// The layouts of generated commands, on devices of this test that need not have the extension. Without a plan the call
    /// is passed on; that the calls of this place fail under one is seen in `tests/faults.rs`.
    #[test]
    fn layouts_of_generated_commands_are_made_through_this_module() {
        let device = vk::Device::null();
        REAL[0].store(driver as *mut c_void, Ordering::Release);
        // SAFETY: the functions are those of this test, which look at no device.
        let ask =
            |name: &CStr| unsafe { device_function(device, name.as_ptr()) }.map(|function| function as *const c_void);
        assert_eq!(ask(c"vkCreateBuffer"), None, "what the device does not have");
        assert_eq!(ask(c"vkCmdExecuteGeneratedCommandsEXT"), Some(layout as *const c_void), "what cannot fail");
        let function = ask(NAMES[LAYOUT]).expect("the device has it");
        assert!(Some(function) == replacement(NAMES[LAYOUT]) && function != layout as *const c_void);
        // SAFETY: the function has this type.
        let create = unsafe { std::mem::transmute::<*const c_void, Create>(function) };
        let mut handle = 0u64;
        // SAFETY: the driver of this test writes one handle.
        let result = unsafe { create(device, std::ptr::null(), std::ptr::null(), (&raw mut handle).cast()) };
        assert_eq!((result, handle), (vk::Result::SUCCESS, MADE));
    }
}
