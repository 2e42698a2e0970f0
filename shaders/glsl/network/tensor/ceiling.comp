// How fast the device multiplies matrices of halves: a micro-benchmark of the operand paths that the tensor route uses, not part
// of it. Every warp adds MT x NT tiles to its accumulators again and again; operands stay in registers, or the rows come
// from shared memory, or the weights from memory, too.
#version 460
#pragma variant registers MT=2 NT=4 WITH_ROWS=0 WITH_WEIGHTS=0
#pragma variant rows MT=2 NT=4 WITH_ROWS=1 WITH_WEIGHTS=0
#pragma variant weights MT=2 NT=4 WITH_ROWS=0 WITH_WEIGHTS=1
#pragma variant both22 MT=2 NT=2 WITH_ROWS=1 WITH_WEIGHTS=1
#pragma variant both23 MT=2 NT=3 WITH_ROWS=1 WITH_WEIGHTS=1
#pragma variant both24 MT=2 NT=4 WITH_ROWS=1 WITH_WEIGHTS=1
#pragma variant both44 MT=4 NT=4 WITH_ROWS=1 WITH_WEIGHTS=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

#define MATRIX_MODEL 0
layout(local_size_x = 256) in;

#define STRIDE 17
#define MODEL_BINDING 2
#include "memory.glsl"
TILE_MEMORY(64 * STRIDE)

// Tiles, read again and again from the start: `tiles` of them, a power of two.
layout(binding = 0, std430) readonly buffer Weights { uvec4 weights[]; };
layout(binding = 1, std430) writeonly buffer Output { uvec4 results[]; };

layout(push_constant) uniform Push {
    uint steps;
    uint tiles;
};

#define opaque_zero (tiles >> 31)
#include "matrix.glsl"

void main() {
    uint thread = gl_LocalInvocationIndex, warp = gl_SubgroupID;
    for (uint i = thread; i < 64u * STRIDE; i += 256u) tile_memory[i] = weights[i];
    group_barrier();
    uint rows = 16u * (MT * (warp / 4u) & 3u) * STRIDE;
    MatrixC acc[MT][NT];
    MatrixA a[MT];
    MatrixB b[NT];
    UNROLL for (uint i = 0; i < MT; i++) {
        a[i] = load_a(rows + (16u * i & 48u) * STRIDE, STRIDE);
        UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = zero_c();
    }
    UNROLL for (uint j = 0; j < NT; j++) b[j] = load_b_weights(((warp & 3u) * NT + j) * TILE);
    for (uint step = 0; step < steps; step++) {
        UNROLL for (uint kt = 0; kt < 8; kt++) {
#if WITH_WEIGHTS
            UNROLL for (uint j = 0; j < NT; j++)
                b[j] = load_b_weights(((((step * 8u + kt) * 4u + (warp & 3u)) * NT + j) & (tiles - 1u)) * TILE);
#endif
#if WITH_ROWS
            UNROLL for (uint i = 0; i < MT; i++) a[i] = load_a(rows * uint(MT < 4) + (16u * i & 48u) * STRIDE * uint(MT == 4) + 2u * kt, STRIDE);
#endif
            UNROLL for (uint i = 0; i < MT; i++)
                UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = multiply(a[i], b[j], acc[i][j]);
        }
    }
    group_barrier();
    UNROLL for (uint i = 1; i < MT; i++)
        UNROLL for (uint j = 0; j < NT; j++) MATRIX_ZIP(acc[0][0], acc[i][j], pair_add);
    UNROLL for (uint j = 1; j < NT; j++) MATRIX_ZIP(acc[0][0], acc[0][j], pair_add);
    store_c(acc[0][0], 32u * warp, 2u);
    group_barrier();
    if (thread < 32u) results[gl_WorkGroupID.x * 32u + thread] = tile_memory[thread];
}
