// FP8 multiply on matrix units (f13_matrix.glsl): a workgroup of four subgroups computes TILE_ROWS x TILE_COLUMNS outputs.
// Bindings and parameters are those of gemm_bindings.glsl.
//
// `split` computes one partition of K a workgroup layer and leaves its halves as [partition][row][channel] for gemm_join.
// `norm` is a QKV matrix with the cosine normalisation behind it (numerics section 6): every 32 columns are a head's Q, K
// or V, and the Scale binding holds the head scales, one half a word.
#version 460
#pragma variant narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 ONE_PART=0 NORM=0
#pragma variant wide TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 ONE_PART=0 NORM=0
#pragma variant small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 ONE_PART=0 NORM=0
#pragma variant split TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 ONE_PART=1 NORM=0
#pragma variant split_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 ONE_PART=1 NORM=0
#pragma variant norm_narrow TILE_ROWS=128 TILE_COLUMNS=32 MATRIX_ROWS=2 ONE_PART=0 NORM=1
#pragma variant norm_wide TILE_ROWS=64 TILE_COLUMNS=64 MATRIX_ROWS=2 ONE_PART=0 NORM=1
#pragma variant norm_small TILE_ROWS=32 TILE_COLUMNS=64 MATRIX_ROWS=1 ONE_PART=0 NORM=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

// Each subgroup computes MATRIX_ROWS x MATRIX_COLUMNS matrices.
#define MATRIX_COLUMNS 2
// Groups of sixteen k that are stored at a time.
#define GROUPS 2
const uint THREADS = 128;
const uint RECORDS = TILE_ROWS + TILE_COLUMNS;
// Elements of an output row.
const uint OUT_STRIDE = TILE_COLUMNS / 8 + 1;
const uint OPERANDS = GROUPS * RECORDS * 5, OUT = TILE_ROWS * OUT_STRIDE;
shared uvec4 tile_memory[OPERANDS > OUT ? OPERANDS : OUT];

#include "f13_matrix.glsl"
#define GROUP matrix_group
#define GROUP_ROWS MATRIX_ROWS
#define GROUP_COLUMNS MATRIX_COLUMNS
#include "f13_matrix_group.glsl"
#include "gemm_pairs.glsl"
#if NORM
#include "cosine_pairs.glsl"
#endif

layout(local_size_x = 128) in;

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_column = gl_WorkGroupID.x * TILE_COLUMNS;
    uint group = first_column / n;
    const uint ACROSS = TILE_COLUMNS / (16 * MATRIX_COLUMNS);
    uint tile_row = gl_SubgroupID / ACROSS * (16 * MATRIX_ROWS), tile_column = gl_SubgroupID % ACROSS * (16 * MATRIX_COLUMNS);

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
            tile_memory[r * OUT_STRIDE + c] = uvec4(seed4(row, column), seed4(row, column + 4u));
        }
        barrier();
        [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++) {
            [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++) {
                HalfC h;
                uint at = (tile_row + 16 * i) * OUT_STRIDE + tile_column / 8 + 2 * j;
                coopMatLoad(h, tile_memory, at, OUT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
                FloatC f = FloatC(h);
                [[unroll]] for (uint p = 0; p < 4; p++) acc[i][j][p] = packHalf2x16(vec2(f[2 * p], f[2 * p + 1]));
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
            if (r < RECORDS) matrix_store((g * RECORDS + r) * RECORD, codes[l], r < TILE_ROWS ? MATRIX_BIAS_A : MATRIX_BIAS_B);
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
        [[unroll]] for (uint g = 0; g < GROUPS; g++) {
            PowerA power_a[MATRIX_ROWS];
            HalfA a[MATRIX_ROWS];
            [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++) {
                uint at = (g * RECORDS + tile_row + 16 * i) * RECORD;
                coopMatLoad(a[i], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
                coopMatLoad(power_a[i], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
            }
            PowerB power_b[MATRIX_COLUMNS];
            HalfB b[MATRIX_COLUMNS];
            [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++) {
                uint at = (g * RECORDS + TILE_ROWS + tile_column + 16 * j) * RECORD;
                coopMatLoad(b[j], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
                coopMatLoad(power_b[j], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
            }
            matrix_group(power_a, power_b, a, b, flags >> 31, acc);
        }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < MATRIX_ROWS; i++) {
        [[unroll]] for (uint j = 0; j < MATRIX_COLUMNS; j++) {
            FloatC f;
            [[unroll]] for (uint p = 0; p < 4; p++) {
                vec2 v = unpackHalf2x16(acc[i][j][p]);
                f[2 * p] = v.x;
                f[2 * p + 1] = v.y;
            }
            uint at = (tile_row + 16 * i) * OUT_STRIDE + tile_column / 8 + 2 * j;
            coopMatStore(HalfC(f), tile_memory, at, OUT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
        }
    }
    barrier();
#if NORM
    // One row and 32 columns an invocation.
    if (thread >= TILE_ROWS * (TILE_COLUMNS / 32)) return;
    uint row = first_row + thread % TILE_ROWS, tile_part = thread / TILE_ROWS;
    uint part = first_column / 32u + tile_part;
    uint v[16];
    [[unroll]] for (uint e = 0; e < 4; e++) {
        uvec4 w = tile_memory[thread % TILE_ROWS * OUT_STRIDE + 4 * tile_part + e];
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
    if (row < rows) {
        uint to = (row * channels >> 2) + part * 8u;
        [[unroll]] for (uint i = 0; i < 8; i++) out_codes[to + i] = pair_pack_codes(v[2 * i], v[2 * i + 1]);
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
            publish4(row, column, w.xy);
            publish4(row, column + 4u, w.zw);
#endif
        }
    }
#endif
}
