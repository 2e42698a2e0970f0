// Defines GROUP(power_a, power_b, a, b, zero, acc): adds the sixteen products of every output of GROUP_ROWS x GROUP_COLUMNS
// matrices of 16 x 16 to its accumulators. Included once for each shape of a kernel. `zero` is 0, which the compiler does
// not know: it would leave out the rounding to half otherwise.
void GROUP(PowerA power_a[GROUP_ROWS], PowerB power_b[GROUP_COLUMNS], HalfA a[GROUP_ROWS], HalfB b[GROUP_COLUMNS], uint zero,
           inout uint acc[GROUP_ROWS][GROUP_COLUMNS][4]) {
    FloatC sum[GROUP_ROWS][GROUP_COLUMNS];
    uint start[GROUP_ROWS][GROUP_COLUMNS][4];
    [[unroll]] for (uint i = 0; i < GROUP_ROWS; i++)
        [[unroll]] for (uint j = 0; j < GROUP_COLUMNS; j++) sum[i][j] = coopMatMulAdd(power_a[i], power_b[j], FloatC(0.0));
    [[unroll]] for (uint i = 0; i < GROUP_ROWS; i++) {
        [[unroll]] for (uint j = 0; j < GROUP_COLUMNS; j++) {
            [[unroll]] for (uint p = 0; p < 4; p++) {
                // The exponent fields of the products and of the accumulators, as halves.
                uint low = floatBitsToUint(sum[i][j][2 * p]) >> 16, high = floatBitsToUint(sum[i][j][2 * p + 1]);
                uint products = (low | (high & 0xffff0000u)) & 0x7c007c00u, held = acc[i][j][p];
                uint largest = pair_bits(max(pair_floats(held & 0x7fff7fffu), pair_floats(products)));
                // X has the sign of the accumulator, so that this is truncated toward zero when it is added.
                uint x = (largest & 0x7fff7fffu) | (held & 0x80008000u);
                start[i][j][p] = x;
                vec2 h = unpackHalf2x16(held);
                precise float low_start = fma(h.x, 1.490116119384765625e-8, matrix_start_low(x));
                precise float high_start = fma(h.y, 1.490116119384765625e-8, matrix_start_high(x));
                sum[i][j][2 * p] = low_start;
                sum[i][j][2 * p + 1] = high_start;
            }
        }
    }
    [[unroll]] for (uint part = 0; part < 4; part++) {
        HalfA four_a[GROUP_ROWS];
        HalfB four_b[GROUP_COLUMNS];
        [[unroll]] for (uint i = 0; i < GROUP_ROWS; i++)
            [[unroll]] for (uint e = 0; e < 8; e++) four_a[i][e] = a[i][element_of(e, part)];
        [[unroll]] for (uint j = 0; j < GROUP_COLUMNS; j++)
            [[unroll]] for (uint e = 0; e < 8; e++) four_b[j][e] = b[j][element_of(e, part)];
        [[unroll]] for (uint i = 0; i < GROUP_ROWS; i++)
            [[unroll]] for (uint j = 0; j < GROUP_COLUMNS; j++) sum[i][j] = coopMatMulAdd(four_a[i], four_b[j], sum[i][j]);
    }
    [[unroll]] for (uint i = 0; i < GROUP_ROWS; i++) {
        [[unroll]] for (uint j = 0; j < GROUP_COLUMNS; j++) {
            [[unroll]] for (uint p = 0; p < 4; p++) {
                precise float low = sum[i][j][2 * p] - matrix_start_low(start[i][j][p]);
                precise float high = sum[i][j][2 * p + 1] - matrix_start_high(start[i][j][p]);
                precise float low_sum = low * 67108864.0;
                precise float high_sum = high * 67108864.0;
                acc[i][j][p] = packHalf2x16(vec2(low_sum, high_sum)) ^ zero;
            }
        }
    }
}
#undef GROUP
#undef GROUP_ROWS
#undef GROUP_COLUMNS
