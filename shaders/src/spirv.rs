//! A small reader of SPIR-V modules: just what a pipeline layout is made from.
//!
//! General reflection crates reject modules with cooperative matrices or id-form workgroup
//! sizes, so the few instructions that matter are walked here.

use crate::info::{Binding, BindingKind, SpecConstant};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// The reflected interface of a module, in owned form (see [`crate::ShaderInfo`]).
#[derive(Clone, Debug, Default, Eq, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Reflection {
    /// Invocations per workgroup (defaults where specialized).
    pub workgroup_size: [u32; 3],
    /// Specialization constant of each dimension, if any.
    pub workgroup_size_ids: [Option<u32>; 3],
    /// Bindings of set 0, sorted.
    pub bindings: Vec<Binding>,
    /// Push constant block size in bytes.
    pub push_constant_size: u32,
    /// Shared memory in bytes.
    pub shared_memory_size: u32,
    /// Specialization constants, sorted by id.
    pub spec_constants: Vec<SpecConstant>,
    /// Capability names, sorted.
    pub capabilities: Vec<String>,
}

/// Why a module was refused.
#[derive(Debug, Eq, PartialEq)]
pub struct ReflectError(String);

impl fmt::Display for ReflectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SPIR-V: {}", self.0)
    }
}

impl std::error::Error for ReflectError {}

fn fail<T>(message: impl Into<String>) -> Result<T, ReflectError> {
    Err(ReflectError(message.into()))
}

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

/// Instructions read here, by opcode (SPIR-V specification, section 3.52).
mod op {
    pub const ENTRY_POINT: u16 = 15;
    pub const EXECUTION_MODE: u16 = 16;
    pub const CAPABILITY: u16 = 17;
    pub const TYPE_BOOL: u16 = 20;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_MATRIX: u16 = 24;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_SAMPLED_IMAGE: u16 = 27;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const CONSTANT: u16 = 43;
    pub const CONSTANT_COMPOSITE: u16 = 44;
    pub const SPEC_CONSTANT_TRUE: u16 = 48;
    pub const SPEC_CONSTANT_FALSE: u16 = 49;
    pub const SPEC_CONSTANT: u16 = 50;
    pub const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub const SPEC_CONSTANT_OP: u16 = 52;
    pub const VARIABLE: u16 = 59;
    pub const DECORATE: u16 = 71;
    pub const MEMBER_DECORATE: u16 = 72;
    pub const EXECUTION_MODE_ID: u16 = 331;
}

mod decoration {
    pub const SPEC_ID: u32 = 1;
    pub const BUFFER_BLOCK: u32 = 3;
    pub const ARRAY_STRIDE: u32 = 6;
    pub const MATRIX_STRIDE: u32 = 7;
    pub const BUILT_IN: u32 = 11;
    pub const NON_WRITABLE: u32 = 24;
    pub const NON_READABLE: u32 = 25;
    pub const BINDING: u32 = 33;
    pub const DESCRIPTOR_SET: u32 = 34;
    pub const OFFSET: u32 = 35;
}

mod storage_class {
    pub const UNIFORM_CONSTANT: u32 = 0;
    pub const UNIFORM: u32 = 2;
    pub const WORKGROUP: u32 = 4;
    pub const PUSH_CONSTANT: u32 = 9;
    pub const STORAGE_BUFFER: u32 = 12;
}

const EXECUTION_MODEL_GLCOMPUTE: u32 = 5;
const MODE_LOCAL_SIZE: u32 = 17;
const MODE_LOCAL_SIZE_ID: u32 = 38;
const BUILT_IN_WORKGROUP_SIZE: u32 = 25;

enum Type {
    Scalar(u32),
    Vector { component: u32, count: u32 },
    Array { element: u32, length: u32 },
    RuntimeArray,
    Struct(Vec<u32>),
    Pointer { target: u32 },
    Image { sampled: u32 },
    SampledImage,
}

#[derive(Default)]
struct Module {
    types: HashMap<u32, Type>,
    constants: HashMap<u32, u32>,
    composites: HashMap<u32, Vec<u32>>,
    decorations: HashMap<(u32, u32), u32>,
    members: HashMap<(u32, u32, u32), u32>,
    variables: Vec<(u32, u32, u32)>, // id, pointer type, storage class
    local_size: Option<[u32; 3]>,
    local_size_ids: Option<[u32; 3]>,
    workgroup_size_constant: Option<u32>,
    compute_entry: bool,
    capabilities: BTreeSet<String>,
}

/// Reads the interface of a compute module.
///
/// # Errors
/// When the words are not a SPIR-V module with a compute entry point, when an instruction is
/// cut short, or when a resource lies outside descriptor set 0 or has an unsupported type.
pub fn reflect(words: &[u32]) -> Result<Reflection, ReflectError> {
    let module = Module::read(words)?;
    if !module.compute_entry {
        return fail("no compute entry point");
    }
    let mut out = Reflection { capabilities: module.capabilities.iter().cloned().collect(), ..Reflection::default() };
    (out.workgroup_size, out.workgroup_size_ids) = module.workgroup_size()?;
    for &(id, pointer, class) in &module.variables {
        let Some(Type::Pointer { target }) = module.types.get(&pointer) else {
            return fail(format!("variable %{id} has no pointer type"));
        };
        match class {
            storage_class::PUSH_CONSTANT => out.push_constant_size = module.size(*target)?,
            storage_class::WORKGROUP => out.shared_memory_size += module.size(*target)?,
            storage_class::UNIFORM | storage_class::UNIFORM_CONSTANT | storage_class::STORAGE_BUFFER => {
                out.bindings.push(module.binding(id, *target, class)?);
            }
            _ => {}
        }
    }
    out.bindings.sort_by_key(|b| b.binding);
    // Two blocks may alias one binding (the same buffer seen as bytes and as words).
    out.bindings.dedup();
    if let Some(pair) = out.bindings.windows(2).find(|p| p[0].binding == p[1].binding) {
        return fail(format!("binding {} is declared with two different types", pair[0].binding));
    }
    for (&(id, kind), &spec_id) in &module.decorations {
        if kind == decoration::SPEC_ID {
            let default = module.constants.get(&id).copied().unwrap_or(0);
            out.spec_constants.push(SpecConstant { id: spec_id, default });
        }
    }
    // One constant may be emitted twice (a workgroup size is, by glslang).
    out.spec_constants.sort_by_key(|c| (c.id, c.default));
    out.spec_constants.dedup();
    Ok(out)
}

/// What a module declares to do with a storage buffer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    /// `readonly`.
    Read,
    /// `writeonly`.
    Write,
    /// Neither, or no storage buffer.
    Any,
}

/// What a module declares to do with each binding of set 0, sorted by binding. Blocks that alias one binding are taken
/// together.
///
/// # Errors
/// As [`reflect`].
pub fn accesses(words: &[u32]) -> Result<Vec<(u32, Access)>, ReflectError> {
    let module = Module::read(words)?;
    let mut found: Vec<(u32, Access)> = Vec::new();
    for &(id, pointer, class) in &module.variables {
        let Some(&binding) = module.decorations.get(&(id, decoration::BINDING)) else { continue };
        let access = match module.types.get(&pointer) {
            Some(&Type::Pointer { target }) if class == storage_class::STORAGE_BUFFER => module.access(id, target),
            _ => Access::Any,
        };
        match found.iter_mut().find(|(number, _)| *number == binding) {
            Some((_, known)) if *known != access => *known = Access::Any,
            Some(_) => {}
            None => found.push((binding, access)),
        }
    }
    found.sort_by_key(|(binding, _)| *binding);
    Ok(found)
}

impl Module {
    /// The access of a storage buffer variable: what is said of the variable, or of every member of its block.
    fn access(&self, id: u32, target: u32) -> Access {
        let block = match self.types.get(&target) {
            Some(Type::Array { element, .. }) => *element,
            _ => target,
        };
        let says = |kind: u32| {
            let members = match self.types.get(&block) {
                Some(Type::Struct(members)) => members.len() as u32,
                _ => 0,
            };
            self.decorations.contains_key(&(id, kind))
                || (members > 0 && (0..members).all(|i| self.members.contains_key(&(block, i, kind))))
        };
        match (says(decoration::NON_WRITABLE), says(decoration::NON_READABLE)) {
            (true, _) => Access::Read,
            (false, true) => Access::Write,
            (false, false) => Access::Any,
        }
    }

    fn read(words: &[u32]) -> Result<Self, ReflectError> {
        if words.len() < HEADER_WORDS || words[0] != MAGIC {
            return fail("not a SPIR-V module (wrong magic number)");
        }
        let mut module = Self::default();
        let mut at = HEADER_WORDS;
        while at < words.len() {
            let count = (words[at] >> 16) as usize;
            let opcode = (words[at] & 0xffff) as u16;
            if count == 0 || at + count > words.len() {
                return fail(format!("instruction at word {at} is cut short"));
            }
            module
                .instruction(opcode, &words[at + 1..at + count])
                .ok_or_else(|| ReflectError(format!("opcode {opcode} at word {at} is too short")))?;
            at += count;
        }
        Ok(module)
    }

    /// Takes in one instruction; `None` when it has fewer operands than its opcode needs.
    fn instruction(&mut self, opcode: u16, a: &[u32]) -> Option<()> {
        let arg = |i: usize| a.get(i).copied();
        match opcode {
            op::CAPABILITY => {
                self.capabilities.insert(capability_name(arg(0)?));
            }
            op::ENTRY_POINT => self.compute_entry |= arg(0)? == EXECUTION_MODEL_GLCOMPUTE,
            op::EXECUTION_MODE if arg(1)? == MODE_LOCAL_SIZE => {
                self.local_size = Some([arg(2)?, arg(3)?, arg(4)?]);
            }
            op::EXECUTION_MODE_ID if arg(1)? == MODE_LOCAL_SIZE_ID => {
                self.local_size_ids = Some([arg(2)?, arg(3)?, arg(4)?]);
            }
            op::TYPE_BOOL => {
                self.types.insert(arg(0)?, Type::Scalar(4));
            }
            op::TYPE_INT | op::TYPE_FLOAT => {
                self.types.insert(arg(0)?, Type::Scalar(arg(1)? / 8));
            }
            op::TYPE_VECTOR | op::TYPE_MATRIX => {
                let (component, count) = (arg(1)?, arg(2)?);
                self.types.insert(arg(0)?, Type::Vector { component, count });
            }
            op::TYPE_IMAGE => {
                self.types.insert(arg(0)?, Type::Image { sampled: arg(6)? });
            }
            op::TYPE_SAMPLED_IMAGE => {
                self.types.insert(arg(0)?, Type::SampledImage);
            }
            op::TYPE_ARRAY => {
                let (element, length) = (arg(1)?, arg(2)?);
                self.types.insert(arg(0)?, Type::Array { element, length });
            }
            op::TYPE_RUNTIME_ARRAY => {
                self.types.insert(arg(0)?, Type::RuntimeArray);
            }
            op::TYPE_STRUCT => {
                self.types.insert(arg(0)?, Type::Struct(a[1..].to_vec()));
            }
            op::TYPE_POINTER => {
                self.types.insert(arg(0)?, Type::Pointer { target: arg(2)? });
            }
            op::CONSTANT | op::SPEC_CONSTANT => {
                self.constants.insert(arg(1)?, arg(2)?);
            }
            op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE => {
                self.constants.insert(arg(1)?, u32::from(opcode == op::SPEC_CONSTANT_TRUE));
            }
            op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => {
                self.composites.insert(arg(1)?, a[2..].to_vec());
            }
            op::SPEC_CONSTANT_OP => {
                if let Some(value) = self.spec_op(arg(2)?, &a[3..]) {
                    self.constants.insert(arg(1)?, value);
                }
            }
            op::VARIABLE => self.variables.push((arg(1)?, arg(0)?, arg(2)?)),
            op::DECORATE => {
                let (id, kind) = (arg(0)?, arg(1)?);
                let value = arg(2).unwrap_or(0);
                if kind == decoration::BUILT_IN && value == BUILT_IN_WORKGROUP_SIZE {
                    self.workgroup_size_constant = Some(id);
                }
                self.decorations.insert((id, kind), value);
            }
            op::MEMBER_DECORATE => {
                let value = arg(3).unwrap_or(0);
                self.members.insert((arg(0)?, arg(1)?, arg(2)?), value);
            }
            _ => {}
        }
        Some(())
    }

    /// Integer arithmetic on specialization constants, enough for array lengths.
    fn spec_op(&self, opcode: u32, operands: &[u32]) -> Option<u32> {
        let x = *self.constants.get(operands.first()?)?;
        let y = operands.get(1).and_then(|id| self.constants.get(id)).copied();
        match opcode {
            128 => Some(x.wrapping_add(y?)),
            130 => Some(x.wrapping_sub(y?)),
            132 => Some(x.wrapping_mul(y?)),
            134 | 135 => x.checked_div(y?),
            137 => x.checked_rem(y?),
            194 => x.checked_shr(y?),
            196 => x.checked_shl(y?),
            _ => None,
        }
    }

    fn workgroup_size(&self) -> Result<([u32; 3], [Option<u32>; 3]), ReflectError> {
        let from_constant = || {
            let parts = self.composites.get(&self.workgroup_size_constant?)?;
            <[u32; 3]>::try_from(parts.as_slice()).ok()
        };
        // The id forms name constants; the literal form holds numbers.
        if let Some(ids) = self.local_size_ids.or_else(from_constant) {
            let value = |id: u32| {
                let found = self.constants.get(&id).copied();
                found.ok_or_else(|| ReflectError(format!("workgroup size constant %{id} missing")))
            };
            let spec = |id: u32| self.decorations.get(&(id, decoration::SPEC_ID)).copied();
            let size = [value(ids[0])?, value(ids[1])?, value(ids[2])?];
            return Ok((size, ids.map(spec)));
        }
        match self.local_size {
            Some(size) => Ok((size, [None; 3])),
            None => fail("no workgroup size"),
        }
    }

    fn binding(&self, id: u32, target: u32, class: u32) -> Result<Binding, ReflectError> {
        let get = |kind: u32| self.decorations.get(&(id, kind)).copied();
        let (Some(set), Some(binding)) = (get(decoration::DESCRIPTOR_SET), get(decoration::BINDING)) else {
            return fail(format!("resource %{id} lacks a set or binding number"));
        };
        if set != 0 {
            return fail(format!("binding {binding} is in descriptor set {set}; only set 0 is used"));
        }
        let (mut target, mut count) = (target, 1);
        if let Some(Type::Array { element, length }) = self.types.get(&target) {
            count = self.constants.get(length).copied().unwrap_or(1);
            target = *element;
        }
        let kind = match (class, self.types.get(&target)) {
            (storage_class::STORAGE_BUFFER, Some(Type::Struct(_))) => BindingKind::StorageBuffer,
            (storage_class::UNIFORM, Some(Type::Struct(_))) => {
                if self.decorations.contains_key(&(target, decoration::BUFFER_BLOCK)) {
                    BindingKind::StorageBuffer
                } else {
                    BindingKind::UniformBuffer
                }
            }
            (_, Some(Type::SampledImage)) => BindingKind::SampledImage,
            (_, Some(Type::Image { sampled: 2 })) => BindingKind::StorageImage,
            _ => {
                return fail(format!("binding {binding} has an unsupported resource type"));
            }
        };
        Ok(Binding { binding, kind, count })
    }

    /// Size of a type in bytes: explicit layout where decorated, tightly packed otherwise.
    fn size(&self, id: u32) -> Result<u32, ReflectError> {
        let product = |a: u32, b: u32| a.checked_mul(b).ok_or_else(|| ReflectError(format!("type %{id} is too large")));
        match self.types.get(&id) {
            Some(Type::Scalar(bytes)) => Ok(*bytes),
            Some(Type::Vector { component, count }) => product(self.size(*component)?, *count),
            Some(Type::Array { element, length }) => {
                let Some(&count) = self.constants.get(length) else {
                    return fail(format!("array length %{length} is not a plain constant"));
                };
                let stride = match self.decorations.get(&(id, decoration::ARRAY_STRIDE)) {
                    Some(&stride) => stride,
                    None => self.size(*element)?,
                };
                product(stride, count)
            }
            Some(Type::Struct(members)) => {
                let mut end = 0u32;
                for (index, &member) in (0u32..).zip(members) {
                    let decorated = |kind| self.members.get(&(id, index, kind)).copied();
                    let offset = decorated(decoration::OFFSET).unwrap_or(end);
                    let bytes = match (decorated(decoration::MATRIX_STRIDE), self.types.get(&member)) {
                        (Some(stride), Some(Type::Vector { count, .. })) => product(stride, *count)?,
                        _ => self.size(member)?,
                    };
                    end = end.max(offset.saturating_add(bytes));
                }
                Ok(end)
            }
            _ => fail(format!("type %{id} has no known size")),
        }
    }
}

/// Specification name of a capability, or `Capability<number>` for one not listed here.
#[must_use]
pub fn capability_name(value: u32) -> String {
    let name = match value {
        0 => "Matrix",
        1 => "Shader",
        9 => "Float16",
        10 => "Float64",
        11 => "Int64",
        12 => "Int64Atomics",
        22 => "Int16",
        27 => "ImageGatherExtended",
        28 => "StorageImageMultisample",
        39 => "Int8",
        43 => "Sampled1D",
        44 => "Image1D",
        49 => "StorageImageExtendedFormats",
        50 => "ImageQuery",
        55 => "StorageImageReadWithoutFormat",
        56 => "StorageImageWriteWithoutFormat",
        61 => "GroupNonUniform",
        62 => "GroupNonUniformVote",
        63 => "GroupNonUniformArithmetic",
        64 => "GroupNonUniformBallot",
        65 => "GroupNonUniformShuffle",
        66 => "GroupNonUniformShuffleRelative",
        67 => "GroupNonUniformClustered",
        68 => "GroupNonUniformQuad",
        4212 => "Float8EXT",
        5116 => "BFloat16TypeKHR",
        5118 => "BFloat16CooperativeMatrixKHR",
        4213 => "Float8CooperativeMatrixEXT",
        4433 => "StorageBuffer16BitAccess",
        4434 => "UniformAndStorageBuffer16BitAccess",
        4435 => "StoragePushConstant16",
        4448 => "StorageBuffer8BitAccess",
        4449 => "UniformAndStorageBuffer8BitAccess",
        4450 => "StoragePushConstant8",
        4464 => "DenormPreserve",
        4465 => "DenormFlushToZero",
        4466 => "SignedZeroInfNanPreserve",
        4467 => "RoundingModeRTE",
        4468 => "RoundingModeRTZ",
        5301 => "ShaderNonUniform",
        5345 => "VulkanMemoryModel",
        5346 => "VulkanMemoryModelDeviceScope",
        5347 => "PhysicalStorageBufferAddresses",
        5430 => "CooperativeMatrixReductionsNV",
        5431 => "CooperativeMatrixConversionsNV",
        5432 => "CooperativeMatrixPerElementOperationsNV",
        5433 => "CooperativeMatrixTensorAddressingNV",
        5434 => "CooperativeMatrixBlockLoadsNV",
        5439 => "TensorAddressingNV",
        6016 => "DotProductInputAll",
        6017 => "DotProductInput4x8Bit",
        6018 => "DotProductInput4x8BitPacked",
        6019 => "DotProduct",
        6022 => "CooperativeMatrixKHR",
        6029 => "FloatControls2",
        other => return format!("Capability{other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests;
