// FP8 multiply on matrix units (f13_matrix.glsl): a workgroup computes TILE_ROWS x TILE_COLUMNS outputs, each of its
// subgroups MATRIX_ROWS x MATRIX_COLUMNS matrices of 16 x 16, and GROUPS groups of sixteen k are stored at a time.
// Bindings and parameters are those of gemm_bindings.glsl.
//
// `split` computes one partition of K a workgroup layer and leaves its halves as [partition][row][channel] for gemm_join.
// `norm` is a QKV matrix with the cosine normalisation behind it (numerics section 6): every 32 columns are a head's Q, K
// or V, and the Scale binding holds the head scales, one half a word. ROLLED keeps a loop over the groups, for the sake of
// the instruction cache. Which tile is the fastest depends on the device and on the shape: `nrview tune` finds out. With
// MODEL the same tiles run on plain arithmetic (gemm_matrix_model.glsl).
#version 460
#pragma variant narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant norm_narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=0
#pragma variant wide TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=0
#pragma variant norm_wide TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=0
#pragma variant small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=0
#pragma variant norm_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=0
#pragma variant single TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=1 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant norm_single TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=1 ROLLED=0 ONE_PART=0 NORM=1 MODEL=0
#pragma variant rolled TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split_rolled TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=1 NORM=0 MODEL=0
#pragma variant norm_rolled TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=1 MODEL=0
#pragma variant deep TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=4 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant norm_deep TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=4 ROLLED=1 ONE_PART=0 NORM=1 MODEL=0
#pragma variant short TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split_short TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=1 NORM=0 MODEL=0
#pragma variant norm_short TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=1 MODEL=0
#pragma variant tiny TILE_ROWS=32 TILE_COLUMNS=32 MATRIX_ROWS=1 MATRIX_COLUMNS=1 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split_tiny TILE_ROWS=32 TILE_COLUMNS=32 MATRIX_ROWS=1 MATRIX_COLUMNS=1 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=0
#pragma variant tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant split_tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=0
#pragma variant norm_tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=0
#pragma variant tallroll TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant norm_tallroll TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=1 MODEL=0
#pragma variant broad TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant norm_broad TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=1 MODEL=0
#pragma variant heavy TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=4 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=0
#pragma variant square TILE_ROWS=128 TILE_COLUMNS=128 MATRIX_ROWS=4 MATRIX_COLUMNS=2 GROUPS=1 ROLLED=0 ONE_PART=0 NORM=0 MODEL=0
#pragma variant model_narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_wide TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_single TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=1 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_deep TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=4 ROLLED=1 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_tiny TILE_ROWS=32 TILE_COLUMNS=32 MATRIX_ROWS=1 MATRIX_COLUMNS=1 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_broad TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_heavy TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=4 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_square TILE_ROWS=128 TILE_COLUMNS=128 MATRIX_ROWS=4 MATRIX_COLUMNS=2 GROUPS=1 ROLLED=0 ONE_PART=0 NORM=0 MODEL=1
#pragma variant model_split_tiny TILE_ROWS=32 TILE_COLUMNS=32 MATRIX_ROWS=1 MATRIX_COLUMNS=1 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=1
#pragma variant model_split_tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=1 NORM=0 MODEL=1
#pragma variant model_norm_narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=1
#pragma variant model_norm_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=1
#pragma variant model_norm_tall TILE_ROWS=128 TILE_COLUMNS=64 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=0 ONE_PART=0 NORM=1 MODEL=1
#pragma variant model_norm_broad TILE_ROWS=64 TILE_COLUMNS=128 MATRIX_ROWS=2 MATRIX_COLUMNS=2 GROUPS=2 ROLLED=1 ONE_PART=0 NORM=1 MODEL=1
#extension GL_EXT_control_flow_attributes : require
#if !MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif
#extension GL_KHR_shader_subgroup_basic : require

const uint THREADS = TILE_ROWS * TILE_COLUMNS / (MATRIX_ROWS * MATRIX_COLUMNS * 8);
const uint RECORDS = TILE_ROWS + TILE_COLUMNS;
// Elements of an output row.
const uint OUT_STRIDE = TILE_COLUMNS / 8 + 1;
#if MODEL
const uint RECORD = 1;
#else
const uint RECORD = 5;
#endif
const uint OPERANDS = GROUPS * RECORDS * RECORD, OUT = TILE_ROWS * OUT_STRIDE;
shared uvec4 tile_memory[OPERANDS > OUT ? OPERANDS : OUT];

#if MODEL
#include "gemm_matrix_model.glsl"
#else
#include "gemm_matrix_units.glsl"
#endif

layout(local_size_x = THREADS) in;

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_column = gl_WorkGroupID.x * TILE_COLUMNS;
    uint group = first_column / n;
    const uint ACROSS = TILE_COLUMNS / (16 * MATRIX_COLUMNS);
    uint tile_row = matrix_subgroup() / ACROSS * (16 * MATRIX_ROWS), tile_column = matrix_subgroup() % ACROSS * (16 * MATRIX_COLUMNS);

    uint acc[MATRIX_ROWS][MATRIX_COLUMNS][4];
    [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++)
        [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++)
            [[unroll]] for (uint p = 0; p < 4; p++) acc[i][j][p] = 0u;
#if !NORM
    bool seeded = (flags & (FLAG_SEED_CODE | FLAG_SEED_HALF)) != 0u;
#if ONE_PART
    seeded = seeded && gl_WorkGroupID.z == 0u;
#endif
    if (seeded) {
        [[unroll]] for (uint first = 0; first < TILE_ROWS * TILE_COLUMNS / 8; first += THREADS) {
            uint i = first + thread, r = i / (TILE_COLUMNS / 8), c = i % (TILE_COLUMNS / 8);
            uint row = min(first_row + r, rows - 1u), column = first_column + 8 * c;
            tile_memory[r * OUT_STRIDE + c] = uvec4(seed_words(row, column), seed_words(row, column + 4u));
        }
        barrier();
        [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++) {
            [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++) {
                uint at = (tile_row + 16 * i) * OUT_STRIDE + tile_column / 8 + 2 * j;
                load_halves(at, acc[i][j]);
            }
        }
    }
#endif
#if ONE_PART
    uint k = gl_WorkGroupID.z * partition16, end = k + partition16;
#else
    uint k = 0u, end = k16;
#endif
    // A record is loaded by one invocation, the groups of a row side by side. Rows past the last repeat it; nothing of them
    // is published.
    const uint LOADS = (RECORDS * GROUPS + THREADS - 1) / THREADS;
    uint weight = group * k16 * n + (first_column - group * n);
    uvec4 codes[LOADS];
    uint from[LOADS];
    uint stride[LOADS];
    [[unroll]] for (uint l = 0; l < LOADS; l++) {
        uint i = l * THREADS + thread, g = i % GROUPS, r = i / GROUPS;
        if (r < TILE_ROWS) {
            from[l] = min(first_row + r, rows - 1u) * input16 + group * group16 + g + k;
            stride[l] = 1u;
            codes[l] = input_codes[from[l]];
        } else if (r < RECORDS) {
            from[l] = weight + (g + k) * n + r - TILE_ROWS;
            stride[l] = n;
            codes[l] = weight_codes[from[l]];
        }
    }
    for (; k < end; k += GROUPS) {
        barrier();
        [[unroll]] for (uint l = 0; l < LOADS; l++) {
            uint i = l * THREADS + thread, g = i % GROUPS, r = i / GROUPS;
            // Known for most l, so that weights are not cleaned.
            bool rows_alone = (l + 1) * THREADS <= TILE_ROWS * GROUPS, columns_alone = l * THREADS >= TILE_ROWS * GROUPS;
            bool of_row = rows_alone || (!columns_alone && r < TILE_ROWS);
            if (r < RECORDS) store_record((g * RECORDS + r) * RECORD, codes[l], of_row);
        }
        barrier();
        // The next k travel while these are used.
        if (k + GROUPS < end) {
            [[unroll]] for (uint l = 0; l < LOADS; l++) {
                uint i = l * THREADS + thread, r = i / GROUPS;
                from[l] += GROUPS * stride[l];
                if (r < TILE_ROWS) {
                    codes[l] = input_codes[from[l]];
                } else if (r < RECORDS) {
                    codes[l] = weight_codes[from[l]];
                }
            }
        }
#if ROLLED
        // With a bound that the compiler does not know this stays a loop.
        [[dont_unroll]] for (uint g = 0; g < GROUPS + (flags >> 31); g++) {
#else
        [[unroll]] for (uint g = 0; g < GROUPS; g++) {
#endif
            PowerA power_a[MATRIX_ROWS];
            HalfA a[MATRIX_ROWS];
            [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++)
                load_rows((g * RECORDS + tile_row + 16 * i) * RECORD, a[i], power_a[i]);
            PowerB power_b[MATRIX_COLUMNS];
            HalfB b[MATRIX_COLUMNS];
            [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++)
                load_columns((g * RECORDS + TILE_ROWS + tile_column + 16 * j) * RECORD, b[j], power_b[j]);
            matrix_group(power_a, power_b, a, b, flags >> 31, acc);
        }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++) {
        [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++) {
            store_halves((tile_row + 16 * i) * OUT_STRIDE + tile_column / 8 + 2 * j, acc[i][j]);
        }
    }
    barrier();
#if NORM
    // One row and 32 columns an invocation at a time.
    [[unroll]] for (uint first = 0; first < TILE_ROWS * TILE_COLUMNS / 32; first += THREADS) {
        uint i = first + thread, r = i % TILE_ROWS, tile_part = i / TILE_ROWS;
        uint row = first_row + r, part = first_column / 32u + tile_part;
        if (i >= TILE_ROWS * TILE_COLUMNS / 32 || row >= rows) continue;
        uint v[16];
        [[unroll]] for (uint e = 0; e < 4; e++) {
            uvec4 w = tile_memory[r * OUT_STRIDE + 4 * tile_part + e];
            [[unroll]] for (uint c = 0; c < 4; c++) v[4 * e + c] = w[c];
        }
        if (part % 3u != 2u) normalise(v, part % 3u == 0u, scale_halves[part / 3u]);
        uint to = (row * channels >> 2) + part * 8u;
        [[unroll]] for (uint c = 0; c < 8; c++) out_codes[to + c] = pack_codes(v[2 * c], v[2 * c + 1]);
    }
#else
    [[unroll]] for (uint first = 0; first < TILE_ROWS * TILE_COLUMNS / 8; first += THREADS) {
        uint i = first + thread, r = i / (TILE_COLUMNS / 8), c = i % (TILE_COLUMNS / 8);
        uint row = first_row + r, column = first_column + 8 * c;
        if (row < rows) {
            uvec4 w = tile_memory[r * OUT_STRIDE + c];
#if ONE_PART
            uint at = ((gl_WorkGroupID.z * rows + row) * channels + column) >> 1;
            [[unroll]] for (uint e = 0; e < 4; e++) out_halves[at + e] = w[e];
#else
            publish_words(row, column, w.xy);
            publish_words(row, column + 4u, w.zw);
#endif
        }
    }
#endif
}
