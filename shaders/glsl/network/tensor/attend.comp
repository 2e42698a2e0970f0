// QKV, normalisation and window attention of two heads of a 512-channel block, one window a workgroup (numerics sections 6
// and 9). Raw rows never leave the chip.
#version 460
#pragma variant device WARPS=8 MATRIX_MODEL=0
#pragma variant model WARPS=8 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(local_size_x = 32 * WARPS) in;

#define BUFFER_STRIDE 9
#define WORK_STRIDE 17
#define ATTENDED 12
const uint WORK = 2 * 64 * BUFFER_STRIDE;
#define MODEL_BINDING 3
#include "memory.glsl"
TILE_MEMORY(2 * 64 * BUFFER_STRIDE + 64 * WORK_STRIDE)

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
// [head][k / 16][6] tiles, priors, scales.
const uint PRIOR = HEADS * 32 * 6 * TILE;
const uint SCALES = PRIOR + HEADS * 512;

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index(), lane = lane_index();
    uint warp_m = warp / 4u, warp_n = warp % 4u;
    ivec2 origin = window_origin(gl_WorkGroupID.x);
    uint first_head = 2u * gl_WorkGroupID.z;
    uvec2 pixel;
    bool inside = token_pixel(origin, thread >> 2, pixel);
    uint own_row = (pixel.y - first_line) * width + pixel.x, part = thread & 3u;
    uint to = (thread >> 2) * BUFFER_STRIDE + 2u * part;

    MatrixC qkv[2][3];
    UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 3; j++) qkv[i][j] = zero_c();
    uint own_head = first_head + warp_n / 2u, own_tile = 3u * (warp_n & 1u);
    uvec4 codes = uvec4(0u), low, high;
    if (inside) codes = input_codes[own_row * 32u + part];
    unpack16(codes, low, high);
    tile_memory[to] = low, tile_memory[to + 1u] = high;
#define FIRST_TILE(kt, j) (((own_head * 32u + (kt)) * 6u + own_tile + (j)) * TILE)
    PREFETCH_TILES(ring, 3, 4, FIRST_TILE)
    group_barrier();
    for (uint chunk = 0; chunk < 8; chunk++) {
        uint buffer_at = (chunk & 1u) * 64u * BUFFER_STRIDE;
        if (inside && chunk < 7u) codes = input_codes[own_row * 32u + 4u * (chunk + 1u) + part];
#define QKV_TILE(kt, j) (((own_head * 32u + 4u * chunk + (kt)) * 6u + own_tile + (j)) * TILE)
        MULTIPLY_PREFETCHED(ring, qkv, 2, 3, 4, buffer_at + 32u * warp_m * BUFFER_STRIDE, BUFFER_STRIDE, QKV_TILE)
        if (chunk < 7u) {
#define NEXT_TILE(kt, j) QKV_TILE(4u + (kt), j)
            FILL_RING(ring, 3, 4, NEXT_TILE)
            unpack16(codes, low, high);
            uint next = (chunk + 1u & 1u) * 64u * BUFFER_STRIDE + to;
            tile_memory[next] = low, tile_memory[next + 1u] = high;
        }
        group_barrier();
    }
    for (uint head = first_head; head < first_head + 2u; head++) {
        if (own_head == head) {
            UNROLL for (uint j = 0; j < 3; j++) {
                UNROLL for (uint i = 0; i < 2; i++) {
                    if (own_tile + j >= 4u) MATRIX_MAP(qkv[i][j], pair_quantise);
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
                uint at = work_row(row) + ATTENDED + 2u * half_part;
                out_codes[((pixel.y - first_line) * width + pixel.x) * 32u + 2u * head + half_part] =
                    pack16(tile_memory[at], tile_memory[at + 1u]);
            }
        }
    }
}
