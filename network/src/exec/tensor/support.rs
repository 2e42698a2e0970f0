//! Whether a device can run the route.

use gpu::{Capabilities, ComponentType, MatrixScope};

/// Shared memory of the largest kernel, in bytes: the most that every device with matrix units has.
const SHARED: u32 = 48 << 10;
/// Invocations of the largest workgroup.
const INVOCATIONS: u32 = 256;

/// What a device lacks for the tensor route, in words; `None` when it can run it.
pub fn missing(caps: &Capabilities) -> Option<String> {
    let shape = caps.cooperative_matrix.iter().any(|s| {
        let types = [s.a, s.b, s.c, s.result];
        (s.m, s.n, s.k) == (16, 16, 16) && types == [ComponentType::F16; 4] && s.scope == MatrixScope::Subgroup
    });
    let subgroup = &caps.subgroup;
    let requirable = subgroup.can_require_size && (subgroup.min_size..=subgroup.max_size).contains(&32);
    let conditions = [
        (!caps.cooperative_matrix.is_empty(), "it has no cooperative matrices (VK_KHR_cooperative_matrix)".to_owned()),
        (shape, "its cooperative matrices do not multiply halves as 16x16x16 in a subgroup".to_owned()),
        (caps.float16, "it has no half arithmetic (shaderFloat16)".to_owned()),
        (caps.memory_model, "it lacks vulkanMemoryModel".to_owned()),
        (requirable, format!("its subgroups of {} to {} cannot be 32", subgroup.min_size, subgroup.max_size)),
        (subgroup.operations.contains(&"shuffle"), "its subgroups cannot shuffle".to_owned()),
        (
            caps.limits.max_shared_memory >= SHARED,
            format!("it has {} bytes of shared memory, not {SHARED}", caps.limits.max_shared_memory),
        ),
        (
            caps.limits.max_invocations >= INVOCATIONS,
            format!("its workgroups hold {}, not {INVOCATIONS}", caps.limits.max_invocations),
        ),
    ];
    conditions.into_iter().find(|(holds, _)| !holds).map(|(_, reason)| reason)
}
