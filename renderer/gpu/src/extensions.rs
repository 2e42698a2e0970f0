//! Feature structures of extensions that are newer than the bindings.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::ptr;

/// `VK_EXT_shader_float8`.
pub(crate) const SHADER_FLOAT8: &CStr = c"VK_EXT_shader_float8";
/// `VK_KHR_shader_bfloat16`.
pub(crate) const SHADER_BFLOAT16: &CStr = c"VK_KHR_shader_bfloat16";
/// `VK_NV_cooperative_matrix2`.
pub(crate) const COOPERATIVE_MATRIX2: &CStr = c"VK_NV_cooperative_matrix2";
/// `VK_EXT_device_generated_commands`; its structures are in [`crate::generated`].
pub(crate) const DEVICE_GENERATED_COMMANDS: &CStr = c"VK_EXT_device_generated_commands";

/// `VkPhysicalDeviceShaderFloat8FeaturesEXT`.
#[repr(C)]
pub(crate) struct Float8Features {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: *mut c_void,
    pub(crate) float8: vk::Bool32,
    pub(crate) float8_cooperative_matrix: vk::Bool32,
}

impl Default for Float8Features {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_567_000),
            p_next: ptr::null_mut(),
            float8: vk::FALSE,
            float8_cooperative_matrix: vk::FALSE,
        }
    }
}

// SAFETY: the layout is the one of the registry, and the structure extends both in the
// specification.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Float8Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Float8Features {}

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
#[repr(C)]
pub(crate) struct Bfloat16Features {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: *mut c_void,
    pub(crate) bfloat16: vk::Bool32,
    pub(crate) dot_product: vk::Bool32,
    pub(crate) cooperative_matrix: vk::Bool32,
}

impl Default for Bfloat16Features {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_141_000),
            p_next: ptr::null_mut(),
            bfloat16: vk::FALSE,
            dot_product: vk::FALSE,
            cooperative_matrix: vk::FALSE,
        }
    }
}

// SAFETY: the layout is the one of the registry, and the structure extends both in the
// specification.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Bfloat16Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Bfloat16Features {}

/// `VkPhysicalDeviceCooperativeMatrix2FeaturesNV`.
#[repr(C)]
pub(crate) struct CooperativeMatrix2Features {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: *mut c_void,
    /// Workgroup scope, flexible dimensions, reductions, conversions, per-element operations,
    /// tensor addressing, block loads.
    pub(crate) flags: [vk::Bool32; 7],
}

impl Default for CooperativeMatrix2Features {
    fn default() -> Self {
        Self { s_type: vk::StructureType::from_raw(1_000_593_000), p_next: ptr::null_mut(), flags: [vk::FALSE; 7] }
    }
}

// SAFETY: the layout is the one of the registry, and the structure extends both in the
// specification.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for CooperativeMatrix2Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for CooperativeMatrix2Features {}
