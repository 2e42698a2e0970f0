// Adds the partitions of a split multiply with half adds, in order (numerics section 3), and publishes them. One
// invocation handles four adjacent outputs of one row. Bindings and parameters are those of gemm_bindings.glsl, with the
// halves [partition][row][channel] as the input; n is the number of partitions. `model` spells out what the device's own
// halves may get wrong, for tests of the matrix form's tiles on devices without it.
#version 460
#pragma variant device
#pragma variant model EXACT_MODEL=1
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require

#include "gemm_pairs.glsl"
#include "linear.glsl"

void main() {
    uint i = linear_index(), quads = channels / 4u;
    if (i >= rows * quads) return;
    uint words = rows * channels / 2u;
    uvec2 total;
    for (uint p = 0; p < n; p++) {
        uint at = p * words + 2u * i;
        // Four words an element.
        uvec4 four = input_codes[at >> 2];
        uvec2 part = (i & 1u) == 0u ? four.xy : four.zw;
        total = p == 0u ? part : uvec2(pair_add(total.x, part.x), pair_add(total.y, part.y));
    }
    publish4(i / quads, 4u * (i % quads), total);
}
