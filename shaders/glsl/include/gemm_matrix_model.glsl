// What gemm_matrix.comp does, in plain arithmetic: any device can run the tiles of the matrix form and hold them to the
// plain form, bit for bit. A matrix of operands is where it starts in shared memory, and its records hold codes; the step
// itself is that of f13.glsl. (What the units do to a step, network::exec::matrix_model computes.)
#ifndef GEMM_MATRIX_MODEL_GLSL
#define GEMM_MATRIX_MODEL_GLSL

#include "f13.glsl"
#include "gemm_io.glsl"
#if NORM
#include "cosine.glsl"
#endif

#define HalfA uint
#define HalfB uint
#define PowerA uint
#define PowerB uint

uint matrix_subgroup() { return gl_LocalInvocationIndex / 32u; }

void store_record(uint at, uvec4 codes, bool of_row) { tile_memory[at] = codes; }
void load_rows(uint at, out uint a, out uint power) { a = power = at; }
void load_columns(uint at, out uint b, out uint power) { b = power = at; }

// Row and first column of the two outputs in a word: as the units spread them.
uint word_row(uint p) { return (gl_LocalInvocationIndex % 32u) / 4u + 8u * (p & 1u); }
uint word_column(uint p) { return 2u * (gl_LocalInvocationIndex % 4u) + 4u * (p & 2u); }

float held(uint word, uint half_of) { return half_to_f32(word >> (16u * half_of) & 0xffffu); }

void matrix_group(uint power_a[MATRIX_ROWS], uint power_b[MATRIX_COLUMNS], uint a[MATRIX_ROWS], uint b[MATRIX_COLUMNS],
                  uint zero, inout uint acc[MATRIX_ROWS][MATRIX_COLUMNS][4]) {
    for (uint o = 0; o < MATRIX_ROWS * MATRIX_COLUMNS * 8u; o++) {
        uint i = o / (8u * MATRIX_COLUMNS), j = o / 8u % MATRIX_COLUMNS, p = o / 2u % 4u, e = o % 2u;
        uvec4 row = tile_memory[a[i] + word_row(p) * RECORD], column = tile_memory[b[j] + (word_column(p) + e) * RECORD];
        float a_value[16], b_value[16];
        int a_exponent[16], b_exponent[16];
        [[unroll]] for (uint k = 0; k < 16; k++) {
            f13_decode(row[k / 4u], 8u * (k % 4u), a_value[k], a_exponent[k]);
            f13_decode(column[k / 4u], 8u * (k % 4u), b_value[k], b_exponent[k]);
        }
        uint word = acc[i][j][p];
        uint bits = half_bits(group13(a_value, a_exponent, b_value, b_exponent, held(word, e)));
        acc[i][j][p] = (word & (e == 0u ? 0xffff0000u : 0xffffu)) | bits << (16u * e);
    }
}

uint half_word(uint at, uint p) { return tile_memory[at + word_row(p) * OUT_STRIDE + word_column(p) / 8u][word_column(p) / 2u % 4u]; }

void load_halves(uint at, out uint acc[4]) {
    for (uint p = 0; p < 4; p++) acc[p] = half_word(at, p);
}

void store_halves(uint at, uint acc[4]) {
    for (uint p = 0; p < 4; p++)
        tile_memory[at + word_row(p) * OUT_STRIDE + word_column(p) / 8u][word_column(p) / 2u % 4u] = acc[p];
}

uvec2 seed_words(uint row, uint column) {
    vec4 seed = seed4(row, column);
    return uvec2(half_pack(seed.x, seed.y), half_pack(seed.z, seed.w));
}

void publish_words(uint row, uint column, uvec2 v) { publish4(row, column, vec4(half_unpack(v.x), half_unpack(v.y))); }

uint pack_codes(uint lo, uint hi) { return e4m3_pack(held(lo, 0u), held(lo, 1u), held(hi, 0u), held(hi, 1u)); }

#if NORM
// Q with its head's scale, or K.
void normalise(inout uint v[16], bool query, uint scale) {
    float x[32];
    for (uint c = 0; c < 32; c++) x[c] = held(v[c / 2u], c % 2u);
    float factor = reciprocal_sqrt(square_sum_window(x));
    for (uint c = 0; c < 32; c++) {
        x[c] = half_mul(x[c], factor);
        if (query) x[c] = half_mul(x[c], half_to_f32(scale));
    }
    for (uint c = 0; c < 16; c++) v[c] = half_pack(x[2 * c], x[2 * c + 1]);
}
#endif

#endif
