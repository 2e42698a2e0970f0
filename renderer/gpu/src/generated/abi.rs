//! Structures and functions of `VK_EXT_device_generated_commands`, which is newer than the bindings. Names, order and
//! numbers are those of the Vulkan registry.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::ptr;

/// Number of the extension's first structure type.
const BASE: i32 = 1_000_572_000;

/// `VK_PIPELINE_STAGE_2_COMMAND_PREPROCESS_BIT_EXT`.
pub(super) const COMMAND_PREPROCESS: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(1 << 17);
/// `VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_EXT` and the one for writing.
pub(super) const PREPROCESS_RW: vk::AccessFlags2 = vk::AccessFlags2::from_raw(1 << 17 | 1 << 18);
/// `VK_BUFFER_USAGE_2_PREPROCESS_BUFFER_BIT_EXT`.
pub(super) const PREPROCESS_BUFFER: vk::BufferUsageFlags2KHR = vk::BufferUsageFlags2KHR::from_raw(1 << 31);
/// `VK_INDIRECT_COMMANDS_TOKEN_TYPE_PUSH_CONSTANT_EXT`.
pub(super) const TOKEN_PUSH_CONSTANT: i32 = 1;
/// `VK_INDIRECT_COMMANDS_TOKEN_TYPE_DISPATCH_EXT`.
pub(super) const TOKEN_DISPATCH: i32 = 9;

/// `VkIndirectCommandsLayoutEXT`, a handle that is not dispatchable.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LayoutHandle(pub(super) u64);

/// `VkPhysicalDeviceDeviceGeneratedCommandsFeaturesEXT`.
#[repr(C)]
pub(crate) struct Features {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pub(crate) device_generated_commands: vk::Bool32,
    dynamic_pipeline_layout: vk::Bool32,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(BASE),
            p_next: ptr::null_mut(),
            device_generated_commands: vk::FALSE,
            dynamic_pipeline_layout: vk::FALSE,
        }
    }
}

impl Features {
    /// What a device is opened with.
    pub(crate) fn enabled() -> Self {
        Self { device_generated_commands: vk::TRUE, ..Self::default() }
    }
}

// SAFETY: the layout is the one of the registry, and the structure extends both in the
// specification.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}

/// `VkPhysicalDeviceDeviceGeneratedCommandsPropertiesEXT`.
#[repr(C)]
pub(crate) struct Properties {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    max_pipelines: u32,
    max_shader_objects: u32,
    max_sequences: u32,
    max_tokens: u32,
    max_token_offset: u32,
    max_stride: u32,
    input_modes: u32,
    shader_stages: vk::ShaderStageFlags,
    shader_stages_pipeline_binding: vk::ShaderStageFlags,
    shader_stages_shader_binding: vk::ShaderStageFlags,
    transform_feedback: vk::Bool32,
    multi_draw_count: vk::Bool32,
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(BASE + 1),
            p_next: ptr::null_mut(),
            max_pipelines: 0,
            max_shader_objects: 0,
            max_sequences: 0,
            max_tokens: 0,
            max_token_offset: 0,
            max_stride: 0,
            input_modes: 0,
            shader_stages: vk::ShaderStageFlags::empty(),
            shader_stages_pipeline_binding: vk::ShaderStageFlags::empty(),
            shader_stages_shader_binding: vk::ShaderStageFlags::empty(),
            transform_feedback: vk::FALSE,
            multi_draw_count: vk::FALSE,
        }
    }
}

// SAFETY: the layout is the one of the registry, and the structure extends the other in the
// specification.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for Properties {}

impl Properties {
    /// Whether a sequence of push constants and a dispatch, `stride` bytes long, can be generated.
    pub(crate) fn dispatches(&self, stride: u32) -> bool {
        self.shader_stages.contains(vk::ShaderStageFlags::COMPUTE)
            && self.max_tokens >= 2
            && self.max_sequences >= 1
            && self.max_token_offset >= stride.saturating_sub(12)
            && self.max_stride >= stride
    }
}

/// `VkIndirectCommandsPushConstantTokenEXT`.
#[repr(C)]
pub(super) struct PushConstantToken {
    pub(super) update_range: vk::PushConstantRange,
}

/// `VkIndirectCommandsLayoutTokenEXT`.
#[repr(C)]
pub(super) struct Token {
    s_type: vk::StructureType,
    p_next: *const c_void,
    kind: i32,
    data: *const PushConstantToken,
    offset: u32,
}

impl Token {
    /// A token whose bytes begin at `offset` of a sequence. `data` is null for a dispatch and outlives the token otherwise.
    pub(super) fn new(kind: i32, data: *const PushConstantToken, offset: u32) -> Self {
        Self { s_type: vk::StructureType::from_raw(BASE + 7), p_next: ptr::null(), kind, data, offset }
    }
}

/// `VkIndirectCommandsLayoutCreateInfoEXT`.
#[repr(C)]
pub(super) struct LayoutInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    flags: u32,
    shader_stages: vk::ShaderStageFlags,
    stride: u32,
    pipeline_layout: vk::PipelineLayout,
    token_count: u32,
    tokens: *const Token,
}

impl LayoutInfo {
    /// Sequences of `stride` bytes made of `tokens`, which outlive this.
    pub(super) fn new(stride: u32, pipeline_layout: vk::PipelineLayout, tokens: &[Token]) -> Self {
        Self {
            s_type: vk::StructureType::from_raw(BASE + 6),
            p_next: ptr::null(),
            flags: 0,
            shader_stages: vk::ShaderStageFlags::COMPUTE,
            stride,
            pipeline_layout,
            token_count: tokens.len() as u32,
            tokens: tokens.as_ptr(),
        }
    }
}

/// `VkGeneratedCommandsPipelineInfoEXT`.
#[repr(C)]
pub(super) struct PipelineInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pipeline: vk::Pipeline,
}

impl PipelineInfo {
    pub(super) fn new(pipeline: vk::Pipeline) -> Self {
        Self { s_type: vk::StructureType::from_raw(BASE + 13), p_next: ptr::null_mut(), pipeline }
    }
}

/// `VkGeneratedCommandsMemoryRequirementsInfoEXT`.
#[repr(C)]
pub(super) struct RequirementsInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    execution_set: u64,
    layout: LayoutHandle,
    max_sequences: u32,
    max_draws: u32,
}

impl RequirementsInfo {
    /// For one sequence of the pipeline, which outlives this.
    pub(super) fn one(pipeline: &PipelineInfo, layout: LayoutHandle) -> Self {
        Self {
            s_type: vk::StructureType::from_raw(BASE + 2),
            p_next: ptr::from_ref(pipeline).cast(),
            execution_set: 0,
            layout,
            max_sequences: 1,
            max_draws: 0,
        }
    }
}

/// `VkGeneratedCommandsInfoEXT`.
#[repr(C)]
pub(super) struct CommandsInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    shader_stages: vk::ShaderStageFlags,
    execution_set: u64,
    layout: LayoutHandle,
    indirect_address: vk::DeviceAddress,
    indirect_size: vk::DeviceSize,
    preprocess_address: vk::DeviceAddress,
    preprocess_size: vk::DeviceSize,
    max_sequences: u32,
    sequence_count_address: vk::DeviceAddress,
    max_draws: u32,
}

impl CommandsInfo {
    /// One sequence of the pipeline, which outlives this; places are address and bytes.
    pub(super) fn one(pipeline: &PipelineInfo, layout: LayoutHandle, indirect: (u64, u64), work: (u64, u64)) -> Self {
        Self {
            s_type: vk::StructureType::from_raw(BASE + 4),
            p_next: ptr::from_ref(pipeline).cast(),
            shader_stages: vk::ShaderStageFlags::COMPUTE,
            execution_set: 0,
            layout,
            indirect_address: indirect.0,
            indirect_size: indirect.1,
            preprocess_address: work.0,
            preprocess_size: work.1,
            max_sequences: 1,
            sequence_count_address: 0,
            max_draws: 0,
        }
    }
}

type CreateLayout =
    unsafe extern "system" fn(vk::Device, *const LayoutInfo, *const c_void, *mut LayoutHandle) -> vk::Result;
type DestroyLayout = unsafe extern "system" fn(vk::Device, LayoutHandle, *const c_void);
type GetRequirements = unsafe extern "system" fn(vk::Device, *const RequirementsInfo, *mut vk::MemoryRequirements2<'_>);
type Execute = unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, *const CommandsInfo);

/// The extension's functions.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    device: vk::Device,
    create_layout: CreateLayout,
    destroy_layout: DestroyLayout,
    get_requirements: GetRequirements,
    execute: Execute,
}

impl Functions {
    /// Asks the driver for them; `None` when one is missing. The extension is enabled on the device.
    pub(crate) fn load(instance: &ash::Instance, device: vk::Device) -> Option<Self> {
        // SAFETY: the device is alive and the name is null-terminated.
        let find = |name: &CStr| unsafe { (instance.fp_v1_0().get_device_proc_addr)(device, name.as_ptr()) };
        let create = find(c"vkCreateIndirectCommandsLayoutEXT")?;
        let destroy = find(c"vkDestroyIndirectCommandsLayoutEXT")?;
        let requirements = find(c"vkGetGeneratedCommandsMemoryRequirementsEXT")?;
        let execute = find(c"vkCmdExecuteGeneratedCommandsEXT")?;
        // SAFETY: the signatures are those of the registry for these names.
        Some(unsafe {
            Self {
                device,
                create_layout: std::mem::transmute::<unsafe extern "system" fn(), CreateLayout>(create),
                destroy_layout: std::mem::transmute::<unsafe extern "system" fn(), DestroyLayout>(destroy),
                get_requirements: std::mem::transmute::<unsafe extern "system" fn(), GetRequirements>(requirements),
                execute: std::mem::transmute::<unsafe extern "system" fn(), Execute>(execute),
            }
        })
    }

    pub(super) fn create_layout(&self, info: &LayoutInfo) -> Result<LayoutHandle, vk::Result> {
        let mut handle = LayoutHandle(0);
        // SAFETY: the structure and what it points to outlive the call.
        unsafe { (self.create_layout)(self.device, info, ptr::null(), &raw mut handle) }.result()?;
        Ok(handle)
    }

    /// # Safety
    /// Nothing that uses the layout is in flight or will be submitted.
    pub(crate) unsafe fn destroy_layout(&self, layout: LayoutHandle) {
        // SAFETY: the caller vouches.
        unsafe { (self.destroy_layout)(self.device, layout, ptr::null()) };
    }

    pub(super) fn requirements(&self, info: &RequirementsInfo) -> vk::MemoryRequirements {
        let mut requirements = vk::MemoryRequirements2::default();
        // SAFETY: the structures outlive the call.
        unsafe { (self.get_requirements)(self.device, info, &raw mut requirements) };
        requirements.memory_requirements
    }

    /// # Safety
    /// The buffer is recording, the pipeline and its sets are bound, and the places are alive until it is gone.
    pub(super) unsafe fn execute(&self, commands: vk::CommandBuffer, info: &CommandsInfo) {
        // SAFETY: the caller vouches.
        unsafe { (self.execute)(commands, vk::FALSE, info) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes on machines with pointers of 64 bits, from the C declarations.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structures_have_the_sizes_of_the_c_declarations() {
        assert_eq!(size_of::<Features>(), 24);
        assert_eq!(size_of::<Properties>(), 64);
        assert_eq!(size_of::<Token>(), 40);
        assert_eq!(size_of::<LayoutInfo>(), 56);
        assert_eq!(size_of::<PipelineInfo>(), 24);
        assert_eq!(size_of::<RequirementsInfo>(), 40);
        assert_eq!(size_of::<CommandsInfo>(), 96);
    }

    #[test]
    fn a_device_that_cannot_dispatch_is_told_apart() {
        let able = || Properties {
            shader_stages: vk::ShaderStageFlags::COMPUTE,
            max_tokens: 16,
            max_sequences: 1024,
            max_token_offset: 2047,
            max_stride: 2048,
            ..Properties::default()
        };
        assert!(able().dispatches(140) && !Properties::default().dispatches(140));
        assert!(!Properties { shader_stages: vk::ShaderStageFlags::FRAGMENT, ..able() }.dispatches(140));
        assert!(!Properties { max_stride: 128, ..able() }.dispatches(140));
        assert!(!Properties { max_token_offset: 64, ..able() }.dispatches(140));
    }
}
