// A half matrix of ELEMENTS x 4 values, held halves and their exponents, that a workgroup decodes once into shared memory.
// Needs a binding `weight_halves` of four halves an element.
#ifndef F24_WEIGHTS_GLSL
#define F24_WEIGHTS_GLSL

#include "f24.glsl"

shared vec4 weight_value[ELEMENTS];
shared ivec4 weight_exponent[ELEMENTS];

// Every invocation of a workgroup of 64 takes part, whether it has an item or not.
void decode_weights() {
    for (uint i = gl_LocalInvocationIndex; i < ELEMENTS; i += 64u) {
        uvec2 four = weight_halves[i];
        vec4 value = vec4(half_unpack(four.x), half_unpack(four.y));
        weight_value[i] = value;
        for (int c = 0; c < 4; c++) weight_exponent[i][c] = f24_exponent(value[c]);
    }
    barrier();
}

// Eight halves of four words, and their exponents.
void decode_row(uvec4 words, out float x[8], out int exponent[8]) {
    for (int k = 0; k < 8; k++) {
        x[k] = half_to_f32((words[k >> 1] >> (16 * (k & 1))) & 0xffffu);
        exponent[k] = f24_exponent(x[k]);
    }
}

// Adds eight products of four columns; the elements of one column of four lie `stride` apart.
vec4 add_four(float x[8], int exponent[8], uint first, uint stride, vec4 acc) {
    for (int c = 0; c < 4; c++) {
        float w[8];
        int power[8];
        for (int k = 0; k < 8; k++) {
            w[k] = weight_value[first + k * stride][c];
            power[k] = weight_exponent[first + k * stride][c];
        }
        acc[c] = group24(x, exponent, w, power, acc[c]);
    }
    return acc;
}

#endif
