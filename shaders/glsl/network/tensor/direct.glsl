// Rows of codes straight from memory into left operands, without shared memory: an invocation reads sixteen neighbouring channels of
// each of its rows, and those are its part of four steps of k. Steps therefore take the channels of a chunk of 64 in another order, and so do the
// rows of the weight tiles (`direct_rows` in tiles.rs): place p of step s is channel 16 ((p % 8) / 2) + 4 s + 2 (p % 2) + p / 8.
//
// Only for devices that spread left operands so, which is asked of them: invocation i holds of row i / 4 the columns 2 (i % 4) and
// 2 (i % 4) + 1, those plus eight, then the same of row i / 4 + 8.
//
// Before include: input_codes.
#ifndef TENSOR_DIRECT_GLSL
#define TENSOR_DIRECT_GLSL

// k of a chunk, and elements of sixteen codes.
#define DIRECT_CHUNK 64u
#define DIRECT_PARTS 4u

// Bytes 0 and 2, and bytes 1 and 3 of four codes, as halves.
uint direct_even(uint w) { return pair_read(w << 8); }
uint direct_odd(uint w) { return pair_read(w); }

#if MATRIX_MODEL
// The whole chunk of the invocation's row.
struct DirectRow { uvec4 w[4]; };

DirectRow direct_none() {
    DirectRow row;
    for (uint i = 0; i < 4; i++) row.w[i] = uvec4(0u);
    return row;
}

// Rows of which this invocation reads parts, in a tile of sixteen.
#define DIRECT_ROWS 1
uint direct_row(uint i) { return own_row(); }

void direct_load(inout DirectRow row, uint i, uint element) {
    for (uint t = 0; t < 4; t++) row.w[t] = input_codes[element + t];
}

MatrixA direct_a(DirectRow row, uint s) {
    MatrixA a;
    for (uint t = 0; t < 4; t++) a.w[t] = direct_even(row.w[t][s]), a.w[4 + t] = direct_odd(row.w[t][s]);
    return a;
}
#else
// Sixteen codes of each of two rows.
struct DirectRow { uvec4 w[2]; };

DirectRow direct_none() { return DirectRow(uvec4[2](uvec4(0u), uvec4(0u))); }

#define DIRECT_ROWS 2
uint direct_row(uint i) { return (gl_SubgroupInvocationID >> 2) + 8u * i; }

void direct_load(inout DirectRow row, uint i, uint element) {
    row.w[i] = input_codes[element + (gl_SubgroupInvocationID & 3u)];
}

MatrixA direct_a(DirectRow row, uint s) {
    MatrixA a;
    uint words[4] = uint[4](direct_even(row.w[0][s]), direct_odd(row.w[0][s]), direct_even(row.w[1][s]), direct_odd(row.w[1][s]));
    UNROLL for (uint i = 0; i < 4; i++) set_matrix_word(a, i, words[i]);
    return a;
}
#endif

#endif
