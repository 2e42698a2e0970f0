// Bindings and parameters of the FP8 multiply kernels (numerics section 3).
//
// One dispatch covers a block of rows; bindings of row tensors start at its first row. Weights are laid out as
// [group][k / 16][n][16 codes], so four words hold sixteen consecutive k of one column.
#ifndef GEMM_BINDINGS_GLSL
#define GEMM_BINDINGS_GLSL

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

#endif
