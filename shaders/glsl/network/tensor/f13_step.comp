// The multiplication of the float8 route by itself (numerics section 2): a check whether the device does the step of the contract. A
// workgroup multiplies a matrix of rows by one of columns into sums.
#version 460
#pragma variant float8 FLOAT8=1 MATRIX_MODEL=0
#pragma variant float8_model FLOAT8=1 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_float_e4m3 : require
#endif

layout(local_size_x = 32) in;

// The rows, the sums, and memory for what is stored as codes.
const uint SUMS = 32, STAGES = 64;
#define MODEL_BINDING 4
#include "memory.glsl"
TILE_MEMORY(96)

// Sixteen rows of 32 codes, then sixteen columns, then sixteen rows of halves, of every workgroup.
layout(binding = 0, std430) readonly buffer Rows { uvec4 row_codes[]; };
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) readonly buffer Sums { uvec4 sum_halves[]; };
layout(binding = 3, std430) writeonly buffer Results { uvec4 results[]; };

layout(push_constant) uniform Push { uint flags; };

#define opaque_zero (flags >> 31)
#include "matrix.glsl"

void main() {
    uint thread = gl_LocalInvocationIndex, at = 32u * gl_WorkGroupID.x;
    tile_memory[thread] = row_codes[at + thread];
    tile_memory[SUMS + thread] = sum_halves[at + thread];
    group_barrier();
    MatrixC c = multiply(load_a(0u, 2u), load_b_weights(at), load_c(SUMS, 2u));
    group_barrier();
    store_c(c, SUMS, 2u);
    group_barrier();
    results[at + thread] = tile_memory[SUMS + thread];
}
