// What f13_matrix_group.glsl defines, on plain arithmetic, for one row of matrices.
void GROUP(PowerA power_a[1], PowerB power_b[GROUP_COLUMNS], HalfA a[1], HalfB b[GROUP_COLUMNS], uint zero,
           inout uint acc[1][GROUP_COLUMNS][4]) {
    uint quad = gl_SubgroupInvocationID & ~3u, place = gl_SubgroupInvocationID & 3u;
    for (uint r = 0; r < 2; r++) {
        float a_value[16];
        int a_exponent[16];
        [[unroll]] for (uint k = 0; k < 16; k++) {
            uint word = subgroupShuffle(a[0].codes[2 * r + k / 8], quad + k / 2 % 4);
            f13_decode(word >> (16 * (k % 2)), 0u, a_value[k], a_exponent[k]);
        }
        for (uint o = 0; o < GROUP_COLUMNS * 4u; o++) {
            uint j = o / 4u, p = 2u * r + o / 2u % 2u, e = o % 2u, column = 2u * place + e + 8u * (p & 1u);
            float b_value[16];
            int b_exponent[16];
            [[unroll]] for (uint k = 0; k < 16; k++) f13_decode(matrix_code(b[j], k, column), 0u, b_value[k], b_exponent[k]);
            uint word = acc[0][j][p];
            float held = half_to_f32(word >> (16u * e) & 0xffffu);
            uint bits = half_bits(group13(a_value, a_exponent, b_value, b_exponent, held));
            acc[0][j][p] = (word & (e == 0u ? 0xffff0000u : 0xffffu)) | bits << (16u * e);
        }
    }
}
#undef GROUP
#undef GROUP_ROWS
#undef GROUP_COLUMNS
