// The noise lanes (network::frame::cpu::noise; frame section 3).
#ifndef FRAME_NOISE_GLSL
#define FRAME_NOISE_GLSL

#include "math.glsl"

uint scramble(uint v) { return ((v >> ((v >> 28) + 4u)) ^ v) * 0x108ef2d9u; }

// Uniform in (0, 1], a multiple of 2^-24.
float uniform01(uint v) {
    uint m = scramble(v);
    precise float u = float(((m >> 30) ^ (m >> 8)) + 1u) * 5.9604644775390625e-8;
    return u;
}

float noise_radius(float u) {
    precise float square = (exact_log2_precise(u) * uintBitsToFloat(0x3f317218u)) * -2.0;
    return rn_sqrt(square);
}

vec2 noise_circle(float u) {
    precise float angle = u * uintBitsToFloat(0x40c90fdbu);
    return exact_circle(angle);
}

// Lanes 0 to 2 of a field pixel, as held halves.
vec3 noise_lanes(uvec2 at, uint seed) {
    uint b = scramble((at.x * 0x8da6b343u) ^ (at.y * 0xd8163841u) ^ (seed * 0x9e3779b9u) ^ 0x243f6a88u);
    b = (b >> 22) ^ b;
    float u0 = uniform01(b * 0x2c9277b5u + 0xac564b05u), u1 = uniform01(b * 0xfa6dc5f9u + 0x4712a88eu);
    float u2 = uniform01(b * 0xcaa5b80du + 0x21dd796bu), u3 = uniform01(b * 0x83232c31u + 0x3463e0acu);
    float r0 = noise_radius(u0), r1 = noise_radius(u2);
    vec2 c0 = noise_circle(u1), c1 = noise_circle(u3);
    precise vec3 lanes = vec3(r0 * c0.x, r0 * c0.y, r1 * c1.x);
    return vec3(half_round(lanes.x), half_round(lanes.y), half_round(lanes.z));
}

#endif
