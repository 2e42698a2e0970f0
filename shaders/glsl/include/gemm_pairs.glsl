// Seeds and publication of the FP8 multiply kernels on halves, two a word (numerics section 3).
#ifndef GEMM_PAIRS_GLSL
#define GEMM_PAIRS_GLSL

#include "gemm_bindings.glsl"
#include "half_pairs.glsl"

// Seeds of four adjacent outputs: the scaled skip, or +0.
uvec2 seed4(uint row, uint column) {
    uint at = row * channels + column;
    uvec2 skip;
    if ((flags & FLAG_SEED_CODE) != 0u) {
        uint w = skip_words[at >> 2];
        // Bytes 0 and 1, bytes 2 and 3.
        skip = uvec2(pair_from_codes((w & 0xffu) | (w & 0xff00u) << 8),
                     pair_from_codes((w >> 16 & 0xffu) | (w >> 8 & 0xff0000u)));
    } else if ((flags & FLAG_SEED_HALF) != 0u) {
        skip = uvec2(skip_words[at >> 1], skip_words[(at >> 1) + 1u]);
    } else {
        return uvec2(0u);
    }
    return uvec2(pair_mul(skip.x, scale_halves[column >> 1]), pair_mul(skip.y, scale_halves[(column >> 1) + 1u]));
}

// Publishes four adjacent outputs as the flags say; NaN gets the contract's pattern only here.
void publish4(uint row, uint column, uvec2 v) {
    uint at = row * channels + column;
    if ((flags & FLAG_OUT_HALF) != 0u) {
        out_halves[at >> 1] = pair_canonical(v.x);
        out_halves[(at >> 1) + 1u] = pair_canonical(v.y);
    }
    if ((flags & FLAG_OUT_CODE) != 0u) {
        if ((flags & FLAG_SILU) != 0u) v = uvec2(pair_silu(v.x), pair_silu(v.y));
        out_codes[at >> 2] = pair_pack_codes(v.x, v.y);
    }
}

#endif
