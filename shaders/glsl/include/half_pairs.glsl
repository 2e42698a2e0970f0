// Two halves a word, on the device's own 16-bit floats (numerics section 1), for kernels that run only where a check at
// start has shown that these are exact: rounding to nearest even, subnormals kept, fma rounded once.
//
// Nothing here computes in f32, so the kernels may round f32 toward zero. NaN comes in several patterns; `pair_canonical`
// makes it the one of the contract. Needs GL_EXT_shader_explicit_arithmetic_types_float16.
#ifndef HALF_PAIRS_GLSL
#define HALF_PAIRS_GLSL

#ifdef EXACT_MODEL
#include "numerics.glsl"
#endif

f16vec2 pair_floats(uint w) { return unpackFloat2x16(w); }
uint pair_bits(f16vec2 v) { return packFloat2x16(v); }
uint pair_of(float16_t v) { return packFloat2x16(f16vec2(v, v)); }

// All ones in each half word that is NaN.
uint pair_nan(uint w) { return ((((w & 0x7fff7fffu) + 0x03ff03ffu) >> 15) & 0x00010001u) * 0xffffu; }

uint pair_canonical(uint w) {
    uint nan = pair_nan(w);
    return (w & ~nan) | (nan & 0x7e007e00u);
}

uint pair_add(uint a, uint b) { return pair_bits(pair_floats(a) + pair_floats(b)); }
uint pair_sub(uint a, uint b) { return pair_bits(pair_floats(a) - pair_floats(b)); }
uint pair_mul(uint a, uint b) { return pair_bits(pair_floats(a) * pair_floats(b)); }
#ifdef EXACT_MODEL
// Spelled out, for devices whose halves are no better than that.
uint pair_fma(uint a, uint b, uint c) {
    vec2 x = half_unpack(a), y = half_unpack(b), z = half_unpack(c);
    return half_pack(half_fma(x.x, y.x, z.x), half_fma(x.y, y.y, z.y));
}
// The half nearest to an f32, in both halves.
#define pair_nearest(v) (half_from_f32(v) * 0x10001u)
#else
uint pair_fma(uint a, uint b, uint c) { return pair_bits(fma(pair_floats(a), pair_floats(b), pair_floats(c))); }
#define pair_nearest(v) packHalf2x16(vec2(v, v))
#endif
uint pair_clamp(uint a, float16_t low, float16_t high) {
    return pair_bits(clamp(pair_floats(a), f16vec2(low), f16vec2(high)));
}
// The sum of both halves, in both.
uint pair_across(uint w) { return pair_add(w, (w << 16) | (w >> 16)); }

// Values of two codes in the low bytes of the half words; NaN codes are +0. An E4M3 magnitude seven bits up is a half
// 2^8 too small, subnormals included.
uint pair_from_codes(uint c) {
    uint m = c & 0x007f007fu;
    uint nan = (((m + 0x00010001u) >> 7) & 0x00010001u) * 0xffffu;
    return (pair_mul(m << 7, pair_of(256.0hf)) | (c & 0x00800080u) << 8) & ~nan;
}

// Codes of a pair in the low bytes of the half words (numerics section 1.2). Clamped to at least 2^-6 the magnitude
// gives a normal code, clamped to at most 2^-6 and added to 2 it counts steps of 2^-9; together they are the code.
uint pair_codes(uint w) {
    f16vec2 a = pair_floats(w & 0x7fff7fffu);
    uint n = pair_bits(clamp(a, f16vec2(0.015625hf), f16vec2(448.0hf)));
    uint s = pair_bits(min(a, f16vec2(0.015625hf)) + f16vec2(2.0hf));
    n = ((n + 0x003f003fu + ((n >> 7) & 0x00010001u)) >> 7) & 0x01ff01ffu;
    uint code = (n + (s & 0x000f000fu) - 0x00480048u) | ((w >> 8) & 0x00800080u);
    return code & ~pair_nan(w);
}

// Four codes as one word.
uint pair_pack_codes(uint lo, uint hi) {
    uint a = pair_codes(lo), b = pair_codes(hi);
    return ((a | a >> 8) & 0xffffu) | ((b | b >> 8) << 16);
}

// SiLU (numerics section 5). At -inf the product is inf * 0, NaN as it should be.
uint pair_silu(uint x) {
    uint b = pair_clamp(x, -4.0hf, 4.0hf);
    uint i = pair_fma(pair_of(-0.055908203125hf), b & 0x7fff7fffu, pair_of(0.447265625hf));
    uint p = pair_fma(b, i, pair_of(0.89453125hf));
    return pair_mul(x, p);
}

#endif
