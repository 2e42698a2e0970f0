// The softmax sum of the attention kernels in f32 (numerics section 9).
#ifndef ATTENTION_GLSL
#define ATTENTION_GLSL

#include "attention_bindings.glsl"
#include "numerics.glsl"

// Total of 64 exponentials from the eight partial sums t[g] (numerics section 9).
float sum64(float t[8]) {
    float even = half_add(half_add(half_add(t[0], t[2]), t[4]), t[6]);
    float odd = half_add(half_add(half_add(t[1], t[3]), t[5]), t[7]);
    return half_add(even, odd);
}

#endif
