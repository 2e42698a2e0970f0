// Head: f16 multiply [32 x 4] of block 70's raw half (numerics section 4). One invocation computes one row; with `decoded`
// weights are decoded once a workgroup, for GPUs.
#version 460
#pragma variant decoded DECODED=1
#pragma variant plain DECODED=0

#include "linear.glsl"

layout(binding = 0, std430) readonly buffer Input { uvec4 input_halves[]; };
layout(binding = 1, std430) readonly buffer Weight { uvec2 weight_halves[]; };  // [k][4 columns]
layout(binding = 2, std430) writeonly buffer Output { uvec2 out_halves[]; };

layout(push_constant) uniform Push { uint rows; };

#if DECODED
const uint ELEMENTS = 32;
#include "f24_weights.glsl"

void main() {
    decode_weights();
    uint row = linear_index();
    if (row >= rows) return;
    vec4 acc = vec4(0.0);
    for (uint g = 0; g < 4; g++) {
        float x[8];
        int exponent[8];
        decode_row(input_halves[row * 4u + g], x, exponent);
        acc = add_four(x, exponent, g * 8u, 1u, acc);
    }
    out_halves[row] = uvec2(half_pack(acc.x, acc.y), half_pack(acc.z, acc.w));
}
#else
#include "f24.glsl"

void main() {
    uint row = linear_index();
    if (row >= rows) return;
    vec4 acc = vec4(0.0);
    for (uint g = 0; g < 4; g++) {
        uvec4 words = input_halves[row * 4u + g];
        float x[8];
        for (int k = 0; k < 8; k++) x[k] = half_to_f32((words[k >> 1] >> (16 * (k & 1))) & 0xffffu);
        float w[4][8];
        for (int k = 0; k < 8; k++) {
            uvec2 four = weight_halves[g * 8u + k];
            w[0][k] = half_to_f32(four.x & 0xffffu), w[1][k] = half_to_f32(four.x >> 16);
            w[2][k] = half_to_f32(four.y & 0xffffu), w[3][k] = half_to_f32(four.y >> 16);
        }
        for (int c = 0; c < 4; c++) acc[c] = group24(x, w[c], acc[c]);
    }
    out_halves[row] = uvec2(half_pack(acc.x, acc.y), half_pack(acc.z, acc.w));
}
#endif
