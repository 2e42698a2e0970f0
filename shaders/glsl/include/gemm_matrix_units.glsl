// What gemm_matrix.comp does with matrix units and with halves, two a word.
#ifndef GEMM_MATRIX_UNITS_GLSL
#define GEMM_MATRIX_UNITS_GLSL

#include "f13_matrix.glsl"
#define GROUP matrix_group
#define GROUP_ROWS MATRIX_ROWS
#define GROUP_COLUMNS MATRIX_COLUMNS
#include "f13_matrix_group.glsl"
#include "gemm_pairs.glsl"
#if NORM
#include "cosine_pairs.glsl"
#endif

void store_record(uint at, uvec4 codes, bool of_row) {
    if (of_row) {
        matrix_store(at, matrix_cleaned(codes), MATRIX_BIAS_A);
    } else {
        matrix_store(at, codes, MATRIX_BIAS_B);
    }
}

void load_rows(uint at, out HalfA a, out PowerA power) {
    coopMatLoad(a, tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(power, tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
}

void load_columns(uint at, out HalfB b, out PowerB power) {
    matrix_columns(at, b, power);
}

// A matrix of halves [row][column], and what an invocation holds of it.
void load_halves(uint at, out uint acc[4]) {
    HalfC h;
    coopMatLoad(h, tile_memory, at, OUT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    FloatC f = FloatC(h);
    [[unroll]] for (uint p = 0; p < 4; p++) acc[p] = packHalf2x16(vec2(f[2 * p], f[2 * p + 1]));
}

void store_halves(uint at, uint acc[4]) {
    FloatC f;
    [[unroll]] for (uint p = 0; p < 4; p++) {
        vec2 v = unpackHalf2x16(acc[p]);
        f[2 * p] = v.x;
        f[2 * p + 1] = v.y;
    }
    coopMatStore(HalfC(f), tile_memory, at, OUT_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
}

uvec2 seed_words(uint row, uint column) { return seed4(row, column); }
void publish_words(uint row, uint column, uvec2 v) { publish4(row, column, v); }
uint pack_codes(uint lo, uint hi) { return pair_pack_codes(lo, hi); }

#if NORM
// Q with its head's scale, or K.
void normalise(inout uint v[16], bool query, uint scale) {
    uint factor = pair_of(cosine_norm(v));
    scale *= 0x10001u;
    [[unroll]] for (uint i = 0; i < 16; i++) {
        v[i] = pair_mul(v[i], factor);
        if (query) v[i] = pair_mul(v[i], scale);
    }
}
#endif

#endif
