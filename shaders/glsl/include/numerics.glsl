// The scalar arithmetic contract on the GPU: what network::numerics is on the CPU, function for function.
//
// A half is held in one of two ways: as its 16 bits (`uint`, the low half word), or as a `float` that is exactly
// representable as a half ("held half"). Every rounding to half is spelled on bit patterns. A bare conversion to a
// 16-bit float and back is never used: compilers remove it.
//
// Assumed of the device: f32 addition and multiplication round to nearest even (Vulkan requires correct rounding).
// Not assumed: f32 subnormals, half arithmetic, NaN or signed zero preservation beyond IEEE add and multiply.
#ifndef NUMERICS_GLSL
#define NUMERICS_GLSL

const uint SIGN32 = 0x80000000u;
const uint INF32 = 0x7f800000u;
const uint NAN32 = 0x7fc00000u;

// ---- half (numerics section 1.1) -------------------------------------------------------------------------------

// Exact f32 value of a half given by its bits (upper bits of the argument must be zero).
float half_to_f32(uint h) {
    uint sign = (h & 0x8000u) << 16, m = h & 0x7fffu;
    // Subnormals through an integer conversion, so that no f32 subnormal ever appears.
    uint small = floatBitsToUint(float(m) * 5.9604644775390625e-8);
    uint normal = (m << 13) + (m >= 0x7c00u ? 224u << 23 : 112u << 23);
    return uintBitsToFloat(sign | (m < 0x400u ? small : normal));
}

// Held half nearest to an f32, ties to even. NaN becomes the positive quiet NaN.
float half_round(float v) {
    uint u = floatBitsToUint(v), sign = u & SIGN32, a = u ^ sign;
    uint n = (a + 0xfffu + ((a >> 13) & 1u)) & 0xffffe000u;
    n = n >= 0x47800000u ? INF32 : n;
    // Below 2^-14 the grid is 2^-24, the unit in the last place of [0.5, 1).
    uint units = floatBitsToUint(uintBitsToFloat(a) + 0.5) - 0x3f000000u;
    uint small = floatBitsToUint(float(units) * 5.9604644775390625e-8);
    uint r = sign | (a < 0x38800000u ? small : n);
    return uintBitsToFloat(a > INF32 ? NAN32 : r);
}

// Bits of a held half.
uint half_bits(float v) {
    uint u = floatBitsToUint(v), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    uint small = floatBitsToUint(uintBitsToFloat(a) + 0.5) - 0x3f000000u;
    uint normal = min((a >> 13) - (112u << 10), 0x7c00u);
    uint r = sign | (a < 0x38800000u ? small : normal);
    return a > INF32 ? 0x7e00u : r;
}

// Bits of the half nearest to an f32.
uint half_from_f32(float v) { return half_bits(half_round(v)); }

// Two held halves as one word, `lo` in the low half word.
uint half_pack(float lo, float hi) { return half_bits(lo) | half_bits(hi) << 16; }

// The two halves of a word as held halves.
vec2 half_unpack(uint w) { return vec2(half_to_f32(w & 0xffffu), half_to_f32(w >> 16)); }

// Half addition and multiplication on held halves. Sums need no more than 24 bits to round correctly twice, products
// are exact in f32.
float half_add(float a, float b) { return half_round(a + b); }
float half_sub(float a, float b) { return half_round(a - b); }
float half_mul(float a, float b) { return half_round(a * b); }

// Fused multiply-add of held halves, rounded once: the f32 sum is first rounded to odd with the error of a two-sum.
float half_fma(float a, float b, float c) {
    precise float p = a * b;
    precise float s = p + c;
    precise float c_part = s - p;
    precise float p_part = s - c_part;
    precise float p_error = p - p_part;
    precise float c_error = c - c_part;
    precise float error = p_error + c_error;
    uint u = floatBitsToUint(s), e = floatBitsToUint(error);
    bool finite = (u & INF32) != INF32;
    bool inexact = (e & 0x7fffffffu) != 0u && (u & 1u) == 0u && finite;
    uint odd = ((u ^ e) & SIGN32) == 0u ? u + 1u : u - 1u;
    return half_round(inexact ? uintBitsToFloat(odd) : s);
}

// `m * 2^exponent` rounded once to a held half, for |m| < 2^30; zero and a negative underflow are +0
// (numerics section 4).
float half_from_fixed(int m, int exponent) {
    uint a = uint(abs(m));
    // More bits than f32 holds: drop seven into a sticky bit, which cannot change the rounding to eleven bits.
    bool big = a >= 1u << 23;
    a = big ? (a >> 7) | uint((a & 127u) != 0u) : a;
    int e = exponent + (big ? 7 : 0);
    float r = half_round(float(a) * uintBitsToFloat(uint(e + 127) << 23));
    return m < 0 && r != 0.0 ? -r : r;
}

// ---- E4M3 (numerics section 1.2) -------------------------------------------------------------------------------

// Code nearest to a held half, ties to even; saturates at 448, NaN becomes +0.
uint e4m3_encode(float h) {
    uint u = floatBitsToUint(h), sign = (u >> 24) & 0x80u, a = u & 0x7fffffffu;
    uint normal = min((a + 0x7ffffu + ((a >> 20) & 1u)) >> 20, (120u << 3) + 0x7eu) - (120u << 3);
    // Below 2^-6 the grid is 2^-9, the unit in the last place of [2^14, 2^15).
    uint small = floatBitsToUint(uintBitsToFloat(a) + 16384.0) & 15u;
    uint r = sign | (a < 0x3c800000u ? small : normal);
    return a > INF32 ? 0u : r;
}

// Exact value of the code in bits `shift .. shift + 7` of a word; NaN codes of either sign read as +0.
float e4m3_value(uint word, uint shift) {
    uint sign = (word << (24u - shift)) & SIGN32, m = (word >> shift) & 0x7fu;
    // Subnormal codes are read with the hidden bit of exponent -6, which is then taken off.
    bool sub = m < 8u;
    float f = uintBitsToFloat((m << 20) + (sub ? 121u << 23 : 120u << 23)) - (sub ? 0.015625 : 0.0);
    return uintBitsToFloat(m == 0x7fu ? 0u : sign | floatBitsToUint(f));
}

// Four held halves as four codes in one word.
uint e4m3_pack(float a, float b, float c, float d) {
    return e4m3_encode(a) | e4m3_encode(b) << 8 | e4m3_encode(c) << 16 | e4m3_encode(d) << 24;
}

// ---- SiLU (numerics section 5) ---------------------------------------------------------------------------------

// The f32 evaluation rounds like the fused one for every finite half.
float silu(float x) {
    float b = clamp(x, -4.0, 4.0);
    float i = half_round(-0.055908203125 * abs(b) + 0.447265625);
    float p = half_round(b * i + 0.89453125);
    float r = half_mul(x, p);
    // At -inf the product is inf * 0; spelled out because the clamp of a NaN is not defined.
    return floatBitsToUint(x) == (SIGN32 | INF32) ? uintBitsToFloat(NAN32) : r;
}

// ---- exponentials (numerics section 8) -------------------------------------------------------------------------

// Window attention. The clamp commutes with the rounding: its bounds are halves.
float exp_window(float score) {
    float a = clamp(score * 0.044921875 + 1.30078125, 1.03125, 1.5693359375);
    uint u = floatBitsToUint(a);
    u = (u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    return half_to_f32(((u << 5) ^ 0x8000u) & 0xffffu);
}

// ViT attention. After the clamp the f32 evaluation of the half constants rounds like the fused one.
float exp_vit(float score) {
    float a = clamp(score * 0.08953857421875 + 1.708984375, 1.439453125, 1.9775390625);
    uint u = floatBitsToUint(a);
    u = (u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    return half_to_f32(((u << 4) + 0x4000u) & 0xffffu);
}

// ---- roots (numerics section 7) --------------------------------------------------------------------------------

// h(1 / x) of a held half x >= 0. GLSL promises 2.5 units in the last place for the division, one too many; the
// remainder of a 13-bit quotient is exact and corrects it.
float reciprocal(float x) {
    precise float y = 1.0 / x;
    uint u = floatBitsToUint(y);
    precise float short_y = uintBitsToFloat(u & 0xfffff800u);
    precise float product = x * short_y;
    precise float rest = 1.0 - product;
    precise float correction = rest * short_y;
    precise float better = short_y + correction;
    bool usual = u != 0u && u < INF32;
    return half_round(x == 0.0 ? uintBitsToFloat(INF32) : usual ? better : y);
}

// h(1 / sqrt(x)) of a held half x >= 0.
float reciprocal_sqrt(float x) {
    precise float y = inversesqrt(x);
    return half_round(x == 0.0 ? uintBitsToFloat(INF32) : y);
}

// ---- elementwise (numerics section 11) -------------------------------------------------------------------------

float pool(float a, float b, float c, float d) { return half_mul(half_add(half_add(a, b), half_add(c, d)), 0.25); }

float merge(float projection, float skip, float scale) { return half_fma(skip, scale, projection); }

float blend(float up, float input_scale, float adapter, float adapter_scale) {
    return half_fma(adapter, adapter_scale, half_mul(up, input_scale));
}

#endif
