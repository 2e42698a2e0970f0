// Cosine normalisation of one head vector (numerics section 6), function for function network::numerics::cosine.
#ifndef COSINE_GLSL
#define COSINE_GLSL

#include "numerics.glsl"

float tree16(float r[16]) {
    float s8[8], s4[4];
    for (int c = 0; c < 8; c++) s8[c] = half_add(r[c], r[c + 8]);
    for (int c = 0; c < 4; c++) s4[c] = half_add(s8[c], s8[c + 4]);
    return half_add(half_add(s4[0], s4[2]), half_add(s4[1], s4[3]));
}

// A true half fma, rounded once.
float square_sum_window(float v[32]) {
    float r[16];
    for (int c = 0; c < 16; c++) r[c] = half_fma(v[c], v[c], half_mul(v[c + 16], v[c + 16]));
    return tree16(r);
}

// The low square and the sum stay f32; only the sum is rounded to half.
float square_sum_vit(float v[32]) {
    float r[16];
    for (int c = 0; c < 16; c++) {
        precise float low = v[c] * v[c];
        precise float sum = low + half_mul(v[c + 16], v[c + 16]);
        r[c] = half_round(sum);
    }
    return tree16(r);
}

#endif
