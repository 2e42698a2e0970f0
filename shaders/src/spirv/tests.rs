use super::*;

/// A module under construction.
struct Builder(Vec<u32>);

impl Builder {
    /// Header, the Shader capability and a compute entry point %1.
    fn new() -> Self {
        let mut module = Self(vec![MAGIC, 0x0001_0600, 0, 100, 0]);
        module.op(op::CAPABILITY, &[1]);
        module.op(op::ENTRY_POINT, &[EXECUTION_MODEL_GLCOMPUTE, 1, u32::from_le_bytes(*b"main"), 0]);
        module
    }

    fn op(&mut self, opcode: u16, operands: &[u32]) -> &mut Self {
        self.0.push(((operands.len() as u32 + 1) << 16) | u32::from(opcode));
        self.0.extend(operands);
        self
    }

    fn local_size(&mut self) -> &mut Self {
        self.op(op::EXECUTION_MODE, &[1, MODE_LOCAL_SIZE, 8, 4, 2])
    }

    /// A buffer block variable %`id` of pointer %`id + 1` to struct %`id + 2` at a binding.
    fn block(&mut self, id: u32, class: u32, set: u32, binding: u32) -> &mut Self {
        self.op(op::DECORATE, &[id, decoration::DESCRIPTOR_SET, set])
            .op(op::DECORATE, &[id, decoration::BINDING, binding])
            .op(op::TYPE_STRUCT, &[id + 2])
            .op(op::TYPE_POINTER, &[id + 1, class, id + 2])
            .op(op::VARIABLE, &[id + 1, id, class])
    }

    fn error(&self) -> String {
        reflect(&self.0).unwrap_err().to_string()
    }
}

#[test]
fn junk_and_cut_modules_are_refused() {
    for words in [&[][..], &[1, 2, 3, 4, 5], &[MAGIC]] {
        assert!(reflect(words).is_err());
    }
    let mut cut = Builder::new();
    cut.local_size();
    cut.0.pop();
    assert!(cut.error().contains("cut short"), "{}", cut.error());
    let mut zero = Builder::new();
    zero.0.push(0);
    assert!(zero.error().contains("cut short"));
    let mut short = Builder::new();
    short.op(op::CAPABILITY, &[]);
    assert!(short.error().contains("too short"));
}

#[test]
fn an_entry_point_and_a_workgroup_size_are_needed() {
    assert!(Builder(vec![MAGIC, 0, 0, 1, 0]).error().contains("entry point"));
    assert!(Builder::new().error().contains("workgroup size"));
    let mut module = Builder::new();
    module.local_size();
    let got = reflect(&module.0).unwrap();
    assert_eq!(got.workgroup_size, [8, 4, 2]);
    assert_eq!(got.workgroup_size_ids, [None; 3]);
    assert_eq!(got.capabilities, ["Shader"]);
}

#[test]
fn blocks_become_bindings() {
    let mut module = Builder::new();
    module.local_size();
    module.block(10, storage_class::STORAGE_BUFFER, 0, 3).block(20, storage_class::UNIFORM, 0, 1);
    let got = reflect(&module.0).unwrap().bindings;
    let expected = [(1, BindingKind::UniformBuffer), (3, BindingKind::StorageBuffer)];
    assert_eq!(got, expected.map(|(binding, kind)| Binding { binding, kind, count: 1 }));
}

#[test]
fn other_sets_and_conflicts_are_refused() {
    let mut other = Builder::new();
    other.local_size().block(10, storage_class::STORAGE_BUFFER, 2, 0);
    assert!(other.error().contains("descriptor set 2"));
    let mut conflict = Builder::new();
    conflict.local_size();
    conflict.block(10, storage_class::STORAGE_BUFFER, 0, 0).block(20, storage_class::UNIFORM, 0, 0);
    assert!(conflict.error().contains("two different types"));
    // The same kind twice is one buffer seen in two ways.
    let mut alias = Builder::new();
    alias.local_size();
    alias.block(10, storage_class::STORAGE_BUFFER, 0, 0).block(20, storage_class::STORAGE_BUFFER, 0, 0);
    assert_eq!(reflect(&alias.0).unwrap().bindings.len(), 1);
}

#[test]
fn sizes_follow_layout_and_specialization() {
    // Push constants { uvec4 at 0; uint at 16 } and shared uint[N * 4] with N specialized to 8.
    let mut module = Builder::new();
    module
        .local_size()
        .op(op::DECORATE, &[40, decoration::SPEC_ID, 7])
        .op(op::MEMBER_DECORATE, &[32, 0, decoration::OFFSET, 0])
        .op(op::MEMBER_DECORATE, &[32, 1, decoration::OFFSET, 16])
        .op(op::TYPE_INT, &[30, 32, 0])
        .op(op::TYPE_VECTOR, &[31, 30, 4])
        .op(op::TYPE_STRUCT, &[32, 31, 30])
        .op(op::TYPE_POINTER, &[33, storage_class::PUSH_CONSTANT, 32])
        .op(op::VARIABLE, &[33, 34, storage_class::PUSH_CONSTANT])
        .op(op::SPEC_CONSTANT, &[30, 40, 8])
        .op(op::CONSTANT, &[30, 41, 4])
        .op(op::SPEC_CONSTANT_OP, &[30, 42, 132, 40, 41])
        .op(op::TYPE_ARRAY, &[43, 30, 42])
        .op(op::TYPE_POINTER, &[44, storage_class::WORKGROUP, 43])
        .op(op::VARIABLE, &[44, 45, storage_class::WORKGROUP]);
    let got = reflect(&module.0).unwrap();
    assert_eq!(got.push_constant_size, 20);
    assert_eq!(got.shared_memory_size, 128);
    assert_eq!(got.spec_constants, [SpecConstant { id: 7, default: 8 }]);
}

#[test]
fn workgroup_sizes_may_be_constants() {
    let mut module = Builder::new();
    module
        .op(op::DECORATE, &[40, decoration::SPEC_ID, 0])
        .op(op::TYPE_INT, &[30, 32, 0])
        .op(op::SPEC_CONSTANT, &[30, 40, 64])
        .op(op::CONSTANT, &[30, 41, 1])
        .op(op::EXECUTION_MODE_ID, &[1, MODE_LOCAL_SIZE_ID, 40, 41, 41]);
    let got = reflect(&module.0).unwrap();
    assert_eq!(got.workgroup_size, [64, 1, 1]);
    assert_eq!(got.workgroup_size_ids, [Some(0), None, None]);
}

#[test]
fn unknown_capabilities_keep_their_number() {
    assert_eq!(capability_name(6022), "CooperativeMatrixKHR");
    assert_eq!(capability_name(9999), "Capability9999");
}

/// Any cut of a real module is refused or read, never a panic.
#[test]
fn cuts_of_real_modules_do_not_panic() {
    for shader in crate::all().filter(|s| s.name.starts_with("test/")) {
        let words: Vec<u32> =
            shader.spirv.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        for length in 0..words.len() {
            let _ = reflect(&words[..length]);
            let mut damaged = words.clone();
            damaged[length] ^= 0xffff_ffff;
            let _ = reflect(&damaged);
        }
    }
}
