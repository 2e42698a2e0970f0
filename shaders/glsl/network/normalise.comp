// Cosine normalisation of raw QKV rows to E4M3 (numerics section 6). One invocation handles one head of one row:
// 96 halves in (Q, K, V of 32), 96 codes out.
#version 460
#pragma variant window VIT=0
#pragma variant vit VIT=1

#include "cosine.glsl"
#include "linear.glsl"

layout(binding = 0, std430) readonly buffer Input { uvec4 input_halves[]; };
layout(binding = 1, std430) readonly buffer Scale { uint scale_halves[]; };  // one half a word, one per head
layout(binding = 2, std430) writeonly buffer Output { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint rows;
    uint heads;
};

void load(uint at, out float v[32]) {
    for (int i = 0; i < 4; i++) {
        uvec4 w = input_halves[at + i];
        for (int j = 0; j < 4; j++) {
            v[8 * i + 2 * j] = half_to_f32(w[j] & 0xffffu);
            v[8 * i + 2 * j + 1] = half_to_f32(w[j] >> 16);
        }
    }
}

void store(uint at, float v[32]) {
    for (int i = 0; i < 2; i++) {
        uvec4 w;
        for (int j = 0; j < 4; j++) {
            int c = 16 * i + 4 * j;
            w[j] = e4m3_pack(v[c], v[c + 1], v[c + 2], v[c + 3]);
        }
        out_codes[at + i] = w;
    }
}

float norm(float v[32]) {
#if VIT
    return reciprocal_sqrt(square_sum_vit(v));
#else
    return reciprocal_sqrt(square_sum_window(v));
#endif
}

void main() {
    uint i = linear_index();
    if (i >= rows * heads) return;
    float scale = half_to_f32(scale_halves[i % heads]);
    float v[32];

    load(i * 12u, v);
    float n = norm(v);
    for (int c = 0; c < 32; c++) {
        float q = half_mul(v[c], n);
#if VIT
        q = half_mul(q, 5.65625);
#endif
        v[c] = half_mul(q, scale);
    }
    store(i * 6u, v);

    load(i * 12u + 4u, v);
    n = norm(v);
    for (int c = 0; c < 32; c++) v[c] = half_mul(v[c], n);
    store(i * 6u + 2u, v);

    load(i * 12u + 8u, v);
    store(i * 6u + 4u, v);
}
