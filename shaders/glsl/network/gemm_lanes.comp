// FP8 multiply for CPU devices: one subgroup computes a tile of ROWS x LANES outputs, rows over lanes. A column is spread
// over the lanes once and shuffled, or with UNIFORM loaded and decoded by all of them; `nrview tune` finds out what is faster.
#version 460
#pragma variant 4 LANES=4 ROWS=32 UNIFORM=0
#pragma variant 4_rows8 LANES=4 ROWS=8 UNIFORM=0
#pragma variant 4_rows16 LANES=4 ROWS=16 UNIFORM=0
#pragma variant 8 LANES=8 ROWS=32 UNIFORM=0
#pragma variant 8_rows8 LANES=8 ROWS=8 UNIFORM=0
#pragma variant 8_rows16 LANES=8 ROWS=16 UNIFORM=0
#pragma variant 16 LANES=16 ROWS=32 UNIFORM=0
#pragma variant 16_rows16 LANES=16 ROWS=16 UNIFORM=0
#pragma variant 8_even16 LANES=8 ROWS=16 UNIFORM=1
#pragma variant 8_even32 LANES=8 ROWS=32 UNIFORM=1
#pragma variant 16_even32 LANES=16 ROWS=32 UNIFORM=1
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_control_flow_attributes : require

#include "f13_lanes.glsl"
#include "gemm_io.glsl"

// Row vectors of a tile.
const uint VECTORS = ROWS / LANES;
// Columns come in fours, so that a lane publishes whole words.
const uint COLUMNS = LANES;

layout(local_size_x = LANES) in;

void main() {
    uint lane = gl_SubgroupInvocationID;
    uint column = gl_WorkGroupID.x * COLUMNS;
    uint group = column / n;
    uint row[VECTORS], from[VECTORS];
    bool live[VECTORS];
    float acc[VECTORS][COLUMNS], total[VECTORS][COLUMNS];
    [[unroll]] for (uint v = 0; v < VECTORS; v++) {
        row[v] = gl_WorkGroupID.y * ROWS + v * LANES + lane;
        live[v] = row[v] < rows;
        // Lanes past the last row repeat it and publish nothing.
        row[v] = min(row[v], rows - 1u);
        from[v] = row[v] * input16 + group * group16;
        [[unroll]] for (uint c = 0; c < COLUMNS; c += 4) {
            vec4 s = seed4(row[v], column + c);
            acc[v][c] = s.x, acc[v][c + 1] = s.y, acc[v][c + 2] = s.z, acc[v][c + 3] = s.w;
        }
    }
    uint weight = group * k16 * n + (column - group * n);
    for (uint k = 0; k < k16;) {
        uint end = k + partition16;
        bool first = k == 0u;
        for (; k < end; k++) {
#if !UNIFORM
            Operands w = f13_unpack(weight_codes[weight + lane + k * n]);
#endif
            Operands x[VECTORS];
            [[unroll]] for (uint v = 0; v < VECTORS; v++) x[v] = f13_unpack(input_codes[from[v] + k]);
            [[unroll]] for (uint c = 0; c < COLUMNS; c++) {
#if UNIFORM
                Operands b = f13_unpack(weight_codes[weight + c + k * n]);
#else
                Operands b = f13_broadcast(w, c);
#endif
                [[unroll]] for (uint v = 0; v < VECTORS; v++) acc[v][c] = group13(x[v], b, acc[v][c]);
            }
        }
        // Partitions are added with half adds, in order.
        [[unroll]] for (uint v = 0; v < VECTORS; v++) {
            [[unroll]] for (uint c = 0; c < COLUMNS; c++) {
                total[v][c] = first ? acc[v][c] : half_add(total[v][c], acc[v][c]);
                acc[v][c] = 0.0;
            }
        }
    }
    [[unroll]] for (uint v = 0; v < VECTORS; v++) {
        if (!live[v]) continue;
        [[unroll]] for (uint c = 0; c < COLUMNS; c += 4)
            publish4(row[v], column + c, vec4(total[v][c], total[v][c + 1], total[v][c + 2], total[v][c + 3]));
    }
}
