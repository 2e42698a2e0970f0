// FP8 multiply for GPUs: a workgroup computes TILE_ROWS x TILE_COLUMNS outputs, an invocation 8 x 4 of them. The host
// takes `narrow` where N is not a multiple of 64, and `parts` where K is partitioned; the others are for `nrview tune`.
#version 460
#pragma variant narrow TILE_ROWS=128 TILE_COLUMNS=32 PARTS=0
#pragma variant wide TILE_ROWS=64 TILE_COLUMNS=64 PARTS=0
#pragma variant low TILE_ROWS=32 TILE_COLUMNS=64 PARTS=0
#pragma variant flat TILE_ROWS=64 TILE_COLUMNS=32 PARTS=0
#pragma variant tall TILE_ROWS=128 TILE_COLUMNS=64 PARTS=0
#pragma variant parts TILE_ROWS=64 TILE_COLUMNS=64 PARTS=1
#extension GL_EXT_control_flow_attributes : require

#define THREAD_ROWS 8
#define THREAD_COLUMNS 4
#define THREADS (TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS))
#define TILE_MEMORY OPERANDS

#include "f13_tile.glsl"
#define GROUP tile_group
#define GROUP_ROWS THREAD_ROWS
#define GROUP_COLUMNS THREAD_COLUMNS
#include "f13_tile_group.glsl"
#include "gemm_io.glsl"

layout(local_size_x = THREADS) in;

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_column = gl_WorkGroupID.x * TILE_COLUMNS;
    uint group = first_column / n;
    uint row_quad = thread / B_QUADS * (THREAD_ROWS / 4), column_quad = thread % B_QUADS;
    uint row = first_row + 4 * row_quad, column = first_column + 4 * column_quad;

    float acc[THREAD_ROWS][THREAD_COLUMNS];
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++) {
        vec4 s = row + r < rows ? seed4(row + r, column) : vec4(0.0);
        [[unroll]] for (uint c = 0; c < THREAD_COLUMNS; c++) acc[r][c] = s[c];
    }
#if PARTS
    float total[THREAD_ROWS][THREAD_COLUMNS];
    uint end = partition16;
#endif
    uint weight = group * k16 * n + (first_column - group * n);
    for (uint k = 0; k < k16; k++) {
        barrier();
        [[unroll]] for (uint first = 0; first < TILE_ROWS + TILE_COLUMNS; first += THREADS) {
            uint i = first + thread;
            if (i < TILE_ROWS) {
                // Rows past the last repeat it; nothing of them is published.
                uint from = min(first_row + i, rows - 1u);
                tile_store_a(i, input_codes[from * input16 + group * group16 + k]);
            } else if (i < TILE_ROWS + TILE_COLUMNS) {
                tile_store_b(i - TILE_ROWS, weight_codes[weight + k * n + i - TILE_ROWS]);
            }
        }
        barrier();
        tile_group(row_quad, column_quad, acc);
#if PARTS
        // Partitions are added with half adds, in order.
        if (k + 1u == end) {
            bool only = end == partition16;
            [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++) {
                [[unroll]] for (uint c = 0; c < THREAD_COLUMNS; c++) {
                    total[r][c] = only ? acc[r][c] : half_add(total[r][c], acc[r][c]);
                    acc[r][c] = 0.0;
                }
            }
            end += partition16;
        }
#endif
    }
#if PARTS
    acc = total;
#endif
    [[unroll]] for (uint r = 0; r < THREAD_ROWS; r++)
        if (row + r < rows) publish4(row + r, column, vec4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]));
}
