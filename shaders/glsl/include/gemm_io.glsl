// Seeds and publication of the FP8 multiply kernels in f32 (numerics section 3).
#ifndef GEMM_IO_GLSL
#define GEMM_IO_GLSL

#include "gemm_bindings.glsl"
#include "numerics.glsl"

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
