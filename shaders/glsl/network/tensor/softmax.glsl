// Weights of 64 keys of a row as an operand: the end of a softmax. Include after matrix.glsl.
#ifndef TENSOR_SOFTMAX_GLSL
#define TENSOR_SOFTMAX_GLSL

// Four invocations a row; `e[j]` is the pair of keys 8 * j + 2 * part and the next. The row begins at `at`, where pairs of halves are
// that others of the four may still have to read. For all invocations of a workgroup at once.
void store_weights(uint at, uint part, uint e[8]) {
#if FLOAT8
    // The pair of the other invocation of a word.
    uint codes[8];
    UNROLL for (uint j = 0; j < 8; j++) {
        uint c = pair_codes(e[j]);
        c = (c | c >> 8) & 0xffffu;
        codes[j] = c | subgroupShuffleXor(c, 1u) << 16;
    }
    warp_barrier();
    if ((part & 1u) == 0u) {
        UNROLL for (uint j = 0; j < 8; j++) tile_memory[at + (j >> 1)][2u * (j & 1u) + (part >> 1)] = codes[j];
    }
#else
    UNROLL for (uint j = 0; j < 8; j++) tile_memory[at + j][part] = pair_weight(e[j]);
#endif
}

#endif
