//! Asking a physical device what it can do.

use crate::adapter::{AdapterInfo, DeviceKind, FeatureReport};
use crate::capabilities::{
    Capabilities, ComponentType, CooperativeMatrixShape, Limits, MatrixScope, MemoryHeap, SubgroupInfo,
};
use crate::extensions::{
    Bfloat16Features, COOPERATIVE_MATRIX2, CooperativeMatrix2Features, DEVICE_GENERATED_COMMANDS, Float8Features,
    SHADER_BFLOAT16, SHADER_FLOAT8,
};
use crate::generated;
use crate::instance::Instance;
use ash::{ext, khr, vk};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

/// The outcome for one device.
pub(crate) struct Probe {
    pub(crate) info: AdapterInfo,
    pub(crate) queue_family: Option<u32>,
}

/// `major.minor.patch`.
pub(crate) fn version_text(version: u32) -> String {
    format!("{}.{}.{}", vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Names of the device's extensions; empty when they cannot be listed.
pub(crate) fn extension_names(instance: &Instance, device: vk::PhysicalDevice) -> BTreeSet<CString> {
    // SAFETY: the device was enumerated from this instance.
    let list = unsafe { instance.raw().enumerate_device_extension_properties(device) };
    let names = list.unwrap_or_default();
    names.iter().filter_map(|e| e.extension_name_as_c_str().ok().map(CStr::to_owned)).collect()
}

/// The first family with graphics and compute, or else with compute.
fn pick_family(families: &[vk::QueueFamilyProperties]) -> Option<(u32, &vk::QueueFamilyProperties)> {
    let find = |flags: vk::QueueFlags| {
        (0u32..).zip(families).find(|(_, f)| f.queue_flags.contains(flags) && f.queue_count > 0)
    };
    find(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE).or_else(|| find(vk::QueueFlags::COMPUTE))
}

/// Bytes of push constants that every device has.
const MOST_PUSH: u32 = 128;

/// Probes one device. Never fails: what is missing makes the device unusable, with the reason.
pub(crate) fn probe(instance: &Instance, device: vk::PhysicalDevice, index: usize) -> Probe {
    let raw = instance.raw();
    // SAFETY: the device was enumerated from this instance; so for every query below.
    let basic = unsafe { raw.get_physical_device_properties(device) };
    let extensions = extension_names(instance, device);
    let has = |name: &CStr| extensions.contains(name);
    let modern = basic.api_version >= vk::API_VERSION_1_3;

    let mut p11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut p12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut p13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut f11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut f13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut matrix = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default();
    let mut matrix2 = CooperativeMatrix2Features::default();
    let mut float8 = Float8Features::default();
    let mut bfloat16 = Bfloat16Features::default();
    let mut generated = generated::Features::default();
    let mut generated_limits = generated::Properties::default();
    let mut maintenance5 = vk::PhysicalDeviceMaintenance5FeaturesKHR::default();
    let mut f10 = vk::PhysicalDeviceFeatures::default();
    if modern {
        let mut properties =
            vk::PhysicalDeviceProperties2::default().push_next(&mut p11).push_next(&mut p12).push_next(&mut p13);
        let mut features =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut f11).push_next(&mut f12).push_next(&mut f13);
        if has(khr::cooperative_matrix::NAME) {
            features = features.push_next(&mut matrix);
        }
        if has(COOPERATIVE_MATRIX2) {
            features = features.push_next(&mut matrix2);
        }
        if has(SHADER_BFLOAT16) {
            features = features.push_next(&mut bfloat16);
        }
        if has(SHADER_FLOAT8) {
            features = features.push_next(&mut float8);
        }
        if has(DEVICE_GENERATED_COMMANDS) && has(khr::maintenance5::NAME) {
            features = features.push_next(&mut generated).push_next(&mut maintenance5);
            properties = properties.push_next(&mut generated_limits);
        }
        // SAFETY: the chained structures are of extensions the device lists, and outlive the calls.
        unsafe {
            raw.get_physical_device_properties2(device, &mut properties);
            raw.get_physical_device_features2(device, &mut features);
        }
        f10 = features.features;
    }
    // SAFETY: plain queries.
    let (families, memory) = unsafe {
        (raw.get_physical_device_queue_family_properties(device), raw.get_physical_device_memory_properties(device))
    };
    let family = pick_family(&families);
    let graphics = family.is_some_and(|(_, f)| f.queue_flags.contains(vk::QueueFlags::GRAPHICS));
    let kind = match basic.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    let on = |flag: vk::Bool32| flag == vk::TRUE;
    let l = &basic.limits;
    let limits = Limits {
        max_storage_buffer_range: l.max_storage_buffer_range.into(),
        max_uniform_buffer_range: l.max_uniform_buffer_range.into(),
        max_memory_allocation: p11.max_memory_allocation_size,
        max_buffer_size: p13.max_buffer_size,
        max_shared_memory: l.max_compute_shared_memory_size,
        max_invocations: l.max_compute_work_group_invocations,
        max_workgroup_size: l.max_compute_work_group_size,
        max_workgroup_count: l.max_compute_work_group_count,
        max_push_constants: l.max_push_constants_size,
        min_storage_alignment: l.min_storage_buffer_offset_alignment,
        min_uniform_alignment: l.min_uniform_buffer_offset_alignment,
        max_image_dimension: l.max_image_dimension2_d,
        timestamp_period: l.timestamp_period,
        timestamp_bits: family.map_or(0, |(_, f)| f.timestamp_valid_bits),
    };
    let compute = vk::ShaderStageFlags::COMPUTE;
    let subgroup_size_control = on(f13.subgroup_size_control) && on(f13.compute_full_subgroups);
    let subgroup = SubgroupInfo {
        size: p11.subgroup_size,
        min_size: p13.min_subgroup_size,
        max_size: p13.max_subgroup_size,
        can_require_size: subgroup_size_control && p13.required_subgroup_size_stages.contains(compute),
        operations: if p11.subgroup_supported_stages.contains(compute) {
            subgroup_operations(p11.subgroup_supported_operations)
        } else {
            Vec::new()
        },
    };
    let shapes = if on(matrix.cooperative_matrix) { matrix_shapes(instance, device) } else { Vec::new() };
    let driver = format!("{} {}", text(p12.driver_name_as_c_str()), text(p12.driver_info_as_c_str()));
    let mut capabilities = Capabilities {
        name: text(basic.device_name_as_c_str()),
        kind,
        is_cpu: kind == DeviceKind::Cpu,
        driver: driver.trim().to_owned(),
        driver_version: basic.driver_version,
        vendor_id: basic.vendor_id,
        device_id: basic.device_id,
        pipeline_cache_uuid: hex(&basic.pipeline_cache_uuid),
        device_uuid: hex(&p11.device_uuid),
        api_version: basic.api_version,
        limits,
        subgroup,
        heaps: memory
            .memory_heaps_as_slice()
            .iter()
            .map(|h| MemoryHeap { size: h.size, device_local: h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL) })
            .collect(),
        graphics,
        int8: on(f12.shader_int8),
        int16: on(f10.shader_int16),
        int64: on(f10.shader_int64),
        float16: on(f12.shader_float16),
        memory_model: on(f12.vulkan_memory_model),
        subgroup_size_control,
        buffer_device_address: on(f12.buffer_device_address),
        scalar_block_layout: on(f12.scalar_block_layout),
        rounding_mode_rtz_f32: on(p12.shader_rounding_mode_rtz_float32),
        denorm_preserve_f16: on(p12.shader_denorm_preserve_float16),
        denorm_preserve_f32: on(p12.shader_denorm_preserve_float32),
        cooperative_matrix: shapes,
        cooperative_matrix2: matrix2.flags.iter().all(|&flag| on(flag)),
        bfloat16_cooperative_matrix: on(matrix.cooperative_matrix)
            && on(bfloat16.bfloat16)
            && on(bfloat16.cooperative_matrix),
        float8: on(float8.float8),
        float8_cooperative_matrix: on(float8.float8_cooperative_matrix),
        device_generated_commands: on(generated.device_generated_commands)
            && on(maintenance5.maintenance5)
            && on(f12.buffer_device_address)
            && generated_limits.dispatches(generated::stride(MOST_PUSH)),
        memory_budget: has(ext::memory_budget::NAME),
        swapchain: has(khr::swapchain::NAME),
        debug_utils: instance.has_debug_utils(),
        spirv: BTreeSet::new(),
    };
    let enabled = Enabled { f10, f11, f12, p12 };
    capabilities.spirv = spirv_capabilities(&capabilities, &enabled);
    let features = reports(&capabilities, &enabled, &f13);
    let mut reasons = Vec::new();
    if !modern {
        reasons.push(format!("it offers Vulkan {} and 1.3 is needed", version_text(basic.api_version)));
    } else {
        let lacking: Vec<_> = features.iter().filter(|f| f.required && !f.present).map(|f| f.name).collect();
        if !lacking.is_empty() {
            reasons.push(format!("it lacks {}", lacking.join(", ")));
        }
    }
    if family.is_none() {
        reasons.push("it has no compute queue".to_owned());
    }
    let info = AdapterInfo {
        index,
        name: capabilities.name.clone(),
        kind,
        driver: capabilities.driver.clone(),
        api_version: version_text(basic.api_version),
        features,
        usable: if reasons.is_empty() { Ok(()) } else { Err(reasons.join("; ")) },
        capabilities,
    };
    Probe { info, queue_family: family.map(|(i, _)| i) }
}

fn subgroup_operations(flags: vk::SubgroupFeatureFlags) -> Vec<&'static str> {
    use vk::SubgroupFeatureFlags as F;
    let names = [
        (F::BASIC, "basic"),
        (F::VOTE, "vote"),
        (F::ARITHMETIC, "arithmetic"),
        (F::BALLOT, "ballot"),
        (F::SHUFFLE, "shuffle"),
        (F::SHUFFLE_RELATIVE, "shuffle_relative"),
        (F::CLUSTERED, "clustered"),
        (F::QUAD, "quad"),
    ];
    names.iter().filter(|(f, _)| flags.contains(*f)).map(|(_, name)| *name).collect()
}

fn matrix_shapes(instance: &Instance, device: vk::PhysicalDevice) -> Vec<CooperativeMatrixShape> {
    let functions = khr::cooperative_matrix::Instance::new(instance.entry(), instance.raw());
    // SAFETY: the device has the extension with its feature, which implies this query.
    let list = unsafe { functions.get_physical_device_cooperative_matrix_properties(device) };
    let kind = |t: vk::ComponentTypeKHR| ComponentType::from_raw(t.as_raw());
    let shape = |p: &vk::CooperativeMatrixPropertiesKHR<'_>| CooperativeMatrixShape {
        m: p.m_size,
        n: p.n_size,
        k: p.k_size,
        a: kind(p.a_type),
        b: kind(p.b_type),
        c: kind(p.c_type),
        result: kind(p.result_type),
        saturating: p.saturating_accumulation == vk::TRUE,
        scope: match p.scope {
            vk::ScopeKHR::SUBGROUP => MatrixScope::Subgroup,
            vk::ScopeKHR::WORKGROUP => MatrixScope::Workgroup,
            _ => MatrixScope::Other,
        },
    };
    list.unwrap_or_default().iter().map(shape).collect()
}

/// Core structures the capability list and the report are made from.
struct Enabled<'a> {
    f10: vk::PhysicalDeviceFeatures,
    f11: vk::PhysicalDeviceVulkan11Features<'a>,
    f12: vk::PhysicalDeviceVulkan12Features<'a>,
    p12: vk::PhysicalDeviceVulkan12Properties<'a>,
}

/// SPIR-V capabilities whose features are enabled when the device is opened.
fn spirv_capabilities(c: &Capabilities, e: &Enabled<'_>) -> BTreeSet<&'static str> {
    let on = |flag: vk::Bool32| flag == vk::TRUE;
    let op = |name: &str| c.subgroup.operations.contains(&name);
    let p12 = &e.p12;
    let table = [
        ("Matrix", true),
        ("Shader", true),
        ("Sampled1D", true),
        ("Image1D", true),
        ("ImageQuery", true),
        ("StorageImageExtendedFormats", true), // a core requirement since Vulkan 1.0 for these
        ("ImageGatherExtended", on(e.f10.shader_image_gather_extended)),
        ("StorageImageReadWithoutFormat", on(e.f10.shader_storage_image_read_without_format)),
        ("StorageImageWriteWithoutFormat", on(e.f10.shader_storage_image_write_without_format)),
        ("Int8", c.int8),
        ("Int16", c.int16),
        ("Int64", c.int64),
        ("Float16", c.float16),
        ("StorageBuffer8BitAccess", on(e.f12.storage_buffer8_bit_access)),
        ("UniformAndStorageBuffer8BitAccess", on(e.f12.uniform_and_storage_buffer8_bit_access)),
        ("StoragePushConstant8", on(e.f12.storage_push_constant8)),
        ("StorageBuffer16BitAccess", on(e.f11.storage_buffer16_bit_access)),
        ("UniformAndStorageBuffer16BitAccess", on(e.f11.uniform_and_storage_buffer16_bit_access)),
        ("StoragePushConstant16", on(e.f11.storage_push_constant16)),
        ("VulkanMemoryModel", c.memory_model),
        ("VulkanMemoryModelDeviceScope", on(e.f12.vulkan_memory_model_device_scope)),
        ("PhysicalStorageBufferAddresses", c.buffer_device_address),
        ("GroupNonUniform", op("basic")),
        ("GroupNonUniformVote", op("vote")),
        ("GroupNonUniformArithmetic", op("arithmetic")),
        ("GroupNonUniformBallot", op("ballot")),
        ("GroupNonUniformShuffle", op("shuffle")),
        ("GroupNonUniformShuffleRelative", op("shuffle_relative")),
        ("GroupNonUniformClustered", op("clustered")),
        ("GroupNonUniformQuad", op("quad")),
        ("DenormPreserve", on(p12.shader_denorm_preserve_float32)),
        ("SignedZeroInfNanPreserve", on(p12.shader_signed_zero_inf_nan_preserve_float32)),
        ("RoundingModeRTE", on(p12.shader_rounding_mode_rte_float32)),
        ("RoundingModeRTZ", on(p12.shader_rounding_mode_rtz_float32)),
        ("CooperativeMatrixKHR", !c.cooperative_matrix.is_empty()),
        ("BFloat16TypeKHR", c.bfloat16_cooperative_matrix),
        ("BFloat16CooperativeMatrixKHR", c.bfloat16_cooperative_matrix),
        ("Float8EXT", c.float8),
        ("Float8CooperativeMatrixEXT", c.float8_cooperative_matrix),
        ("CooperativeMatrixReductionsNV", c.cooperative_matrix2),
        ("CooperativeMatrixConversionsNV", c.cooperative_matrix2),
        ("CooperativeMatrixPerElementOperationsNV", c.cooperative_matrix2),
        ("CooperativeMatrixTensorAddressingNV", c.cooperative_matrix2),
        ("CooperativeMatrixBlockLoadsNV", c.cooperative_matrix2),
        ("TensorAddressingNV", c.cooperative_matrix2),
    ];
    table.iter().filter(|(_, present)| *present).map(|(name, _)| *name).collect()
}

fn reports(c: &Capabilities, e: &Enabled<'_>, f13: &vk::PhysicalDeviceVulkan13Features<'_>) -> Vec<FeatureReport> {
    let on = |flag: vk::Bool32| flag == vk::TRUE;
    let required =
        |name, present| FeatureReport { name, present, required: true, without: "nothing runs on this device" };
    let optional = |name, present, without| FeatureReport { name, present, required: false, without };
    vec![
        required("dynamicRendering", on(f13.dynamic_rendering)),
        required("synchronization2", on(f13.synchronization2)),
        required("maintenance4", on(f13.maintenance4)),
        required("timelineSemaphore", on(e.f12.timeline_semaphore)),
        required("storageBuffer8BitAccess", on(e.f12.storage_buffer8_bit_access)),
        required("storageBuffer16BitAccess", on(e.f11.storage_buffer16_bit_access)),
        optional("graphics queue", c.graphics, "no window on this device; pictures are written to files"),
        optional("VK_KHR_swapchain", c.swapchain, "no window on this device; pictures are written to files"),
        optional("shaderInt8", c.int8, "only the exact route, which needs no 8-bit arithmetic"),
        optional("shaderInt16", c.int16, "only the exact route, which needs no 16-bit arithmetic"),
        optional("shaderFloat16", c.float16, "no matrix-unit route"),
        optional("vulkanMemoryModel", c.memory_model, "no matrix-unit route"),
        optional("subgroupSizeControl", c.subgroup_size_control, "no matrix-unit route"),
        optional(
            "VK_KHR_cooperative_matrix",
            !c.cooperative_matrix.is_empty(),
            "no matrix-unit route; the network runs on the plain route",
        ),
        optional(
            "VK_KHR_shader_bfloat16",
            c.bfloat16_cooperative_matrix,
            "the exact route does not use matrix units, and takes several times longer where it could",
        ),
        optional("VK_EXT_shader_float8", c.float8_cooperative_matrix, "no 8-bit float matrix units"),
        optional(
            "VK_NV_cooperative_matrix2",
            c.cooperative_matrix2,
            "matrix routes use plain loads and no fusion in registers",
        ),
        optional(
            "VK_EXT_device_generated_commands",
            c.device_generated_commands,
            "the replay route generated falls back to the direct one",
        ),
        optional("timestamps", c.limits.timestamp_bits > 0, "no time per pass"),
        optional("VK_EXT_memory_budget", c.memory_budget, "free memory is guessed from the heap size"),
        optional("VK_EXT_debug_utils", c.debug_utils, "no names and labels in graphics debuggers"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(flags: vk::QueueFlags) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties { queue_flags: flags, queue_count: 1, ..Default::default() }
    }

    #[test]
    fn a_family_that_draws_comes_before_one_that_only_computes() {
        let transfer = family(vk::QueueFlags::TRANSFER);
        let compute = family(vk::QueueFlags::COMPUTE);
        let both = family(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        assert_eq!(pick_family(&[transfer, compute, both]).unwrap().0, 2);
        assert_eq!(pick_family(&[transfer, compute]).unwrap().0, 1);
        assert!(pick_family(&[transfer]).is_none());
    }

    #[test]
    fn versions_read_as_text() {
        assert_eq!(version_text(vk::make_api_version(0, 1, 3, 230)), "1.3.230");
    }
}
