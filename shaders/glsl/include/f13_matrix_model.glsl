// What f13_matrix.glsl offers, on plain arithmetic: any device whose subgroups hold eight invocations or more can run the
// kernels of the matrix form and hold them to the plain form, bit for bit. Records, of two elements, hold codes where they
// hold halves otherwise, and no powers; a matrix B is where it starts in shared memory. Four invocations side by side hold the rows of a
// matrix A, as on the units. The step itself is that of f13.glsl; network::exec::matrix_model computes what units do to it.
#ifndef F13_EXACT_MODEL_GLSL
#define F13_EXACT_MODEL_GLSL

#include "f13.glsl"
#include "half_pairs.glsl"

// Two codes a word, in the low bytes of its halves, as matrix_of_codes takes them.
struct HalfA { uint codes[4]; };
// First record, and whether records are rows.
struct HalfB { uint at; bool rows; };
#define PowerA uint
#define PowerB uint

const uint POWERS = 2;
const uint MATRIX_BIAS_A = 0;
const uint MATRIX_BIAS_B = 0;

uint matrix_clean(uint w) { return w; }
uvec4 matrix_cleaned(uvec4 codes) { return codes; }

// Two codes in the high bytes of the halves, as they lie in a record.
void matrix_operands(uint codes, uint bias, out uint value, out uint power) { value = codes >> 8; power = 0u; }

void matrix_store(uint at, uvec4 codes, uint bias) {
    for (uint h = 0; h < 2; h++) {
        uvec4 value;
        for (uint i = 0; i < 4; i++) {
            uint w = codes[2 * h + i / 2] >> (16 * (i % 2));
            value[i] = (w & 0xffu) | (w & 0xff00u) << 8;
        }
        tile_memory[at + h] = value;
    }
}

void matrix_columns(uint at, out HalfB b, out PowerB power) { b = HalfB(at, false); power = 0u; }
void matrix_rows(uint at, out HalfB b, out PowerB power) { b = HalfB(at, true); power = 0u; }
void matrix_of_codes(uint codes[4], out HalfA a, out PowerA power) { a.codes = codes; power = 0u; }

uint matrix_subgroup() { return gl_LocalInvocationIndex / 32u; }
uint matrix_lane() { return gl_LocalInvocationIndex % 32u; }

// The code of a matrix B.
uint matrix_code(HalfB b, uint k, uint column) {
    uint record = b.at + RECORD * (b.rows ? k : column), element = b.rows ? column : k;
    return tile_memory[record + element / 8u][element / 2u % 4u] >> (16u * (element % 2u)) & 0xffu;
}

#endif
