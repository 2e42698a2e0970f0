// Defines GROUP(a_at, b_at, a_mask_at, b_mask_at, acc): adds the sixteen products of every output of a GROUP_ROWS x
// GROUP_COLUMNS tile to its accumulators. a_at and b_at are the elements of the first k of the tile's rows and columns;
// the next k is A_STRIDE (B_STRIDE) elements on, magnitudes A_MAGNITUDES (B_MAGNITUDES). With GROUP_A_SIGNED 0 the rows
// have no signs and there are no masks: the low 23 bits of a power are minus its sign. Included once for each tile of a kernel. `rtz_zero` is 0, which the compiler does not know.
void GROUP(uint a_at, uint b_at, uint a_mask_at, uint b_mask_at, inout uint acc[GROUP_ROWS][GROUP_COLUMNS / 2]) {
    const uint RQ = GROUP_ROWS / 4, CQ = GROUP_COLUMNS / 4;
    float base[GROUP_ROWS][GROUP_COLUMNS];
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++)
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) base[r][c] = 0.0;
    // The compiler cannot know that the loops around the passes run once. That keeps the passes apart: merged, they take
    // more registers and run slower.
    const uint end = 16u + rtz_zero;
    [[dont_unroll]] for (uint pass = 0; pass < end; pass += 16)
    [[unroll]] for (uint step = 0; step < 16; step++) {
        uint k = pass + step;
        vec4 a[RQ], b[CQ];
        [[unroll]] for (uint q = 0; q < RQ; q++) a[q] = uintBitsToFloat(tile_memory[a_at + k * A_STRIDE + q]);
        [[unroll]] for (uint q = 0; q < CQ; q++) b[q] = uintBitsToFloat(tile_memory[b_at + k * B_STRIDE + q]);
        [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++)
            [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++)
                base[r][c] = fma(a[r >> 2][r & 3], b[c >> 2][c & 3], base[r][c]);
    }
#if GROUP_A_SIGNED
    uint a_mask[GROUP_ROWS], b_mask[GROUP_COLUMNS];
    [[unroll]] for (uint q = 0; q < RQ; q++) {
        uvec4 m = tile_memory[a_mask_at + q];
        [[unroll]] for (uint i = 0; i < 4; i++) a_mask[4 * q + i] = m[i];
    }
    [[unroll]] for (uint q = 0; q < CQ; q++) {
        uvec4 m = tile_memory[b_mask_at + q];
        [[unroll]] for (uint i = 0; i < 4; i++) b_mask[4 * q + i] = m[i];
    }
#else
    uint signs[GROUP_COLUMNS];
    [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) signs[c] = 0u;
#endif
    // From here on everything is 2^-16 too small, as products are, and `base` is 2^(E + 10). An exponent field 96 + (E + 15)
    // is 2^(E - 16); without any product 0 stands for E = -15, at which every half is a whole number of units. An infinite
    // or NaN accumulator has some finite base and stays what it is.
    uint sum[GROUP_ROWS][GROUP_COLUMNS];
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) {
            precise float held = unpackHalf2x16(acc[r][c >> 1])[c & 1] * 1.52587890625e-5;
            float products = uintBitsToFloat(((floatBitsToUint(base[r][c]) >> 3) & 0x0f800000u) | (96u << 23));
            uint largest = floatBitsToUint(max(abs(held), products)) & 0x3f800000u;
            base[r][c] = uintBitsToFloat(largest) * 1024.0;
#if GROUP_A_SIGNED
            sum[r][c] = uint(bitCount(a_mask[r] ^ b_mask[c]));
#else
            sum[r][c] = 0u;
#endif
        }
    }
    [[dont_unroll]] for (uint pass = 0; pass < end; pass += 16)
    [[unroll]] for (uint step = 0; step < 16; step += 2) {
        uint k = pass + step;
        vec4 a[2][RQ], b[2][CQ];
        uvec4 sa[2][RQ], sb[2][CQ];
        [[unroll]] for (uint j = 0; j < 2; j++) {
            [[unroll]] for (uint q = 0; q < RQ; q++) {
                a[j][q] = uintBitsToFloat(tile_memory[a_at + A_MAGNITUDES + (k + j) * A_STRIDE + q]);
#if GROUP_A_SIGNED
                sa[j][q] = tile_memory[a_at + (k + j) * A_STRIDE + q];
#else
                sa[j][q] = uvec4(0u);
#endif
            }
            [[unroll]] for (uint q = 0; q < CQ; q++) {
                b[j][q] = uintBitsToFloat(tile_memory[b_at + B_MAGNITUDES + (k + j) * B_STRIDE + q]);
                sb[j][q] = tile_memory[b_at + (k + j) * B_STRIDE + q];
            }
        }
#if !GROUP_A_SIGNED
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) signs[c] += sb[0][c >> 2][c & 3] + sb[1][c >> 2][c & 3];
#endif
        [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
            [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c++) {
                uint u = floatBitsToUint(fma(a[0][r >> 2][r & 3], b[0][c >> 2][c & 3], base[r][c]));
                uint v = floatBitsToUint(fma(a[1][r >> 2][r & 3], b[1][c >> 2][c & 3], base[r][c]));
                sum[r][c] += (u ^ sa[0][r >> 2][r & 3] ^ sb[0][c >> 2][c & 3]) + (v ^ sa[1][r >> 2][r & 3] ^ sb[1][c >> 2][c & 3]);
            }
        }
    }
    [[unroll]] for (uint r = 0; r < GROUP_ROWS; r++) {
        [[unroll]] for (uint c = 0; c < GROUP_COLUMNS; c += 2) {
            vec2 v;
            [[unroll]] for (uint j = 0; j < 2; j++) {
#if !GROUP_A_SIGNED
                sum[r][c + j] -= signs[c + j];
#endif
                // The accumulator, truncated toward zero as well.
                precise float held = unpackHalf2x16(acc[r][c >> 1])[j] * 1.52587890625e-5;
                float b = base[r][c + j];
                float signed_base = uintBitsToFloat(floatBitsToUint(b) | (floatBitsToUint(held) & 0x80000000u));
                precise float shifted = held + signed_base;
                precise float kept = shifted - signed_base;
                // The low 23 bits as a signed number times 2^-23: 1.5 plus it, less that.
                precise float total = uintBitsToFloat((sum[r][c + j] & LOW_23) ^ 0x3fc00000u) - 1.5;
                precise float whole = fma(total, b, kept) * 65536.0;
                v[j] = whole;
            }
            acc[r][c >> 1] = packHalf2x16(v) ^ rtz_zero;
        }
    }
}
#undef GROUP
#undef GROUP_ROWS
#undef GROUP_COLUMNS
#undef GROUP_A_SIGNED
#undef A_STRIDE
#undef B_STRIDE
#undef A_MAGNITUDES
#undef B_MAGNITUDES
