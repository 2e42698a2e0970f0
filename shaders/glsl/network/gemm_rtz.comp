// FP8 multiply for GPUs that round f32 toward zero on demand: a workgroup computes TILE_ROWS x TILE_COLUMNS outputs, an
// invocation 4 x 4 of them. Bindings and parameters are those of gemm_bindings.glsl.
//
// `split` computes one partition of K a workgroup layer and leaves its halves as [partition][row][channel] for gemm_join.
// `norm` is a QKV matrix with the cosine normalisation behind it (numerics section 6): every 32 columns are a head's Q, K
// or V, and the Scale binding holds the head scales, one half a word.
#version 460
#pragma variant narrow TILE_ROWS=128 TILE_COLUMNS=32 ONE_PART=0 NORM=0
#pragma variant wide TILE_ROWS=64 TILE_COLUMNS=64 ONE_PART=0 NORM=0
#pragma variant split TILE_ROWS=64 TILE_COLUMNS=64 ONE_PART=1 NORM=0
#pragma variant norm_narrow TILE_ROWS=128 TILE_COLUMNS=32 ONE_PART=0 NORM=1
#pragma variant norm_wide TILE_ROWS=64 TILE_COLUMNS=64 ONE_PART=0 NORM=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require

#define THREAD_ROWS 4
#define THREAD_COLUMNS 4
#define THREADS (TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS))

const uint A_QUADS = TILE_ROWS / 4;
const uint B_QUADS = TILE_COLUMNS / 4;
const uint B_START = 33 * A_QUADS;
shared uvec4 tile_memory[33 * (A_QUADS + B_QUADS)];

#include "f13_rtz.glsl"
#include "gemm_pairs.glsl"
#if NORM
#include "cosine_pairs.glsl"
#endif

#define rtz_zero (flags >> 31)
#define GROUP tile_group
#define GROUP_ROWS THREAD_ROWS
#define GROUP_COLUMNS THREAD_COLUMNS
#define GROUP_A_SIGNED 1
#define A_STRIDE A_QUADS
#define B_STRIDE B_QUADS
#define A_MAGNITUDES (16 * A_QUADS)
#define B_MAGNITUDES (16 * B_QUADS)
#include "f13_rtz_group.glsl"

layout(local_size_x = THREADS) in;

#if NORM
// Element of a tile row's halves, permuted so that invocations that read one row each use different banks.
uint staged(uint row, uint element) {
#if TILE_COLUMNS == 64
    return row * 8 + (element ^ (row & 7u));
#else
    return row * 4 + (element ^ ((row >> 1) & 3u));
#endif
}
#endif

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_column = gl_WorkGroupID.x * TILE_COLUMNS;
    uint group = first_column / n;
    // A subgroup of 32 covers 8 x 4 invocation tiles, which keeps the addresses it reads few.
    uint warp = thread >> 5, lane = thread & 31u;
    const uint WARPS_ACROSS = B_QUADS / 4;
    uint row_quad = warp / WARPS_ACROSS * 8 + (lane >> 2);
    uint column_quad = warp % WARPS_ACROSS * 4 + (lane & 3u);
    uint row = first_row + 4 * row_quad, column = first_column + 4 * column_quad;

    uint acc[THREAD_ROWS][THREAD_COLUMNS / 2];
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++) {
        uvec2 s = uvec2(0u);
#if ONE_PART
        if (gl_WorkGroupID.z == 0u)
#endif
        if (row + r < rows) s = seed4(row + r, column);
        acc[r][0] = s.x, acc[r][1] = s.y;
    }
#if ONE_PART
    uint k = gl_WorkGroupID.z * partition16, end = k + partition16;
#else
    uint k = 0u, end = k16;
#endif
    uint weight = group * k16 * n + (first_column - group * n);
    // Rows past the last repeat it; nothing of them is published.
    uint from = min(first_row + thread, rows - 1u) * input16 + group * group16;
    bool row_side = thread < TILE_ROWS;
    uint own_column = thread - TILE_ROWS;
    bool column_side = !row_side && own_column < TILE_COLUMNS;
    uvec4 row_codes = uvec4(0u), column_codes = uvec4(0u);
    if (row_side) row_codes = input_codes[from + k];
    if (column_side) column_codes = weight_codes[weight + k * n + own_column];
    for (; k < end; k++) {
        barrier();
        if (row_side) rtz_store(0u, A_QUADS, thread, row_codes, BIAS_A);
        if (column_side) rtz_store(B_START, B_QUADS, own_column, column_codes, BIAS_B);
        barrier();
        // The next sixteen k travel while these are used.
        if (k + 1u < end) {
            if (row_side) row_codes = input_codes[from + k + 1u];
            if (column_side) column_codes = weight_codes[weight + (k + 1u) * n + own_column];
        }
        tile_group(row_quad, B_START + column_quad, 32 * A_QUADS + row_quad, B_START + 32 * B_QUADS + column_quad, acc);
    }
#if ONE_PART
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++) {
        if (row + r < rows) {
            uint at = ((gl_WorkGroupID.z * rows + row + r) * channels + column) >> 1;
            out_halves[at] = acc[r][0];
            out_halves[at + 1u] = acc[r][1];
        }
    }
#elif NORM
    barrier();
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++) {
        uint at = staged(4 * row_quad + r, column_quad >> 1), part = 2u * (column_quad & 1u);
        tile_memory[at][part] = acc[r][0];
        tile_memory[at][part + 1u] = acc[r][1];
    }
    barrier();
    // One row and 32 columns an invocation.
    if (thread >= TILE_ROWS * (TILE_COLUMNS / 32)) return;
    uint tile_row = thread % TILE_ROWS, tile_part = thread / TILE_ROWS;
    uint part = first_column / 32u + tile_part;
    uint v[16];
    [[unroll]] for (uint e = 0; e < 4; e++) {
        uvec4 w = tile_memory[staged(tile_row, 4 * tile_part + e)];
        [[unroll]] for (uint i = 0; i < 4; i++) v[4 * e + i] = w[i];
    }
    if (part % 3u != 2u) {
        float16_t norm = cosine_norm(v);
        uint factor = pair_of(norm), scale = scale_halves[part / 3u] * 0x10001u;
        [[unroll]] for (uint i = 0; i < 16; i++) {
            v[i] = pair_mul(v[i], factor);
            if (part % 3u == 0u) v[i] = pair_mul(v[i], scale);
        }
    }
    if (first_row + tile_row < rows) {
        uint to = ((first_row + tile_row) * channels >> 2) + part * 8u;
        [[unroll]] for (uint i = 0; i < 8; i++) out_codes[to + i] = pair_pack_codes(v[2 * i], v[2 * i + 1]);
    }
#else
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++)
        if (row + r < rows) publish4(row + r, column, uvec2(acc[r][0], acc[r][1]));
#endif
}
