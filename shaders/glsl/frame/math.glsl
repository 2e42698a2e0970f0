// Elementary functions with the same bits on every device and on the CPU (network::frame::cpu::math, function for
// function). Assumed of the device: f32 addition and multiplication round to nearest even, and `precise` keeps the
// compiler from contracting or reassociating. Division and square root are corrected, because devices may be off by a few
// units in the last place.
//
// Two forms with the same bits. The portable one (NATIVE 0) assumes no more than that. The native one also takes fma() for
// fused and conversions between f32 and half for rounded to nearest even; a device is asked before it is used
// (network::frame::native). With NATIVE_MODEL the portable sums and conversions take their place, so that the steps of the native form
// can be checked on any device.
#ifndef FRAME_MATH_GLSL
#define FRAME_MATH_GLSL

#extension GL_EXT_control_flow_attributes : require

#ifndef NATIVE
#define NATIVE 0
#endif
#ifndef NATIVE_MODEL
#define NATIVE_MODEL 0
#endif
#if NATIVE && !NATIVE_MODEL
#include "half_native.glsl"
#else
#include "numerics.glsl"
#endif
#if NATIVE
// Loops over channels and axes: a vector indexed by a variable would live in memory.
#define EACH(i, count) [[unroll]] for (int i = 0; i < count; i++)
#else
#define EACH(i, count) REPEAT(i, count)
#endif
// Loops that stay loops: everything here is inlined, so that copies take time to compile and room in the instruction cache.
#define REPEAT(i, count) [[dont_unroll]] for (int i = 0; i < count; i++)

// x limited to 0..1; NaN and -0 become +0.
float saturate(float x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
vec3 saturate(vec3 v) { return vec3(saturate(v.x), saturate(v.y), saturate(v.z)); }

#if NATIVE && !NATIVE_MODEL
// a * b + c, rounded once.
float rn_fma(float a, float b, float c) {
    precise float r = fma(a, b, c);
    return r;
}
#else
// a * b + c, rounded once: the product and both sums with their errors, the error part rounded to odd.
float rn_fma(float a, float b, float c) {
    precise float a_scaled = a * 4097.0, b_scaled = b * 4097.0;
    precise float a_hi = a_scaled - (a_scaled - a), b_hi = b_scaled - (b_scaled - b);
    precise float a_lo = a - a_hi, b_lo = b - b_hi;
    precise float p = a * b;
    precise float p_error = ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;

    precise float t = c + p_error;
    precise float t_part = t - c;
    precise float t_error = (c - (t - t_part)) + (p_error - t_part);
    precise float v = p + t;
    precise float v_part = v - p;
    precise float v_error = (p - (v - v_part)) + (t - v_part);

    precise float s = t_error + v_error;
    precise float s_part = s - t_error;
    precise float s_error = (t_error - (s - s_part)) + (v_error - s_part);
    uint u = floatBitsToUint(s), d = floatBitsToUint(s_error);
    bool inexact = (d & 0x7fffffffu) != 0u && (u & 1u) == 0u;
    uint odd = ((u ^ d) & SIGN32) == 0u ? u + 1u : u - 1u;
    precise float result = v + uintBitsToFloat(inexact ? odd : u);
    return result;
}
#endif

#if NATIVE
const uint EXPONENT_ONE = 0x00800000u;

float significand(float v) { return uintBitsToFloat((floatBitsToUint(v) & 0x7fffffu) | 0x3f800000u); }

// What division by b needs: 1 / its significand, nearly rounded.
float rn_divisor(float b) {
    float d = significand(b);
    precise float y = 1.0 / d;
    y = rn_fma(y, rn_fma(-d, y, 1.0), y);
    return y;
}

// a / b with y = rn_divisor(b), correctly rounded: Newton's steps on the significands, each remainder exact.
float rn_div(float a, float b, float y) {
    uint ua = floatBitsToUint(a), ub = floatBitsToUint(b);
    uint ea = ua & INF32, eb = ub & INF32, e = ea - eb;
    // Zero, infinite or extreme operands: devices agree there.
    if (ea - EXPONENT_ONE >= 0x7f000000u || eb - EXPONENT_ONE >= 0x7f000000u || e + 0x3c000000u > 0x78000000u) {
        precise float quotient = a / b;
        return quotient;
    }
    float x = significand(a), d = significand(b);
    precise float q = x * y;
    q = rn_fma(rn_fma(-d, q, x), y, q);
    q = rn_fma(rn_fma(-d, q, x), y, q);
    return uintBitsToFloat((floatBitsToUint(q) + e) | ((ua ^ ub) & SIGN32));
}

float rn_div(float a, float b) { return rn_div(a, b, rn_divisor(b)); }

vec3 rn_div(vec3 a, float b) {
    float y = rn_divisor(b);
    return vec3(rn_div(a.x, b, y), rn_div(a.y, b, y), rn_div(a.z, b, y));
}
#else
// a / b, correctly rounded: the quotient's significand is corrected by its integer remainder.
float rn_div(float a, float b) {
    uint ua = floatBitsToUint(a), ub = floatBitsToUint(b);
    int ea = int(ua >> 23 & 255u), eb = int(ub >> 23 & 255u), e = ea - eb;
    uint ma = (ua & 0x7fffffu) | 0x800000u, mb = (ub & 0x7fffffu) | 0x800000u;
    uint s = ma < mb ? 24u : 23u;
    // A device's quotient is within 2.5 units; start below it and add what is missing.
    precise float estimate = (float(ma) / float(mb)) * (ma < mb ? 16777216.0 : 8388608.0);
    uint q = uint(estimate) - 4u;
    uint r = (ma << s) - q * mb;  // modulo 2^32; less than 8 mb
    for (uint k = 4u; k > 0u; k >>= 1) {
        bool more = r >= k * mb;
        q += more ? k : 0u;
        r -= more ? k * mb : 0u;
    }
    q += 2u * r > mb ? 1u : 0u;  // a quotient of two f32 is never a tie
    uint field = uint(150 + e - int(s));
    float corrected = uintBitsToFloat(((ua ^ ub) & SIGN32) | ((field << 23) + (q - 0x800000u)));
    // Zero, infinite or extreme operands: devices agree there.
    bool plain = ea == 0 || ea == 255 || eb == 0 || eb == 255 || abs(e) > 120;
    precise float quotient = a / b;
    return plain ? quotient : corrected;
}

vec3 rn_div(vec3 a, float b) {
    vec3 r = a;
    EACH(i, 3) r[i] = rn_div(a[i], b);
    return r;
}
#endif

#if NATIVE
// Square root of x >= 0, correctly rounded; the root of a zero or subnormal is a zero.
float rn_sqrt(float x) {
    uint u = floatBitsToUint(x);
    int k = (int(u >> 23) - 127) >> 1;
    float m = uintBitsToFloat(u - (uint(k) << 24));  // in 1..4
    precise float y = inversesqrt(m);
    precise float root = m * y;
    precise float h = 0.5 * y;
    precise float rest = rn_fma(-root, h, 0.5);
    root = rn_fma(root, rest, root);
    h = rn_fma(h, rest, h);
    root = rn_fma(rn_fma(-root, root, m), h, root);
    float scaled = uintBitsToFloat(floatBitsToUint(root) + (uint(k) << 23));
    return u < EXPONENT_ONE || u == SIGN32 ? uintBitsToFloat(u & SIGN32) : (u >= INF32 ? x : scaled);
}

#else
// Square root of x >= 0, correctly rounded; the root of a zero or subnormal is a zero.
float rn_sqrt(float x) {
    uint u = floatBitsToUint(x);
    int e = int(u >> 23 & 255u) - 150;
    bool odd = (e & 1) != 0;
    uint m = (u & 0x7fffffu) | 0x800000u;
    precise float square = float(m) * (odd ? 8388608.0 : 16777216.0);
    // A device's root is within a few units; start below it and add what is missing.
    uint s = uint(sqrt(square)) - 8u;
    uint r = (m << (odd ? 23 : 24)) - s * s;  // modulo 2^32
    for (uint k = 8u; k > 0u; k >>= 1) {
        uint step = (2u * s + k) * k;
        bool more = r >= step;
        s += more ? k : 0u;
        r -= more ? step : 0u;
    }
    s += r > s ? 1u : 0u;
    uint field = uint(150 + (odd ? e - 23 : e - 24) / 2);
    float corrected = uintBitsToFloat((field << 23) + (s - 0x800000u));
    return e == -150 ? uintBitsToFloat(u & SIGN32) : (e == 105 ? x : corrected);
}
#endif

vec3 rn_fma(vec3 a, float b, vec3 c) {
    vec3 r = c;
    EACH(i, 3) r[i] = rn_fma(a[i], b, c[i]);
    return r;
}

// below + amount * (above - below), the last step rounded once.
vec3 rn_mix(vec3 below, vec3 above, float amount) {
    precise vec3 difference = above - below;
    return rn_fma(difference, amount, below);
}

// Adding and subtracting this rounds a float of magnitude below 2^22 to an integer, ties to even.
const float ROUND = 12582912.0;
const uint ROUND_BITS = 0x4b400000u;

// x = (1 + f) * 2^k with 1 + f in sqrt(1/2)..sqrt(2); x is positive and normal.
void split_power(float x, out float f, out float k) {
    uint offset = floatBitsToUint(x) - 0x3f3504f3u;
    // An integer added to the bits of ROUND is added to its value, which saves a conversion.
    precise float exponent = uintBitsToFloat(ROUND_BITS + uint(int(offset) >> 23)) - ROUND;
    k = exponent;
    precise float m = uintBitsToFloat((offset & 0x7fffffu) + 0x3f3504f3u) - 1.0;
    f = m;
}

#define COEFFICIENT(bits) precise_sum = precise_sum * x + uintBitsToFloat(bits)

// Base 2 logarithm; minus infinity below the smallest normal number.
float exact_log2(float v) {
    float x, k;
    split_power(v, x, k);
    precise float precise_sum = uintBitsToFloat(0xbda50a7fu);
    COEFFICIENT(0x3e27d608u);
    COEFFICIENT(0xbe45d873u);
    COEFFICIENT(0x3e55cb16u);
    COEFFICIENT(0xbe758c20u);
    COEFFICIENT(0x3e939d49u);
    COEFFICIENT(0xbeb8ab64u);
    COEFFICIENT(0x3ef63902u);
    COEFFICIENT(0xbf38aa3bu);
    COEFFICIENT(0x3fb8aa3bu);
    precise float result = k + x * precise_sum;
    return v >= 1.17549435e-38 ? result : uintBitsToFloat(SIGN32 | INF32);
}

// Base 2 logarithm of v in 2^-126..1, within 0.6 units in the last place.
float exact_log2_precise(float v) {
    const float HI = uintBitsToFloat(0x4038aa3bu), LO = uintBitsToFloat(0x33257060u);  // 2 / ln 2
    float f, k;
    split_power(v, f, k);
    precise float d = 2.0 + f;
    precise float d_lo = f - (d - 2.0);
    float s = rn_div(f, d);
    precise float rest = rn_fma(-s, d, f) - s * d_lo;
    precise float s_lo = rest * (0.5 - f * (0.25 - f * 0.125));
    precise float x = s * s;
    precise float precise_sum = uintBitsToFloat(0x3edc9f57u);
    COEFFICIENT(0x3f13a650u);
    COEFFICIENT(0x3f763869u);
    precise float high = s * HI;
    precise float low = rn_fma(s, HI, -high) + (s_lo * HI + s * (LO + x * precise_sum));
    precise float sum = k + high;
    precise float result = sum + ((high - (sum - k)) + low);
    return result;
}

// 2^y; infinite from 128 up and for NaN, zero below -126.
float exact_exp2(float y) {
    precise float shifted = y + ROUND;
    precise float n = shifted - ROUND;
    precise float x = y - n;
    precise float precise_sum = uintBitsToFloat(0x392223d8u);
    COEFFICIENT(0x3aaf84b0u);
    COEFFICIENT(0x3c1d9514u);
    COEFFICIENT(0x3d6357bdu);
    COEFFICIENT(0x3e75fdf0u);
    COEFFICIENT(0x3f317218u);
    precise float p = 1.0 + x * precise_sum;
    // The low bits of the shifted sum are those of n.
    float power = uintBitsToFloat(floatBitsToUint(p) + (floatBitsToUint(shifted) << 23));
    return y < -126.0 ? 0.0 : (y < 128.0 ? power : uintBitsToFloat(INF32));
}

// x^y of a base that is not negative; y is positive.
float exact_pow(float x, float y) {
    precise float e = exact_log2(x) * y;
    return exact_exp2(e);
}

// Cube root with the sign of x.
float exact_cube_root(float x) {
    precise float e = exact_log2(abs(x)) * uintBitsToFloat(0x3eaaaaabu);
    float root = exact_exp2(e);
    return x < 0.0 ? -root : root;
}

// Cosine (x) and sine (y) of an angle in 0..2 pi.
vec2 exact_circle(float angle) {
    precise float shifted = angle * uintBitsToFloat(0x3f22f983u) + ROUND;
    precise float n = shifted - ROUND;
    precise float high = angle - n * uintBitsToFloat(0x3fc90fe0u);
    precise float middle = n * uintBitsToFloat(0xb52bbbd0u);
    precise float r = high - middle;
    precise float r_lo = ((high - r) - middle) - n * uintBitsToFloat(0xaa39ee5au);

    precise float x = r * r;
    float x_lo = rn_fma(r, r, -x);
    precise float precise_sum = uintBitsToFloat(0x363e0f1au);
    COEFFICIENT(0xb9502c9eu);
    COEFFICIENT(0x3c0888bau);
    COEFFICIENT(0xbe2aaaabu);
    precise float half_x = 0.5 * x;
    precise float sine = r + (r * (x * precise_sum) + r_lo * (1.0 - half_x));
    precise_sum = uintBitsToFloat(0x37ccf072u);
    COEFFICIENT(0xbab6060du);
    COEFFICIENT(0x3d2aaaa5u);
    precise float one = 1.0 - half_x;
    precise float tail = x * (x * precise_sum) - r * r_lo;
    precise float cosine = one + (((1.0 - one) - half_x) + (tail - 0.5 * x_lo));
    // The low bits of the shifted sum are those of n, the quarter: in odd ones the two change places.
    uint quarter = floatBitsToUint(shifted);
    uvec2 turned = floatBitsToUint((quarter & 1u) != 0u ? vec2(sine, cosine) : vec2(cosine, sine));
    return uintBitsToFloat(turned ^ (uvec2(quarter + 1u, quarter) << 30 & SIGN32));
}

#undef COEFFICIENT

#endif
