// QKV, normalisation and window attention of two heads of a 512-channel block, one window a workgroup (numerics sections 6
// and 9). Raw rows never leave the chip.
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

#if FLOAT8
#define BUFFER_STRIDE 5
#else
#define BUFFER_STRIDE 9
#endif
#define WORK_STRIDE 17
#define ATTENDED 12
const uint WORK = 2 * 64 * BUFFER_STRIDE;
const uint STAGES = WORK + 64 * WORK_STRIDE;
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
    uint width;
    uint height;
    uint phase;
    uint first_line;    // image line at which the bindings start
    uint first_window;  // window row of the dispatch's first workgroup row
    uint flags;         // none
};

#define opaque_zero (flags >> 31)
#include "window.glsl"

const uint HEADS = 16;
// [head][step of k][6] tiles, priors, scales.
const uint PRIOR = HEADS * STEPS(512) * 6 * TILE;
const uint SCALES = PRIOR + HEADS * 512;

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index(), lane = lane_index();
    uint warp_m = warp / 4u, warp_n = warp % 4u;
    ivec2 origin = window_origin(gl_WorkGroupID.x);
    uint first_head = 2u * gl_WorkGroupID.z;
    uvec2 pixel;
    bool inside = token_pixel(origin, thread >> 2, pixel);
    uint own_row = (pixel.y - first_line) * width + pixel.x, part = thread & 3u;
    uint to = (thread >> 2) * BUFFER_STRIDE + OPERAND * part;

    MatrixC qkv[2][3];
    UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 3; j++) qkv[i][j] = zero_c();
    uint own_head = first_head + warp_n / 2u, own_tile = 3u * (warp_n & 1u);
    uvec4 codes = uvec4(0u);
    if (inside) codes = input_codes[own_row * 32u + part];
    put_codes(to, codes);
#define FIRST_TILE(kt, j) (((own_head * STEPS(512u) + (kt)) * 6u + own_tile + (j)) * TILE)
    PREFETCH_TILES(ring, 3, STEPS(64), FIRST_TILE)
    group_barrier();
    for (uint chunk = 0; chunk < 8; chunk++) {
        uint buffer_at = (chunk & 1u) * 64u * BUFFER_STRIDE;
        if (inside && chunk < 7u) codes = input_codes[own_row * 32u + 4u * (chunk + 1u) + part];
#define QKV_TILE(kt, j) (((own_head * STEPS(512u) + STEPS(64u) * chunk + (kt)) * 6u + own_tile + (j)) * TILE)
        MULTIPLY_PREFETCHED(ring, qkv, 2, 3, STEPS(64), buffer_at + 32u * warp_m * BUFFER_STRIDE, BUFFER_STRIDE, QKV_TILE)
        if (chunk < 7u) {
#define NEXT_TILE(kt, j) QKV_TILE(STEPS(64u) + (kt), j)
            FILL_RING(ring, 3, STEPS(64), NEXT_TILE)
            put_codes((chunk + 1u & 1u) * 64u * BUFFER_STRIDE + to, codes);
        }
        group_barrier();
    }
    for (uint head = first_head; head < first_head + 2u; head++) {
        if (own_head == head) {
            UNROLL for (uint j = 0; j < 3; j++) {
                UNROLL for (uint i = 0; i < 2; i++) {
#if !FLOAT8
                    if (own_tile + j >= 4u) MATRIX_MAP(qkv[i][j], pair_quantise);
#endif
                    store_c(qkv[i][j], work_row(32u * warp_m + 16u * i) + 2u * (own_tile + j), WORK_STRIDE);
                }
            }
        }
        group_barrier();
        normalise_rows(thread, weights[SCALES + head].x);
        group_barrier();
        attend(warp, lane, PRIOR + head * 512u);
        group_barrier();
        if (thread < 128u) {
            uint row = thread >> 1, half_part = thread & 1u;
            if (token_pixel(origin, row, pixel)) {
                out_codes[((pixel.y - first_line) * width + pixel.x) * 32u + 2u * head + half_part] =
                    get_codes(work_row(row) + ATTENDED + OPERAND * half_part);
            }
        }
    }
}
