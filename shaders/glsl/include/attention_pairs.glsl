// Tokens and softmax of the attention kernels on halves, two a word (numerics sections 8 to 10).
#ifndef ATTENTION_PAIRS_GLSL
#define ATTENTION_PAIRS_GLSL

#include "attention_bindings.glsl"
#include "half_pairs.glsl"

// Row of qkv_codes of a query or key, and whether it is a token.
struct Row {
    uint row;
    bool inside;
};

#if WINDOW
ivec2 origin;

Row query_at(uint i) {
    Token t = window_token(origin, uvec2(i & 7u, i >> 3));
    return Row(t.row, t.inside);
}

Row key_at(uint block, uint p) {
    Token t = window_token(origin, untiled(p));
    return Row(t.row, t.inside);
}

// The exponentials of two scores (numerics section 8).
uint exponentials(uint scores) {
    uint a = pair_fma(scores, pair_of(0.044921875hf), pair_of(1.30078125hf));
    return (pair_clamp(a, 1.03125hf, 1.5693359375hf) & 0x03ff03ffu) << 5;
}
#else
uint first_query;

Row query_at(uint i) {
    uint t = first_query + i;
    return Row(t < tokens ? t : 0u, t < tokens);
}

Row key_at(uint block, uint p) {
    uint t = 64u * block + p;
    return Row(t < tokens ? t : 0u, t < tokens);
}

uint exponentials(uint scores) {
    uint a = pair_fma(scores, pair_of(0.08953857421875hf), pair_of(1.708984375hf));
    return (pair_clamp(a, 1.439453125hf, 1.9775390625hf) & 0x03ff03ffu) << 4;
}
#endif

// h(1 / x) of the low half, in both halves. The remainder of a 13-bit quotient is exact and corrects it; no reciprocal is
// so near the middle of two halves that truncating it matters.
uint reciprocal_pair(uint w) {
    float x = unpackHalf2x16(w).x;
    float y = 1.0 / x;
    precise float short_y = uintBitsToFloat(floatBitsToUint(y) & 0xfffff800u);
    precise float product = x * short_y;
    precise float rest = 1.0 - product;
    precise float correction = rest * short_y;
    precise float better = short_y + correction;
    bool usual = floatBitsToUint(y) != 0u && floatBitsToUint(y) < 0x7f800000u;
    float r = x == 0.0 ? uintBitsToFloat(0x7f800000u) : usual ? better : y;
    return pair_nearest(r);
}

#endif
