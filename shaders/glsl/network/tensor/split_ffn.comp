// One branch of a 512-channel FFN for 64 rows (network section 4.3): 512 -> 64, 64 -> 256 with SiLU, 256 -> 64. Only the branch's
// 64 outputs leave the chip.
#version 460
#pragma variant device WARPS=8 MATRIX_MODEL=0
#pragma variant model WARPS=8 MATRIX_MODEL=1
#pragma variant float8 FLOAT8=1 WARPS=8 MATRIX_MODEL=0
#pragma variant float8_model FLOAT8=1 WARPS=8 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#if FLOAT8
#extension GL_EXT_float_e4m3 : require
#endif
#endif

layout(local_size_x = 32 * WARPS) in;

#define CHUNK 4
#if FLOAT8
#define BUFFER_STRIDE 5
#define MIDDLE_STRIDE 17
#else
#define BUFFER_STRIDE 9
#define MIDDLE_STRIDE 33
#endif
// The middle rows take the place of the input buffers; then the branch's rows.
const uint BRANCH = 64 * MIDDLE_STRIDE;
const uint STAGES = BRANCH + 64 * BUFFER_STRIDE;
#define MODEL_BINDING 3
#include "memory.glsl"
#if FLOAT8
TILE_MEMORY(STAGES + 32 * WARPS)
#else
TILE_MEMORY(STAGES)
#endif

layout(binding = 0, std430) readonly buffer Input { uvec4 input_codes[]; };
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) writeonly buffer Output { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint rows;
    uint flags;  // none
};

#define opaque_zero (flags >> 31)
#include "matrix.glsl"
#define TILE_ROWS 64
#include "rows.glsl"

// [branch][step of k][n / 16] tiles of the three matrices.
const uint MIDDLE = 8 * STEPS(512) * 4 * TILE;
const uint NARROW = MIDDLE + 8 * STEPS(64) * 16 * TILE;

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index();
    uint warp_m = warp / 4u, warp_n = warp % 4u;
    uint first_row = 64u * gl_WorkGroupID.y, branch = gl_WorkGroupID.x;

    MatrixC one[2][1];
    UNROLL for (uint i = 0; i < 2; i++) one[i][0] = zero_c();
    RowCodes codes = load_rows(thread, first_row, 0u, 8u, rows);
    store_rows(thread, 0u, codes);
#define FIRST_TILE(kt, j) (((branch * STEPS(512u) + (kt)) * 4u + warp_n) * TILE)
    PREFETCH_TILES(ring, 1, STEPS(64), FIRST_TILE)
    group_barrier();
    for (uint chunk = 0; chunk < 8; chunk++) {
        uint buffer_at = (chunk & 1u) * 64u * BUFFER_STRIDE;
        if (chunk < 7u) codes = load_rows(thread, first_row, chunk + 1u, 8u, rows);
#define BRANCH_TILE(kt, j) (((branch * STEPS(512u) + STEPS(64u) * chunk + (kt)) * 4u + warp_n) * TILE)
        MULTIPLY_PREFETCHED(ring, one, 2, 1, STEPS(64), buffer_at + 32u * warp_m * BUFFER_STRIDE, BUFFER_STRIDE, BRANCH_TILE)
        if (chunk < 7u) {
#define NEXT_TILE(kt, j) BRANCH_TILE(STEPS(64u) + (kt), j)
            FILL_RING(ring, 1, STEPS(64), NEXT_TILE)
            store_rows(thread, (chunk + 1u & 1u) * 64u * BUFFER_STRIDE, codes);
        }
        group_barrier();
    }
    UNROLL for (uint i = 0; i < 2; i++)
        PUBLISH(one[i][0], BRANCH + (32u * warp_m + 16u * i) * BUFFER_STRIDE + OPERAND * warp_n, BUFFER_STRIDE)
    MatrixC middle[2][4];
    UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 4; j++) middle[i][j] = zero_c();
#define MIDDLE_TILE(kt, j) (MIDDLE + ((branch * STEPS(64u) + (kt)) * 16u + 4u * warp_n + (j)) * TILE)
    PREFETCH_TILES(middle_ring, 4, STEPS(64), MIDDLE_TILE)
    group_barrier();
    MULTIPLY_PREFETCHED(middle_ring, middle, 2, 4, STEPS(64), BRANCH + 32u * warp_m * BUFFER_STRIDE, BUFFER_STRIDE, MIDDLE_TILE)
    UNROLL for (uint i = 0; i < 2; i++) {
        UNROLL for (uint j = 0; j < 4; j++)
            PUBLISH_SILU(middle[i][j], (32u * warp_m + 16u * i) * MIDDLE_STRIDE + OPERAND * (4u * warp_n + j), MIDDLE_STRIDE)
    }
    UNROLL for (uint i = 0; i < 2; i++) one[i][0] = zero_c();
#define NARROW_TILE(kt, j) (NARROW + ((branch * STEPS(256u) + (kt)) * 4u + warp_n) * TILE)
    PREFETCH_TILES(narrow_ring, 1, STEPS(256), NARROW_TILE)
    group_barrier();
    MULTIPLY_PREFETCHED(narrow_ring, one, 2, 1, STEPS(256), 32u * warp_m * MIDDLE_STRIDE, MIDDLE_STRIDE, NARROW_TILE)
    // Every warp has read the branch's rows.
    UNROLL for (uint i = 0; i < 2; i++) {
        uint to = BRANCH + (32u * warp_m + 16u * i) * BUFFER_STRIDE + OPERAND * warp_n;
#if FLOAT8
        store_codes(one[i][0], to, BUFFER_STRIDE);
#else
        store_c(one[i][0], to, BUFFER_STRIDE);
#endif
    }
    group_barrier();
    uint row = thread >> 2, part = thread & 3u, at = BRANCH + row * BUFFER_STRIDE + OPERAND * part;
    if (first_row + row < rows) out_codes[(first_row + row) * 32u + branch * 4u + part] = get_codes(at);
}
