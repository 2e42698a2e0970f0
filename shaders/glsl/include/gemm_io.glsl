// Bindings, parameters, seeds and publication shared by the FP8 multiply kernels (numerics section 3).
//
// One dispatch covers a block of rows; bindings of row tensors start at its first row. Weights are laid out as
// [group][k / 16][n][16 codes], so four words hold sixteen consecutive k of one column.
#ifndef GEMM_IO_GLSL
#define GEMM_IO_GLSL

#include "numerics.glsl"

layout(binding = 0, std430) readonly buffer Input { uvec4 input_codes[]; };
layout(binding = 1, std430) readonly buffer Weight { uvec4 weight_codes[]; };
layout(binding = 2, std430) readonly buffer Scale { uint scale_halves[]; };
layout(binding = 3, std430) readonly buffer Skip { uint skip_words[]; };
layout(binding = 4, std430) writeonly buffer OutHalf { uint out_halves[]; };
layout(binding = 5, std430) writeonly buffer OutCode { uint out_codes[]; };

layout(push_constant) uniform Push {
    uint rows;         // rows of this dispatch
    uint k16;          // K / 16 of one matrix
    uint n;            // columns of one matrix
    uint channels;     // columns of all matrices: channels of the output
    uint input16;      // channels / 16 of the input
    uint group16;      // input channels / 16 from one matrix to the next; 0 when they share their input
    uint partition16;  // partition length / 16
    uint flags;
};

const uint FLAG_SILU = 1u;
const uint FLAG_SEED_CODE = 2u;
const uint FLAG_SEED_HALF = 4u;
const uint FLAG_OUT_HALF = 8u;
const uint FLAG_OUT_CODE = 16u;

// Seeds of four adjacent outputs: the scaled skip, or +0.
vec4 seed4(uint row, uint column) {
    uint at = row * channels + column;
    vec4 skip;
    if ((flags & FLAG_SEED_CODE) != 0u) {
        uint w = skip_words[at >> 2];
        skip = vec4(e4m3_value(w, 0u), e4m3_value(w, 8u), e4m3_value(w, 16u), e4m3_value(w, 24u));
    } else if ((flags & FLAG_SEED_HALF) != 0u) {
        skip = vec4(half_unpack(skip_words[at >> 1]), half_unpack(skip_words[(at >> 1) + 1u]));
    } else {
        return vec4(0.0);
    }
    vec4 scale = vec4(half_unpack(scale_halves[column >> 1]), half_unpack(scale_halves[(column >> 1) + 1u]));
    return vec4(half_mul(skip.x, scale.x), half_mul(skip.y, scale.y), half_mul(skip.z, scale.z), half_mul(skip.w, scale.w));
}

// Publishes four adjacent outputs as the flags say.
void publish4(uint row, uint column, vec4 v) {
    uint at = row * channels + column;
    if ((flags & FLAG_OUT_HALF) != 0u) {
        out_halves[at >> 1] = half_pack(v.x, v.y);
        out_halves[(at >> 1) + 1u] = half_pack(v.z, v.w);
    }
    if ((flags & FLAG_OUT_CODE) != 0u) {
        if ((flags & FLAG_SILU) != 0u) v = vec4(silu(v.x), silu(v.y), silu(v.z), silu(v.w));
        out_codes[at >> 2] = e4m3_pack(v.x, v.y, v.z, v.w);
    }
}

#endif
