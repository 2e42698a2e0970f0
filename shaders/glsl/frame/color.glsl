// Proxy, centring and the sRGB curves (network::frame::cpu::proxy; frame sections 2 and 4).
#ifndef FRAME_COLOR_GLSL
#define FRAME_COLOR_GLSL

#include "math.glsl"

// Half of an f32 rounded toward zero.
uint half_truncated(float v) {
    uint u = floatBitsToUint(v), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
    uint small = uint(uintBitsToFloat(a) * 16777216.0);  // exact: units of 2^-24
    uint normal = min((a >> 13) - (112u << 10), 0x7c00u);
    uint r = sign | (a < 0x38800000u ? small : normal);
    return a > INF32 ? sign | 0x7e00u : r;
}

uvec3 half_truncated(vec3 v) { return uvec3(half_truncated(v.x), half_truncated(v.y), half_truncated(v.z)); }

vec3 half3_to_f32(uvec3 h) { return vec3(half_to_f32(h.x), half_to_f32(h.y), half_to_f32(h.z)); }
vec3 half3_round(vec3 v) { return vec3(half_round(v.x), half_round(v.y), half_round(v.z)); }

// The colour of an RGBA pixel of halves.
vec3 unpack_color(uvec2 words) { return vec3(half_unpack(words.x), half_to_f32(words.y & 0xffffu)); }
// An RGBA pixel of halves with alpha 1.
uvec2 pack_halves(uvec3 h) { return uvec2(h.x | h.y << 16, h.z | 0x3c000000u); }

// Infinite, NaN, negative and overlarge values become +0.
float clean(float v) { return floatBitsToUint(v) <= 0x477fe000u ? v : 0.0; }
vec3 clean(vec3 v) { return vec3(clean(v.x), clean(v.y), clean(v.z)); }

float srgb_encode(float v) {
    float c = saturate(v);
    precise float low = 12.92 * c;
    if (c <= 0.0031308) return low;
    precise float high = 1.055 * exact_pow(c, uintBitsToFloat(0x3ed55555u)) - 0.055;  // 1 / 2.4
    return high;
}

float srgb_decode(float v) {
    float c = saturate(v);
    bool low = c <= 0.04045;
    precise float lifted = c + 0.055;
    float scaled = rn_div(low ? c : lifted, low ? 12.92 : 1.055);
    return low ? scaled : exact_pow(scaled, 2.4);
}

vec3 srgb_encode(vec3 v) {
    vec3 r = v;
    EACH(i, 3) r[i] = srgb_encode(v[i]);
    return r;
}

vec3 srgb_decode(vec3 v) {
    vec3 r = v;
    EACH(i, 3) r[i] = srgb_decode(v[i]);
    return r;
}

// Compresses what is above 0.75 into 0.75..1.
float shoulder(float v) {
    if (!(v > 0.75)) return v;
    precise float e = (-5.77078 * (v - 0.75)) * uintBitsToFloat(0x3fb8aa3bu);
    precise float r = 0.75 + 0.25 * (1.0 - exact_exp2(e));
    return r;
}

// Display proxy of a scene colour, held halves.
vec3 proxy(vec3 scene, float paper) {
    vec3 r = rn_div(clean(scene), paper);
    EACH(i, 3) r[i] = half_round(srgb_encode(shoulder(r[i])));
    return r;
}

// A channel as the network takes it, a held half: H(H(H(p) - 0.5) * 0.125).
float centred(float p) { return half_mul(half_sub(half_round(p), 0.5), 0.125); }
vec3 centred(vec3 p) { return vec3(centred(p.x), centred(p.y), centred(p.z)); }

#endif
