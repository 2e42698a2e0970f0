//! Compute pipelines, with layouts made from the shader's reflected interface.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::live::LiveToken;
use crate::retire::Retired;
use ash::vk;
use shaders::{Binding, BindingKind, Shader};
use std::sync::Arc;

/// A pipeline to create.
#[derive(Clone, Copy, Debug)]
pub struct PipelineDesc<'a> {
    /// Debug name.
    pub name: &'a str,
    /// The shader.
    pub shader: &'static Shader,
    /// Values of specialization constants: id and 32 bits. Others keep their defaults.
    pub constants: &'a [(u32, u32)],
    /// Require this subgroup size, with full subgroups (see
    /// [`crate::SubgroupInfo::can_require_size`]); `None` leaves it to the driver.
    pub subgroup_size: Option<u32>,
}

/// A compute pipeline with its layouts. May be created from several threads at once.
pub struct ComputePipeline {
    raw: vk::Pipeline,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    shader: &'static Shader,
    workgroup_size: [u32; 3],
    constants: Vec<(u32, u32)>,
    /// Whether [`crate::CommandBuffer::dispatch_from`] may begin anywhere.
    based: bool,
    name: String,
    device: Arc<Device>,
    _live: LiveToken,
}

impl ComputePipeline {
    /// Creates a pipeline with specialization constants and the driver's subgroup size.
    ///
    /// # Errors
    /// See [`ComputePipeline::with`].
    pub fn new(device: &Arc<Device>, shader: &'static Shader, constants: &[(u32, u32)], name: &str) -> Result<Self> {
        Self::with(device, &PipelineDesc { name, shader, constants, subgroup_size: None })
    }

    /// The same, for [`crate::CommandBuffer::dispatch_from`].
    ///
    /// # Errors
    /// See [`ComputePipeline::with`].
    pub fn based(device: &Arc<Device>, shader: &'static Shader, constants: &[(u32, u32)], name: &str) -> Result<Self> {
        Self::build(device, &PipelineDesc { name, shader, constants, subgroup_size: None }, true)
    }

    /// Creates a pipeline.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when the device lacks a capability the shader declares or cannot
    /// require the subgroup size, [`Error::Limit`] when workgroup, shared memory or push
    /// constants are too large, [`Error::Usage`] for a constant the shader does not have.
    pub fn with(device: &Arc<Device>, desc: &PipelineDesc<'_>) -> Result<Self> {
        Self::build(device, desc, false)
    }

    fn build(device: &Arc<Device>, desc: &PipelineDesc<'_>, based: bool) -> Result<Self> {
        let workgroup_size = check(device, desc)?;
        let (name, shader) = (desc.name, desc.shader);
        let mut built = Self {
            raw: vk::Pipeline::null(),
            layout: vk::PipelineLayout::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            shader,
            workgroup_size,
            constants: desc.constants.to_vec(),
            based,
            name: name.to_owned(),
            _live: device.live("ComputePipeline", name),
            device: Arc::clone(device),
        };
        // From here on a failure drops `built`, which destroys what exists.
        built.set_layout = set_layout(device, shader.info.bindings, name)?;
        built.layout = layout(device, built.set_layout, shader.info.push_constant_size, name)?;
        built.raw = pipeline(device, desc, built.layout, based)?;
        device.names.set(built.set_layout, name);
        device.names.set(built.layout, name);
        device.names.set(built.raw, name);
        Ok(built)
    }

    /// The Vulkan handle.
    #[must_use]
    pub fn raw(&self) -> vk::Pipeline {
        self.raw
    }

    /// The pipeline layout.
    #[must_use]
    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.set_layout
    }

    /// The shader this was made from.
    #[must_use]
    pub fn shader(&self) -> &'static Shader {
        self.shader
    }

    /// Specialization constants given at creation, id and bits.
    #[must_use]
    pub fn constants(&self) -> &[(u32, u32)] {
        &self.constants
    }

    /// Invocations per workgroup, with the constants given at creation.
    #[must_use]
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.workgroup_size
    }

    /// Whether a dispatch may begin at another workgroup than the first.
    pub(crate) fn is_based(&self) -> bool {
        self.based
    }

    /// The debug name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bindings of set 0.
    #[must_use]
    pub fn bindings(&self) -> &'static [Binding] {
        self.shader.info.bindings
    }
}

/// Checks a description against the device; gives the workgroup size.
fn check(device: &Device, desc: &PipelineDesc<'_>) -> Result<[u32; 3]> {
    let (name, info, caps) = (desc.name, &desc.shader.info, device.caps());
    let what = || format!("{name} ({})", desc.shader.name);
    for capability in info.capabilities {
        if !caps.spirv.contains(capability) {
            return Err(device.unsupported(&what(), format!("SPIR-V capability {capability}")));
        }
    }
    for (id, _) in desc.constants {
        if !info.spec_constants.iter().any(|c| c.id == *id) {
            return Err(Error::usage(&what(), format!("the shader has no specialization constant {id}")));
        }
    }
    let mut size = info.workgroup_size;
    for (value, id) in size.iter_mut().zip(info.workgroup_size_ids) {
        if let Some((_, given)) = desc.constants.iter().find(|(i, _)| Some(*i) == id) {
            *value = *given;
        }
    }
    let limits = &caps.limits;
    for (value, limit) in size.iter().zip(limits.max_workgroup_size) {
        Error::check_limit(&what(), u64::from(*value), limit.into(), "maxComputeWorkGroupSize")?;
    }
    let invocations = size.iter().map(|v| u64::from(*v)).product();
    Error::check_limit(&what(), invocations, limits.max_invocations.into(), "maxComputeWorkGroupInvocations")?;
    Error::check_limit(
        &what(),
        info.shared_memory_size.into(),
        limits.max_shared_memory.into(),
        "maxComputeSharedMemorySize",
    )?;
    Error::check_limit(
        &what(),
        info.push_constant_size.into(),
        limits.max_push_constants.into(),
        "maxPushConstantsSize",
    )?;
    if let Some(wanted) = desc.subgroup_size {
        let s = &caps.subgroup;
        let fits = s.can_require_size
            && (s.min_size..=s.max_size).contains(&wanted)
            && wanted.is_power_of_two()
            && size[0].is_multiple_of(wanted);
        if !fits {
            return Err(device.unsupported(&what(), format!("a subgroup size of {wanted}")));
        }
    }
    Ok(size)
}

/// Vulkan's type of a binding.
pub(crate) fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        BindingKind::SampledImage => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
    }
}

fn set_layout(device: &Device, bindings: &[Binding], name: &str) -> Result<vk::DescriptorSetLayout> {
    let bindings: Vec<_> = bindings
        .iter()
        .map(|b| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(b.binding)
                .descriptor_type(descriptor_type(b.kind))
                .descriptor_count(b.count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: binding numbers are unique (checked when the shader was reflected).
    unsafe { device.ash().create_descriptor_set_layout(&info, None) }
        .map_err(|code| device.creation_failed("vkCreateDescriptorSetLayout", name, 0, code))
}

fn layout(
    device: &Device,
    set_layout: vk::DescriptorSetLayout,
    push_size: u32,
    name: &str,
) -> Result<vk::PipelineLayout> {
    let sets = [set_layout];
    let ranges = [vk::PushConstantRange {
        stage_flags: vk::ShaderStageFlags::COMPUTE,
        offset: 0,
        size: push_size.next_multiple_of(4),
    }];
    let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
    if push_size > 0 {
        info = info.push_constant_ranges(&ranges);
    }
    // SAFETY: the set layout is alive, the push range within the limit.
    unsafe { device.ash().create_pipeline_layout(&info, None) }
        .map_err(|code| device.creation_failed("vkCreatePipelineLayout", name, 0, code))
}

fn pipeline(device: &Device, desc: &PipelineDesc<'_>, layout: vk::PipelineLayout, based: bool) -> Result<vk::Pipeline> {
    let ash = device.ash();
    let words: Vec<u32> =
        desc.shader.spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let module_info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words are a module the shader compiler wrote, with capabilities this device has.
    let module = unsafe { ash.create_shader_module(&module_info, None) }
        .map_err(|code| device.creation_failed("vkCreateShaderModule", desc.name, 0, code))?;
    let entries: Vec<_> = (0u32..)
        .zip(desc.constants)
        .map(|(i, (id, _))| vk::SpecializationMapEntry { constant_id: *id, offset: i * 4, size: 4 })
        .collect();
    let data: Vec<u8> = desc.constants.iter().flat_map(|(_, v)| v.to_ne_bytes()).collect();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
    let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main")
        .specialization_info(&specialization);
    if let Some(size) = desc.subgroup_size {
        required = required.required_subgroup_size(size);
        stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS).push_next(&mut required);
    }
    let flags = if based { vk::PipelineCreateFlags::DISPATCH_BASE } else { vk::PipelineCreateFlags::empty() };
    let info = vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(layout);
    // SAFETY: module, layout and specialization data are alive; the pipeline cache synchronises
    // itself.
    let result = unsafe { ash.create_compute_pipelines(device.pipeline_cache, &[info], None) };
    // SAFETY: a module is not needed once the pipeline exists.
    unsafe { ash.destroy_shader_module(module, None) };
    match result {
        Ok(pipelines) => Ok(pipelines[0]),
        Err((_, code)) => {
            let what = format!("{} ({})", desc.name, desc.shader.name);
            Err(device.creation_failed("vkCreateComputePipelines", &what, 0, code))
        }
    }
}

impl Drop for ComputePipeline {
    fn drop(&mut self) {
        self.device.retire(Retired::Pipeline(self.raw, self.layout, self.set_layout));
    }
}
