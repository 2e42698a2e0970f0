// Cosine normalisation of one head vector of a window block (numerics section 6), on halves, two a word: word i holds
// channels 2i and 2i + 1.
#ifndef COSINE_PAIRS_GLSL
#define COSINE_PAIRS_GLSL

#include "half_pairs.glsl"

// The factor of a vector whose sum of squares is the low half of `sum`: h(1 / sqrt(sum)).
float16_t cosine_factor(uint sum) {
    float x = unpackHalf2x16(sum).x;
    float y = x == 0.0 ? uintBitsToFloat(0x7f800000u) : inversesqrt(x);
#ifdef EXACT_MODEL
    return pair_floats(pair_nearest(y)).x;
#else
    return unpackFloat2x16(packHalf2x16(vec2(y, 0.0))).x;
#endif
}

// The factor of a vector.
float16_t cosine_norm(uint v[16]) {
    uint r[8];
    [[unroll]] for (uint c = 0; c < 8; c++) r[c] = pair_fma(v[c], v[c], pair_mul(v[c + 8], v[c + 8]));
    [[unroll]] for (uint c = 0; c < 4; c++) r[c] = pair_add(r[c], r[c + 4]);
    [[unroll]] for (uint c = 0; c < 2; c++) r[c] = pair_add(r[c], r[c + 2]);
    // Channels 0 and 1, 2 and 3 of the last four: (0 + 2) + (1 + 3).
    return cosine_factor(pair_across(pair_add(r[0], r[1])));
}

#endif
