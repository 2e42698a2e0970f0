//! What a device can do, as plain data.

use crate::adapter::DeviceKind;
use serde::Serialize;
use std::collections::BTreeSet;

/// Everything probed about a device. Features named here are enabled when the device is opened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Capabilities {
    /// Device name.
    pub name: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Whether the device is the CPU: everything is slow, and submissions should be short.
    pub is_cpu: bool,
    /// Driver name and version text.
    pub driver: String,
    /// Driver version, raw.
    pub driver_version: u32,
    /// PCI vendor, or a Khronos vendor number.
    pub vendor_id: u32,
    /// Device number of the vendor.
    pub device_id: u32,
    /// Vulkan's pipeline cache UUID, hexadecimal.
    pub pipeline_cache_uuid: String,
    /// Vulkan's device UUID, hexadecimal.
    pub device_uuid: String,
    /// Vulkan version, raw.
    pub api_version: u32,
    /// Limits.
    pub limits: Limits,
    /// Subgroups.
    pub subgroup: SubgroupInfo,
    /// Memory heaps.
    pub heaps: Vec<MemoryHeap>,
    /// Whether the queue also draws (blits, the window overlay); compute alone otherwise.
    pub graphics: bool,
    /// `shaderInt8`.
    pub int8: bool,
    /// `shaderInt16`.
    pub int16: bool,
    /// `shaderInt64`.
    pub int64: bool,
    /// `shaderFloat16`.
    pub float16: bool,
    /// `vulkanMemoryModel`.
    pub memory_model: bool,
    /// `subgroupSizeControl` and `computeFullSubgroups`.
    pub subgroup_size_control: bool,
    /// `bufferDeviceAddress`.
    pub buffer_device_address: bool,
    /// `scalarBlockLayout`.
    pub scalar_block_layout: bool,
    /// Float controls: single-precision rounding toward zero can be asked for.
    pub rounding_mode_rtz_f32: bool,
    /// Float controls: half-precision denormals can be kept.
    pub denorm_preserve_f16: bool,
    /// Float controls: single-precision denormals can be kept.
    pub denorm_preserve_f32: bool,
    /// `VK_KHR_cooperative_matrix`: the shapes, empty without the extension.
    pub cooperative_matrix: Vec<CooperativeMatrixShape>,
    /// `VK_NV_cooperative_matrix2` with all of its features.
    pub cooperative_matrix2: bool,
    /// `VK_KHR_shader_bfloat16`: bfloat16 in cooperative matrices.
    pub bfloat16_cooperative_matrix: bool,
    /// `VK_EXT_shader_float8`: 8-bit floats in shaders.
    pub float8: bool,
    /// `VK_EXT_shader_float8`: 8-bit floats in cooperative matrices.
    pub float8_cooperative_matrix: bool,
    /// `VK_EXT_device_generated_commands` for dispatches with push constants.
    pub device_generated_commands: bool,
    /// `VK_EXT_memory_budget`.
    pub memory_budget: bool,
    /// `VK_KHR_swapchain`.
    pub swapchain: bool,
    /// `VK_EXT_debug_utils`.
    pub debug_utils: bool,
    /// SPIR-V capabilities a shader may declare on this device.
    pub spirv: BTreeSet<&'static str>,
}

impl Capabilities {
    /// Whether E4M3 matrices can be multiplied into `accumulator` by one subgroup.
    #[must_use]
    pub fn has_e4m3_matrix(&self, accumulator: ComponentType) -> bool {
        self.float8_cooperative_matrix
            && self
                .cooperative_matrix
                .iter()
                .any(|s| s.a == ComponentType::E4M3 && s.b == ComponentType::E4M3 && s.c == accumulator)
    }
}

impl Capabilities {
    /// What is left when no optional device extension is enabled.
    pub(crate) fn drop_extensions(&mut self) {
        self.cooperative_matrix.clear();
        self.cooperative_matrix2 = false;
        self.bfloat16_cooperative_matrix = false;
        self.float8 = false;
        self.float8_cooperative_matrix = false;
        self.device_generated_commands = false;
        self.memory_budget = false;
        let of_extension =
            |name: &str| ["CooperativeMatrix", "TensorAddressing", "Float8"].iter().any(|p| name.starts_with(p));
        self.spirv.retain(|name| !of_extension(name));
    }
}

/// Vulkan limits; sizes in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Limits {
    /// `maxStorageBufferRange`: bytes one storage binding may cover.
    pub max_storage_buffer_range: u64,
    /// `maxUniformBufferRange`.
    pub max_uniform_buffer_range: u64,
    /// `maxMemoryAllocationSize`.
    pub max_memory_allocation: u64,
    /// `maxBufferSize`.
    pub max_buffer_size: u64,
    /// `maxComputeSharedMemorySize`.
    pub max_shared_memory: u32,
    /// `maxComputeWorkGroupInvocations`.
    pub max_invocations: u32,
    /// `maxComputeWorkGroupSize` in x, y, z.
    pub max_workgroup_size: [u32; 3],
    /// `maxComputeWorkGroupCount` in x, y, z.
    pub max_workgroup_count: [u32; 3],
    /// `maxPushConstantsSize`.
    pub max_push_constants: u32,
    /// `minStorageBufferOffsetAlignment`.
    pub min_storage_alignment: u64,
    /// `minUniformBufferOffsetAlignment`.
    pub min_uniform_alignment: u64,
    /// `maxImageDimension2D`, pixels.
    pub max_image_dimension: u32,
    /// `timestampPeriod`: nanoseconds per tick.
    pub timestamp_period: f32,
    /// Valid bits of a timestamp of the queue; 0 means no timestamps.
    pub timestamp_bits: u32,
}

/// Subgroups of compute shaders.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SubgroupInfo {
    /// Usual number of invocations.
    pub size: u32,
    /// Smallest number a pipeline may require.
    pub min_size: u32,
    /// Largest number a pipeline may require.
    pub max_size: u32,
    /// Whether a compute pipeline may require a size.
    pub can_require_size: bool,
    /// Supported operations: `basic`, `vote`, `arithmetic`, `ballot`, `shuffle`,
    /// `shuffle_relative`, `clustered`, `quad`.
    pub operations: Vec<&'static str>,
}

/// One memory heap.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MemoryHeap {
    /// Bytes.
    pub size: u64,
    /// Whether it is the device's own memory.
    pub device_local: bool,
}

/// One memory heap at this moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeapBudget {
    /// Bytes of the heap.
    pub size: u64,
    /// Bytes this process may use, as the driver estimates; the whole heap without
    /// `VK_EXT_memory_budget`.
    pub budget: u64,
    /// Bytes this process uses, as the driver counts; 0 without `VK_EXT_memory_budget`.
    pub usage: u64,
    /// Whether it is the device's own memory.
    pub device_local: bool,
}

/// Memory of a device's objects.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MemoryUse {
    /// Bytes in buffers and images.
    pub used: u64,
    /// Bytes taken from the driver for them, free parts of blocks included.
    pub reserved: u64,
}

/// One cooperative matrix multiplication: `result[m][n] = a[m][k] * b[k][n] + c[m][n]`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct CooperativeMatrixShape {
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// Terms.
    pub k: u32,
    /// Element type of a.
    pub a: ComponentType,
    /// Element type of b.
    pub b: ComponentType,
    /// Element type of c.
    pub c: ComponentType,
    /// Element type of the result.
    pub result: ComponentType,
    /// Whether integer accumulation saturates.
    pub saturating: bool,
    /// Who computes it together.
    pub scope: MatrixScope,
}

/// Element types of cooperative matrices.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ComponentType {
    F16,
    F32,
    F64,
    Bf16,
    E4M3,
    E5M2,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// One this program does not know, with Vulkan's number.
    Other(i32),
}

impl ComponentType {
    /// From Vulkan's number (`VkComponentTypeKHR`).
    pub(crate) fn from_raw(raw: i32) -> Self {
        match raw {
            0 => Self::F16,
            1 => Self::F32,
            2 => Self::F64,
            3 => Self::I8,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::U8,
            8 => Self::U16,
            9 => Self::U32,
            10 => Self::U64,
            1_000_141_000 => Self::Bf16,
            1_000_491_002 => Self::E4M3,
            1_000_491_003 => Self::E5M2,
            other => Self::Other(other),
        }
    }
}

/// Who computes a cooperative matrix together.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MatrixScope {
    /// One subgroup.
    Subgroup,
    /// One workgroup.
    Workgroup,
    /// Something else.
    Other,
}
