// Window attention of one head with sixteen rows of sums in registers (numerics sections 6 and 9). Keys and values are in tile_memory,
// KEY_STRIDE elements a row: four of keys, four of values.
#ifndef TENSOR_HEAD_GLSL
#define TENSOR_HEAD_GLSL

uint pair_square(uint w) { return pair_mul(w, w); }

// From raw Q, K and V of sixteen rows: the queries as left operands; keys and values go to tile_memory.
void head_operands(inout MatrixC qkv[6], uint scale, uint keys, out MatrixA q[2]) {
    UNROLL for (uint part = 0; part < 2; part++) {
        MatrixC norm = zero_c();
        UNROLL for (uint j = 0; j < 2; j++) {
            MatrixC square = qkv[2u * part + j];
            MATRIX_MAP(square, pair_square);
            norm = multiply(as_a(square), ones_b(), norm);
        }
        MATRIX_MAP(norm, pair_reciprocal_sqrt);
        UNROLL for (uint j = 0; j < 2; j++) {
            MATRIX_ZIP(qkv[2u * part + j], norm, pair_mul);
            // Only the scale can make one of them large.
            if (part == 0u) {
                UNROLL for (uint w = 0; w < MATRIX_WORDS(norm); w++)
                    set_matrix_word(qkv[j], w, pair_mul(matrix_word(qkv[j], w), scale));
                MATRIX_MAP(qkv[j], pair_quantise);
            } else {
                MATRIX_MAP(qkv[2u + j], pair_round);
            }
        }
    }
    UNROLL for (uint j = 0; j < 2; j++) {
        q[j] = as_a(qkv[j]);
        MATRIX_MAP(qkv[4u + j], pair_quantise);
        store_c(qkv[2u + j], keys + 2u * j, KEY_STRIDE);
        store_c(qkv[4u + j], keys + 4u + 2u * j, KEY_STRIDE);
    }
}

// What sixteen queries attend to, unrounded, among the 64 rows from `keys`; `prior` is the position of the queries' priors.
void head_attend(MatrixA q[2], uint prior, uint keys, out MatrixC o[2]) {
    MatrixC s[4];
    MatrixC sum = zero_c();
    UNROLL for (uint n = 0; n < 4; n++) {
        s[n] = load_c_weights(prior + n * TILE);
        UNROLL for (uint k = 0; k < 2; k++)
            s[n] = multiply(q[k], load_b_columns(keys + 16u * n * KEY_STRIDE + 2u * k, KEY_STRIDE), s[n]);
        MATRIX_MAP(s[n], pair_exp_window);
        sum = multiply(as_a(s[n]), ones_b(), sum);
    }
    MATRIX_MAP(sum, pair_reciprocal);
    UNROLL for (uint j = 0; j < 2; j++) o[j] = zero_c();
    UNROLL for (uint n = 0; n < 4; n++) {
        MATRIX_ZIP(s[n], sum, pair_mul);
        MATRIX_MAP(s[n], pair_weight);
        MatrixA a = as_a(s[n]);
        UNROLL for (uint j = 0; j < 2; j++)
            o[j] = multiply(a, load_b_rows(keys + 16u * n * KEY_STRIDE + 4u + 2u * j, KEY_STRIDE), o[j]);
    }
}

#endif
