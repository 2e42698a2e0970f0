// Defines GROUP(row_quad, column_quad, acc): adds the sixteen products of every output of the stored operands, rows from
// 4 * row_quad and columns from 4 * column_quad, to GROUP_ROWS x GROUP_COLUMNS accumulators. Included once for each tile
// of a kernel.
void GROUP(uint row_quad, uint column_quad, inout float acc[GROUP_ROWS][GROUP_COLUMNS]) {
    const uint RQ = GROUP_ROWS / 4, CQ = GROUP_COLUMNS / 4;
    float powers[GROUP_ROWS][GROUP_COLUMNS];
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++)
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) powers[r][c] = 0.0;
    [[unroll]] for (uint k = 0; k < 16; k++) {
        vec4 a[RQ], b[CQ];
        [[unroll]] for (uint q = 0; q < RQ; q++) a[q] = uintBitsToFloat(tile_memory[A_POWER + k * A_QUADS + row_quad + q]);
        [[unroll]] for (uint q = 0; q < CQ; q++) b[q] = uintBitsToFloat(tile_memory[B_POWER + k * B_QUADS + column_quad + q]);
        [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++)
            [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++)
                powers[r][c] = fma(a[r >> 2][r & 3], b[c >> 2][c & 3], powers[r][c]);
    }
    // E + 14. The sum of powers is 256^(E - 2) to below 17 * 256^(E - 2), or 0 without products; then 0 stands for
    // E = -14, at which every half is a whole number of units.
    int level[GROUP_ROWS][GROUP_COLUMNS];
    float base[GROUP_ROWS][GROUP_COLUMNS];
    int sum[GROUP_ROWS][GROUP_COLUMNS];
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) {
            int own = int((floatBitsToUint(acc[r][c]) >> 23) & 255u) - 113;
            level[r][c] = max(int((floatBitsToUint(powers[r][c]) + (1u << 23)) >> 26), own);
            base[r][c] = uintBitsToFloat(uint(level[r][c] + 116) << 23);
            sum[r][c] = 0;
        }
    }
    [[unroll]] for (uint k = 0; k < 16; k++) {
        vec4 a[RQ], b[CQ];
        uvec4 sa[RQ], sb[CQ];
        [[unroll]] for (uint q = 0; q < RQ; q++) {
            a[q] = uintBitsToFloat(tile_memory[A_MAGNITUDE + k * A_QUADS + row_quad + q]);
            sa[q] = tile_memory[A_SIGN + k * A_QUADS + row_quad + q];
        }
        [[unroll]] for (uint q = 0; q < CQ; q++) {
            b[q] = uintBitsToFloat(tile_memory[B_MAGNITUDE + k * B_QUADS + column_quad + q]);
            sb[q] = tile_memory[B_SIGN + k * B_QUADS + column_quad + q];
        }
        [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
            [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) {
                uint u = floatBitsToUint(fma(a[r >> 2][r & 3], b[c >> 2][c & 3], base[r][c]));
                sum[r][c] += int((u & 0x007fff80u) ^ sa[r >> 2][r & 3] ^ sb[c >> 2][c & 3]);
            }
        }
    }
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) {
            float scale = uintBitsToFloat(uint(154 - level[r][c]) << 23);  // 2^(13 - E)
            float unit = uintBitsToFloat(uint(level[r][c] + 100) << 23);   // 2^(E - 13)
            int total = ((sum[r][c] + 64) >> 7) + int(acc[r][c] * scale);
            uint u = floatBitsToUint(float(total) * unit);
            u = (u + 0xfffu + ((u >> 13) & 1u)) & 0xffffe000u;
            u = (u & 0x7fffffffu) >= 0x47800000u ? (u & 0x80000000u) | 0x7f800000u : u;
            uint old = floatBitsToUint(acc[r][c]);
            acc[r][c] = uintBitsToFloat((old & 0x7f800000u) == 0x7f800000u ? old : u);
        }
    }
}
#undef GROUP
#undef GROUP_ROWS
#undef GROUP_COLUMNS
