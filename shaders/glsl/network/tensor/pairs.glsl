// Two halves a word, for the tensor route: the device's own 16-bit floats, or with MATRIX_MODEL the exact emulation in f32, for
// devices that have no half arithmetic or none that rounds as it should.
#ifndef TENSOR_PAIRS_GLSL
#define TENSOR_PAIRS_GLSL

#if MATRIX_MODEL
#include "numerics.glsl"

#define PAIR_OF_TWO(name, function)                                                      \
    uint name(uint a, uint b) {                                                          \
        vec2 x = half_unpack(a), y = half_unpack(b);                                     \
        return half_pack(function(x.x, y.x), function(x.y, y.y));                        \
    }
PAIR_OF_TWO(pair_add, half_add)
PAIR_OF_TWO(pair_sub, half_sub)
PAIR_OF_TWO(pair_mul, half_mul)

uint pair_fma(uint a, uint b, uint c) {
    vec2 x = half_unpack(a), y = half_unpack(b), z = half_unpack(c);
    return half_pack(half_fma(x.x, y.x, z.x), half_fma(x.y, y.y, z.y));
}

uint pair_of(float v) { return half_bits(v) * 0x10001u; }
uint pair_across(uint w) { return pair_add(w, (w << 16) | (w >> 16)); }

uint pair_clamp(uint a, float low, float high) {
    vec2 x = half_unpack(a);
    return half_pack(clamp(x.x, low, high), clamp(x.y, low, high));
}

uint pair_abs(uint a) { return a & 0x7fff7fffu; }

uint pair_min(uint a, float high) {
    vec2 x = half_unpack(a);
    return half_pack(min(x.x, high), min(x.y, high));
}

uint pair_max(uint a, float low) {
    vec2 x = half_unpack(a);
    return half_pack(max(x.x, low), max(x.y, low));
}

uint pair_from_codes(uint c) { return half_pack(e4m3_value(c, 0u), e4m3_value(c, 16u)); }

uint pair_codes(uint w) {
    vec2 x = half_unpack(w);
    return e4m3_encode(x.x) | e4m3_encode(x.y) << 16;
}

uint pair_silu(uint w) {
    vec2 x = half_unpack(w);
    return half_pack(silu(x.x), silu(x.y));
}

#if FLOAT8
// The values of the nearest codes.
uint pair_quantise(uint w) { return pair_from_codes(pair_codes(w)); }
#endif

#define HALF(v) v

#else
#include "half_pairs.glsl"
#if FLOAT8
#include "numerics.glsl"

// The values of the nearest codes. 2^(e + 7), e at least that of the smallest normal code, has the unit of a code's last place:
// adding and taking it off rounds to even. `opaque_zero` is a zero of which the compiler does not know, for some take
// (a + b) - b for a.
uint pair_quantise(uint w) {
    f16vec2 a = min(pair_floats(w & 0x7fff7fffu), f16vec2(448.0hf));
    uint big = pair_bits(max(pair_floats(pair_bits(a) & 0x7c007c00u), f16vec2(0.015625hf))) + 0x1c001c00u;
    uint sum = pair_add(pair_bits(a), big);
    return pair_sub(sum, big ^ opaque_zero) | (w & 0x80008000u);
}
#endif

uint pair_abs(uint a) { return pair_bits(abs(pair_floats(a))); }
uint pair_min(uint a, float16_t high) { return pair_bits(min(pair_floats(a), f16vec2(high))); }
uint pair_max(uint a, float16_t low) { return pair_bits(max(pair_floats(a), f16vec2(low))); }

#define HALF(v) float16_t(v)
#endif

// Through f32: as the contract has it for the model and for codes, as the device likes for halves, whose sums are not the
// contract's anyway.
#define EXACT_F32 (MATRIX_MODEL || FLOAT8)
// The smallest half that is a square's sum: zeros with the factor of zero would be no numbers, with this one's they stay zeros.
#if FLOAT8
#define NO_LESS(v) v
#else
#define NO_LESS(v) max(v, 5.9604644775390625e-8)
#endif

uint pair_reciprocal(uint w) {
#if EXACT_F32
    return half_from_f32(reciprocal(half_to_f32(w & 0xffffu))) * 0x10001u;
#else
    float y = 1.0 / unpackHalf2x16(w).x;
    return packHalf2x16(vec2(y, y));
#endif
}

uint pair_reciprocal_sqrt(uint w) {
#if EXACT_F32
    return half_from_f32(reciprocal_sqrt(NO_LESS(half_to_f32(w & 0xffffu)))) * 0x10001u;
#else
    float y = inversesqrt(NO_LESS(unpackHalf2x16(w).x));
    return packHalf2x16(vec2(y, y));
#endif
}

// All ones in each half word that is NaN.
uint pair_nans(uint w) { return ((((w & 0x7fff7fffu) + 0x03ff03ffu) >> 15) & 0x00010001u) * 0xffffu; }

#if FLOAT8
uint pair_silu_quantise(uint w) { return pair_quantise(pair_silu(w)); }
#else
// Four significant bits, ties to even: 127 w has its last place where w's fourth bit is, 128 w has no rounding, and their difference
// is the rounded w. For magnitudes up to 507. A factor of which the compiler does not know all bits keeps it from taking the
// difference for w.
uint pair_round(uint w) {
    return pair_fma(w, pair_of(HALF(128.0)) ^ opaque_zero, pair_mul(w, pair_of(HALF(-127.0))));
}

// An operand between two products: as a code saturates, and rounded also where codes have a coarser grid, below 2^-6.
uint pair_quantise(uint w) { return pair_round(pair_clamp(w, HALF(-448.0), HALF(448.0))); }

// The value of the nearest code of a magnitude in 0..1, of which small ones are many in a softmax: the unit of a code's last place is
// that of 2^7 times its power of two, at least that of the smallest normal code, so adding that and taking it off rounds to even.
uint pair_weight(uint w) {
    uint power = pair_max(w & 0x7c007c00u, HALF(0.015625));
    return pair_fma(power, pair_of(HALF(-128.0)) ^ opaque_zero, pair_fma(power, pair_of(HALF(128.0)), w));
}

// SiLU as an operand, with the contract's roundings: its limits become one of |x| / 4 to 1, which may be part of a multiplication, and
// scaling by four rounds nothing. The least value is -0.53.
uint pair_silu_quantise(uint w) {
    uint u = pair_clamp(pair_mul(pair_abs(w), pair_of(HALF(0.25))), HALF(0.0), HALF(1.0));
    uint i = pair_fma(u, pair_of(HALF(-0.89453125)), pair_of(HALF(1.7890625)));
    uint p = pair_fma(u | (w & 0x80008000u), i, pair_of(HALF(0.89453125)));
    return pair_round(pair_min(pair_mul(w, p), HALF(448.0)));
}
#endif

#if FLOAT8
// Four codes as one word.
uint pack_codes(uint lo, uint hi) {
    uint a = pair_codes(lo), b = pair_codes(hi);
    return ((a | a >> 8) & 0xffffu) | ((b | b >> 8) << 16);
}

// Halves of four codes: bytes 0 and 1, bytes 2 and 3.
uvec2 unpack_codes(uint w) {
    return uvec2(pair_from_codes((w & 0xffu) | (w & 0xff00u) << 8),
                 pair_from_codes((w >> 16 & 0xffu) | (w >> 8 & 0xff0000u)));
}
#else
// Codes of a pair in the low bytes of the half words. A half 2^8 too small is an E4M3 magnitude seven bits up, subnormals included,
// before it is rounded.
uint pair_publish(uint w) {
    uint n = pair_mul(pair_min(pair_abs(w), HALF(448.0)), pair_of(HALF(0.00390625)));
    n = (n + 0x003f003fu + ((n >> 7) & 0x00010001u)) >> 7;
    return (n & 0x007f007fu) | ((w >> 8) & 0x00800080u);
}

// Values of two codes in the high bytes of the half words; nothing publishes a NaN code.
uint pair_read(uint c) { return pair_mul((c >> 1) & 0x3f803f80u, pair_of(HALF(256.0))) | (c & 0x80008000u); }

// Four codes as one word.
uint pack_codes(uint lo, uint hi) {
    uint a = pair_publish(lo), b = pair_publish(hi);
    return ((a | a >> 8) & 0xffffu) | ((b | b >> 8) << 16);
}

// Halves of four codes: bytes 0 and 1, bytes 2 and 3.
uvec2 unpack_codes(uint w) {
    return uvec2(pair_read((w << 8 & 0xff00u) | (w << 16 & 0xff000000u)),
                 pair_read((w >> 8 & 0xff00u) | (w & 0xff000000u)));
}
#endif

// Sixteen codes as sixteen halves.
void unpack16(uvec4 codes, out uvec4 low, out uvec4 high) {
    low = uvec4(unpack_codes(codes.x), unpack_codes(codes.y));
    high = uvec4(unpack_codes(codes.z), unpack_codes(codes.w));
}

uvec4 pack16(uvec4 low, uvec4 high) {
    return uvec4(pack_codes(low.x, low.y), pack_codes(low.z, low.w), pack_codes(high.x, high.y), pack_codes(high.z, high.w));
}

// The exponentials of two scores (numerics section 8): window and ViT form. The lower ten bits of halves in 1..2, some places up; as a
// shift and a sum they may be one instruction.
#if FLOAT8
#define EXPONENTIAL(a, places) (((a) & 0x03ff03ffu) << places)
#else
#define EXPONENTIAL(a, places) (((a) << places) - (0x3c003c00u << places))
#endif
uint pair_exp_window(uint scores) {
    uint a = pair_fma(scores, pair_of(HALF(0.044921875)), pair_of(HALF(1.30078125)));
    return EXPONENTIAL(pair_clamp(a, HALF(1.03125), HALF(1.5693359375)), 5);
}

uint pair_exp_vit(uint scores) {
    uint a = pair_fma(scores, pair_of(HALF(0.08953857421875)), pair_of(HALF(1.708984375)));
    return EXPONENTIAL(pair_clamp(a, HALF(1.439453125), HALF(1.9775390625)), 4);
}

// The nearest half of an f32, in both halves.
uint pair_rounded(float v) {
#if EXACT_F32
    return half_from_f32(v) * 0x10001u;
#else
    return packHalf2x16(vec2(v, v));
#endif
}

// The factor of a head vector, in both halves: h(1 / sqrt(sum of squares)) (numerics section 6). Word i holds channels
// 2i and 2i + 1.
uint cosine_factor(uint v[16]) {
    uint r[8];
    for (uint c = 0; c < 8; c++) r[c] = pair_fma(v[c], v[c], pair_mul(v[c + 8], v[c + 8]));
    for (uint c = 0; c < 4; c++) r[c] = pair_add(r[c], r[c + 4]);
    for (uint c = 0; c < 2; c++) r[c] = pair_add(r[c], r[c + 2]);
    return pair_reciprocal_sqrt(pair_across(pair_add(r[0], r[1])));
}

// The ViT form, in which the low square and the sum stay f32 until the sum is rounded.
uint cosine_factor_vit(uint v[16]) {
    uint r[8];
    for (uint c = 0; c < 8; c++) {
        uint squares = pair_mul(v[c + 8], v[c + 8]);
#if EXACT_F32
        vec2 low = half_unpack(v[c]), high = half_unpack(squares);
        r[c] = half_pack(half_round(low.x * low.x + high.x), half_round(low.y * low.y + high.y));
#else
        vec2 low = unpackHalf2x16(v[c]), high = unpackHalf2x16(squares);
        r[c] = packHalf2x16(low * low + high);
#endif
    }
    for (uint c = 0; c < 4; c++) r[c] = pair_add(r[c], r[c + 4]);
    for (uint c = 0; c < 2; c++) r[c] = pair_add(r[c], r[c + 2]);
    return pair_reciprocal_sqrt(pair_across(pair_add(r[0], r[1])));
}

#endif
