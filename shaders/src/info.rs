//! What the host has to know about a compiled shader.

use serde::{Deserialize, Serialize};

/// One compiled compute shader.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// `subject/stem`, or `subject/stem.variant` for a source with variants.
    pub name: &'static str,
    /// SPIR-V 1.6 module: little-endian words, a multiple of four bytes, no alignment promised.
    pub spirv: &'static [u8],
    /// The module's interface, reflected when it was compiled.
    pub info: ShaderInfo,
}

/// The interface of one module.
#[derive(Clone, Copy, Debug)]
pub struct ShaderInfo {
    /// Invocations per workgroup in x, y, z. For a dimension given by a specialization
    /// constant this is the default; see [`ShaderInfo::workgroup_size_ids`].
    pub workgroup_size: [u32; 3],
    /// The specialization constant that sets each dimension (`local_size_x_id`), if any.
    pub workgroup_size_ids: [Option<u32>; 3],
    /// Bindings of descriptor set 0, sorted by number. No other set is used.
    pub bindings: &'static [Binding],
    /// Size of the push constant block in bytes; 0 without one.
    pub push_constant_size: u32,
    /// Shared (workgroup) memory in bytes, with default specialization constants.
    pub shared_memory_size: u32,
    /// Specialization constants, sorted by id.
    pub spec_constants: &'static [SpecConstant],
    /// SPIR-V capabilities the module declares, by their specification names, sorted.
    pub capabilities: &'static [&'static str],
    /// SHA-256 of `Shader::spirv`, lower-case hexadecimal.
    pub spirv_sha256: &'static str,
}

/// One descriptor binding of set 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Binding number.
    pub binding: u32,
    /// Descriptor type.
    pub kind: BindingKind,
    /// Number of array elements; 1 for a plain binding.
    pub count: u32,
}

/// Descriptor types the shaders use.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize, Deserialize)]
pub enum BindingKind {
    /// `buffer` block.
    StorageBuffer,
    /// `uniform` block.
    UniformBuffer,
    /// `image2D` and the like.
    StorageImage,
    /// `sampler2D` and the like (combined image and sampler).
    SampledImage,
}

/// One specialization constant (32 bits).
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct SpecConstant {
    /// `constant_id`.
    pub id: u32,
    /// Bits of the default value; a `bool` is 0 or 1.
    pub default: u32,
}
