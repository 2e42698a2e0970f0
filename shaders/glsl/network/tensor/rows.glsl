// Rows of codes, a chunk of 16 * CHUNK channels at a time, into shared memory as halves. Before include: WARPS, CHUNK,
// TILE_ROWS, BUFFER_STRIDE, input_codes.
#ifndef TENSOR_ROWS_GLSL
#define TENSOR_ROWS_GLSL

#if MATRIX_MODEL
#define warp_index() (gl_LocalInvocationIndex >> 5)
#define lane_index() (gl_LocalInvocationIndex & 31u)
#else
#define warp_index() gl_SubgroupID
#define lane_index() gl_SubgroupInvocationID
#endif

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
        uvec4 low, high;
        unpack16(codes.w[i], low, high);
        uint to = at + (thread / CHUNK + ROWS_A_LOAD * i) * BUFFER_STRIDE + 2u * (thread % CHUNK);
        tile_memory[to] = low;
        tile_memory[to + 1u] = high;
    }
}

#endif
