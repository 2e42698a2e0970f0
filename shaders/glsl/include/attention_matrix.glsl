// Softmax between matrices (f13_matrix.glsl, attention_pairs.glsl), and codes as operands. An invocation holds, of every
// sixteen keys and with q its place among four, keys 2q, 2q + 1, 2q + 8 and 2q + 9 of two queries eight apart, and that is
// how the units want the weights.
#ifndef ATTENTION_MATRIX_GLSL
#define ATTENTION_MATRIX_GLSL

#include "attention_pairs.glsl"
#ifdef EXACT_MODEL
#include "f13_matrix_model.glsl"
#else
#include "f13_matrix.glsl"

// An operand matrix of codes, two a word in the low bytes of its halves.
void matrix_of_codes(uint codes[4], out HalfA a, out PowerA power_a) {
    [[unroll]] for (uint p = 0; p < 4; p++) {
        uint value, power;
        matrix_operands(codes[p] << 8, MATRIX_BIAS_A, value, power);
        f16vec2 v = pair_floats(value);
        a[2 * p] = v.x;
        a[2 * p + 1] = v.y;
        power_a[2 * p] = uintBitsToBFloat16EXT(uint16_t(power & 0xffffu));
        power_a[2 * p + 1] = uintBitsToBFloat16EXT(uint16_t(power >> 16));
    }
}
#endif

// The value of the invocation that has place q among its four.
uint of_four(uint v, uint q) { return subgroupShuffle(v, (gl_SubgroupInvocationID & 28u) + q); }

// The sum of the exponentials of 64 keys of a query, r of two, in both halves: over keys eight apart, then sixteen apart,
// then even and odd ones by themselves.
uint sum_of(uint e[1][4][4], uint r) {
    uint t = 0u;
    [[unroll]] for (uint j = 0; j < 4; j++) {
        uint b = pair_add(e[0][j][2 * r], e[0][j][2 * r + 1]);
        t = j == 0 ? b : pair_add(t, b);
    }
    uint sum = pair_add(of_four(t, 0u), of_four(t, 1u));
    return pair_across(pair_add(pair_add(sum, of_four(t, 2u)), of_four(t, 3u)));
}

// Of the codes of two times two channels, eight apart, the word that an invocation stores, once it has traded with its
// neighbour: the even one stores channels of the first eight, the odd one of the others.
uint word_of_codes(uint first, uint second) {
    uint codes = ((first | first >> 8) & 0xffffu) | (second & 0xffu) << 16 | (second & 0xff0000u) << 8;
    uint other = subgroupShuffleXor(codes, 1u);
    return (gl_SubgroupInvocationID & 1u) == 0u ? (codes & 0xffffu) | other << 16 : other >> 16 | (codes & 0xffff0000u);
}

#endif
