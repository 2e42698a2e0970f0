//! Whether a device can run a route of matrix units.

use gpu::{Capabilities, ComponentType, CooperativeMatrixShape, MatrixScope};

use super::Operands;

/// Shared memory of the largest kernel, in bytes: the most that every device with matrix units has.
const SHARED: u32 = 48 << 10;
/// Invocations of the largest workgroup.
const INVOCATIONS: u32 = 256;
/// Invocations that share a matrix.
const SUBGROUP: u32 = 32;

/// The multiplication that a subgroup must offer.
fn fits(operands: Operands, shape: &CooperativeMatrixShape) -> bool {
    let (k, operand) = match operands {
        Operands::Half => (16, ComponentType::F16),
        Operands::Float8 => (32, ComponentType::E4M3),
    };
    (shape.m, shape.n, shape.k) == (16, 16, k)
        && [shape.a, shape.b] == [operand; 2]
        && [shape.c, shape.result] == [ComponentType::F16; 2]
        && shape.scope == MatrixScope::Subgroup
}

/// What a device lacks for a route of matrix units, in words; `None` when it can run it.
pub fn missing(caps: &Capabilities, operands: Operands) -> Option<String> {
    let shape = caps.cooperative_matrix.iter().any(|shape| fits(operands, shape));
    let multiply = match operands {
        Operands::Half => "halves as 16x16x16",
        Operands::Float8 => "E4M3 as 16x16x32 into halves",
    };
    let float8 = operands == Operands::Half || (caps.float8 && caps.float8_cooperative_matrix);
    let subgroup = &caps.subgroup;
    let requirable = subgroup.can_require_size && (subgroup.min_size..=subgroup.max_size).contains(&SUBGROUP);
    let conditions = [
        (!caps.cooperative_matrix.is_empty(), "it has no cooperative matrices (VK_KHR_cooperative_matrix)".to_owned()),
        (float8, "its cooperative matrices know no 8-bit floats (VK_EXT_shader_float8)".to_owned()),
        (shape, format!("its cooperative matrices do not multiply {multiply} in a subgroup")),
        (caps.float16, "it has no half arithmetic (shaderFloat16)".to_owned()),
        (caps.memory_model, "it lacks vulkanMemoryModel".to_owned()),
        (requirable, format!("its subgroups of {} to {} cannot be {SUBGROUP}", subgroup.min_size, subgroup.max_size)),
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

#[cfg(test)]
mod tests {
    use super::super::{Form, TensorKernel};
    use super::*;

    fn shape(k: u32, operand: ComponentType, sum: ComponentType) -> CooperativeMatrixShape {
        CooperativeMatrixShape {
            m: 16,
            n: 16,
            k,
            a: operand,
            b: operand,
            c: sum,
            result: sum,
            saturating: false,
            scope: MatrixScope::Subgroup,
        }
    }

    /// A device with everything.
    fn complete() -> Capabilities {
        let mut caps = Capabilities {
            float16: true,
            memory_model: true,
            float8: true,
            float8_cooperative_matrix: true,
            cooperative_matrix: vec![
                shape(16, ComponentType::F16, ComponentType::F16),
                shape(32, ComponentType::E4M3, ComponentType::F16),
            ],
            ..Capabilities::default()
        };
        caps.subgroup.can_require_size = true;
        (caps.subgroup.min_size, caps.subgroup.max_size) = (32, 32);
        caps.subgroup.operations = vec!["basic", "shuffle"];
        (caps.limits.max_shared_memory, caps.limits.max_invocations) = (SHARED, INVOCATIONS);
        caps
    }

    /// Why a device with one thing changed runs neither route, half first.
    fn reasons(change: impl Fn(&mut Capabilities)) -> [Option<String>; 2] {
        let mut caps = complete();
        change(&mut caps);
        [missing(&caps, Operands::Half), missing(&caps, Operands::Float8)]
    }

    #[test]
    fn what_is_missing_is_named_and_nothing_else_counts() {
        assert_eq!(reasons(|_| {}), [None, None]);
        // Whoever made it.
        assert_eq!(reasons(|c| c.vendor_id = 0xffff), [None, None]);
        let both = |change: fn(&mut Capabilities), word: &str| {
            for reason in reasons(change) {
                assert!(reason.as_deref().is_some_and(|r| r.contains(word)), "{word}: {reason:?}");
            }
        };
        both(|c| c.cooperative_matrix.clear(), "VK_KHR_cooperative_matrix");
        both(|c| c.cooperative_matrix.iter_mut().for_each(|s| s.m = 8), "multiply");
        both(|c| c.cooperative_matrix.iter_mut().for_each(|s| s.scope = MatrixScope::Workgroup), "in a subgroup");
        both(|c| c.cooperative_matrix.iter_mut().for_each(|s| s.result = ComponentType::F32), "multiply");
        both(|c| c.float16 = false, "shaderFloat16");
        both(|c| c.memory_model = false, "vulkanMemoryModel");
        both(|c| c.subgroup.operations.clear(), "shuffle");
        both(|c| c.limits.max_shared_memory = 32 << 10, "32768 bytes");
        both(|c| c.limits.max_invocations = 128, "hold 128");
    }

    #[test]
    fn subgroups_of_other_sizes_must_be_able_to_be_32() {
        let sizes = |min, max, require| {
            reasons(|c| {
                (c.subgroup.min_size, c.subgroup.max_size, c.subgroup.can_require_size) = (min, max, require);
            })
        };
        assert_eq!(sizes(8, 32, true), [None, None]);
        assert_eq!(sizes(32, 64, true), [None, None]);
        for (min, max, require) in [(64, 64, true), (8, 16, true), (16, 64, false)] {
            let [half, float8] = sizes(min, max, require);
            assert!(half.is_some_and(|r| r.contains("cannot be 32")) && float8.is_some(), "{min} {max} {require}");
        }
    }

    #[test]
    fn eight_bit_floats_are_only_for_the_route_that_multiplies_them() {
        let [half, float8] = reasons(|c| c.float8_cooperative_matrix = false);
        assert!(half.is_none() && float8.is_some_and(|r| r.contains("VK_EXT_shader_float8")));
        // Sums in f32 alone, or sixteen k alone.
        for other in [
            shape(32, ComponentType::E4M3, ComponentType::F32),
            shape(16, ComponentType::E4M3, ComponentType::F16),
            shape(32, ComponentType::E5M2, ComponentType::F16),
        ] {
            let [half, float8] = reasons(|c| c.cooperative_matrix[1] = other);
            assert!(half.is_none() && float8.is_some_and(|r| r.contains("E4M3 as 16x16x32")), "{other:?}");
        }
    }

    /// What is asked of a device is what the kernels take.
    #[test]
    fn every_kernel_fits_what_is_asked() {
        for (operands, strips) in [(Operands::Half, true), (Operands::Half, false), (Operands::Float8, false)] {
            let form = Form { operands, model: false, strips, direct: strips };
            for kernel in TensorKernel::ALL.into_iter().filter(|kernel| form.has(*kernel)) {
                let name = kernel.shader(form);
                let info = shaders::shader(&name).unwrap_or_else(|| panic!("{name}")).info;
                assert!(info.shared_memory_size <= SHARED, "{name}: {} bytes", info.shared_memory_size);
                assert!(info.workgroup_size.iter().product::<u32>() <= INVOCATIONS, "{name}");
            }
        }
    }
}
