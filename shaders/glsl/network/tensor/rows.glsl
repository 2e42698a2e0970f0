// Rows of codes, a chunk of 16 * CHUNK channels at a time, into shared memory as operands. Before include: WARPS, CHUNK,
// TILE_ROWS, BUFFER_STRIDE, input_codes.
#ifndef TENSOR_ROWS_GLSL
#define TENSOR_ROWS_GLSL

// CHUNK invocations a row, and so many rows an invocation.
#define LOADS (TILE_ROWS * CHUNK / (32 * WARPS))
#define ROWS_A_LOAD (32 * WARPS / CHUNK)
struct RowCodes { uvec4 w[LOADS]; };

// `chunks` is the number of chunks of a row; rows past the last are zero.
RowCodes load_rows(uint thread, uint first_row, uint chunk, uint chunks, uint rows) {
    RowCodes codes;
    UNROLL for (uint i = 0; i < LOADS; i++) {
        uint row = first_row + thread / CHUNK + ROWS_A_LOAD * i;
        codes.w[i] = uvec4(0u);
        if (row < rows) codes.w[i] = input_codes[(row * chunks + chunk) * CHUNK + thread % CHUNK];
    }
    return codes;
}

void store_rows(uint thread, uint at, RowCodes codes) {
    UNROLL for (uint i = 0; i < LOADS; i++) {
        put_codes(at + (thread / CHUNK + ROWS_A_LOAD * i) * BUFFER_STRIDE + OPERAND * (thread % CHUNK), codes.w[i]);
    }
}

#endif
