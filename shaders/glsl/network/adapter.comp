// Input adapter: f16 multiply [16 x 32] of the features, published as half and as E4M3 (numerics sections 4 and 12).
// `row` computes one row an invocation, with weights that are decoded once a workgroup, for GPUs; `quad` four outputs of one
// row, for devices on which shared memory costs more than decoding.
#version 460
#pragma variant row DECODED=1
#pragma variant quad DECODED=0

#include "linear.glsl"

layout(binding = 0, std430) readonly buffer Features { uvec4 features[]; };
layout(binding = 1, std430) readonly buffer Weight { uvec2 weight_halves[]; };  // [k][32 columns], four halves an element
layout(binding = 2, std430) writeonly buffer OutHalf { uvec2 out_halves[]; };
layout(binding = 3, std430) writeonly buffer OutCode { uint out_codes[]; };

layout(push_constant) uniform Push { uint rows; };

#if DECODED
const uint ELEMENTS = 128;
#include "f24_weights.glsl"

void main() {
    decode_weights();
    uint row = linear_index();
    if (row >= rows) return;
    float x[2][8];
    int exponent[2][8];
    for (uint g = 0; g < 2; g++) decode_row(features[row * 2u + g], x[g], exponent[g]);
    for (uint quad = 0; quad < 8; quad++) {
        vec4 acc = vec4(0.0);
        for (uint g = 0; g < 2; g++) acc = add_four(x[g], exponent[g], g * 64u + quad, 8u, acc);
        out_halves[row * 8u + quad] = uvec2(half_pack(acc.x, acc.y), half_pack(acc.z, acc.w));
        out_codes[row * 8u + quad] = e4m3_pack(acc.x, acc.y, acc.z, acc.w);
    }
}
#else
#include "f24.glsl"

void main() {
    uint i = linear_index();
    if (i >= rows * 8u) return;
    uint row = i >> 3, quad = i & 7u;
    vec4 acc = vec4(0.0);
    for (uint g = 0; g < 2; g++) {
        uvec4 words = features[row * 2u + g];
        float x[8];
        for (int k = 0; k < 8; k++) x[k] = half_to_f32((words[k >> 1] >> (16 * (k & 1))) & 0xffffu);
        float w[4][8];
        for (int k = 0; k < 8; k++) {
            uvec2 four = weight_halves[(g * 8u + k) * 8u + quad];
            w[0][k] = half_to_f32(four.x & 0xffffu), w[1][k] = half_to_f32(four.x >> 16);
            w[2][k] = half_to_f32(four.y & 0xffffu), w[3][k] = half_to_f32(four.y >> 16);
        }
        for (int c = 0; c < 4; c++) acc[c] = group24(x, w[c], acc[c]);
    }
    out_halves[i] = uvec2(half_pack(acc.x, acc.y), half_pack(acc.z, acc.w));
    out_codes[i] = e4m3_pack(acc.x, acc.y, acc.z, acc.w);
}
#endif
