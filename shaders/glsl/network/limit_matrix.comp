// What bounds the multiply of f13_matrix.glsl: groups of sixteen k, one after the other, on operands that lie in shared
// memory already. No operand is prepared, nothing is loaded, stored or waited for. A measurement, not a step of the network.
#version 460
#pragma variant one_by_two ROWS=1 COLUMNS=2
#pragma variant one_by_four ROWS=1 COLUMNS=4
#pragma variant two_by_two ROWS=2 COLUMNS=2
#pragma variant two_by_four ROWS=2 COLUMNS=4
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

// Two sets of records, rows before columns.
const uint RECORDS = 16 * (ROWS + COLUMNS);
const uint RECORD = 5;
shared uvec4 tile_memory[2 * RECORDS * 5];

#include "f13_matrix.glsl"
#define GROUP matrix_group
#define GROUP_ROWS ROWS
#define GROUP_COLUMNS COLUMNS
#include "f13_matrix_group.glsl"

layout(binding = 0, std430) writeonly buffer Output { uint sums[]; };

layout(push_constant) uniform Push {
    uint groups;
    uint zero;
};

layout(local_size_x = 128) in;

void main() {
    uint thread = gl_LocalInvocationIndex;
    for (uint i = thread; i < 2 * RECORDS; i += 128) {
        // Moderate codes of both signs.
        uvec4 codes = (uvec4(i, i + 77u, i + 154u, i + 231u) * 0x9e3779b9u & 0x87878787u) + 0x30303030u;
        matrix_store(i * RECORD, codes, i % RECORDS < 16 * ROWS ? MATRIX_BIAS_A : MATRIX_BIAS_B);
    }
    barrier();
    uint acc[ROWS][COLUMNS][4];
    [[unroll]] for (uint i = 0; i < ROWS; i++)
        [[unroll]] for (uint j = 0; j < COLUMNS; j++)
            [[unroll]] for (uint p = 0; p < 4; p++) acc[i][j][p] = 0u;
    for (uint g = 0; g < groups; g++) {
        uint first = (g & 1u) * RECORDS;
        PowerA power_a[ROWS];
        HalfA a[ROWS];
        [[unroll]] for (uint i = 0; i < ROWS; i++) {
            uint at = (first + 16 * i) * RECORD;
            coopMatLoad(a[i], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
            coopMatLoad(power_a[i], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
        }
        PowerB power_b[COLUMNS];
        HalfB b[COLUMNS];
        [[unroll]] for (uint j = 0; j < COLUMNS; j++) {
            uint at = (first + 16 * (ROWS + j)) * RECORD;
            coopMatLoad(b[j], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
            coopMatLoad(power_b[j], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
        }
        matrix_group(power_a, power_b, a, b, zero, acc);
    }
    uint sum = 0u;
    [[unroll]] for (uint i = 0; i < ROWS; i++)
        [[unroll]] for (uint j = 0; j < COLUMNS; j++)
            [[unroll]] for (uint p = 0; p < 4; p++) sum ^= acc[i][j][p];
    sums[gl_WorkGroupID.x * 128u + thread] = sum;
}
