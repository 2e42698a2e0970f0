// The F13 step on matrix units that multiply halves into f32 (numerics section 2).
//
// Such a unit aligns sixteen products and the accumulator at the largest exponent among them and truncates every one of
// them 25 bits below it, toward zero, before it adds (measured on Hopper; a check at start finds out whether a device does
// so). That is the truncation of the step, if only the largest exponent is E + 12: an accumulator that starts at
// X = 1.5 * 2^(E + 10) brings it about, with products that are a quarter as large. What the unit then returns has two bits
// less than it has added. Therefore each product takes part four times: the sum of four equal terms is four times as
// large, and nothing of it is lost. One step of sixteen products is four multiplications of 16 x 16 matrices, each of four
// products, four times.
//
// E comes from another multiplication, of powers 256^exponent, whose f32 exponent divided by eight it is; these are
// bfloat16, which has the range.
//
// Everything is 2^-26 smaller than it is called here, so that half exponents become f32 exponents by a shift: operands are
// magnitudes times 2^-14, and X has the exponent field 96 + (E + 15).
//
// An operand row (or column) of sixteen codes is a record of five elements of shared memory: sixteen halves, sixteen
// powers, and one element that keeps the banks apart. Accumulators are halves, two a word.
//
// The kernel declares RECORD, which is five, and tile_memory before it includes this; f13_matrix_group.glsl defines the step.
#ifndef F13_MATRIX_GLSL
#define F13_MATRIX_GLSL

// RoundingModeRTZ 32.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4468], 4463, 32);

#include "half_pairs.glsl"

#define HalfA coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define HalfB coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define HalfC coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>
#define PowerA coopmat<bfloat16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define PowerB coopmat<bfloat16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB>
#define FloatC coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>

// Of the powers in a record.
const uint POWERS = 2;

// Biases of the powers of rows and columns, such that a product has the f32 exponent field 8 * (E + 15).
const uint MATRIX_BIAS_A = 67u << 7;
const uint MATRIX_BIAS_B = 68u << 7;

// Two adjacent codes in the high bytes of the half words: their halves, times 2^-14, and their powers.
void matrix_operands(uint codes, uint bias, out uint value, out uint power) {
    uint m = (codes >> 1) & 0x3f803f80u;
    uint least = pair_bits(max(pair_floats(m & 0x3c003c00u), pair_floats(0x04000400u))) + bias * 0x10001u;
    value = pair_mul(m | (codes & 0x80008000u), pair_of(0.015625hf));
    // A zero has no power; any other magnitude times 2^16 is above its power when both are read as halves.
    power = pair_bits(min(pair_floats(least), pair_floats(m) * f16vec2(65504.0hf)));
}

// A word of codes without NaN codes, which are zeros.
uint matrix_clean(uint w) {
    uint nan = ((w & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u;
    return nan == 0u ? w : w & ~((nan >> 7) * 0xffu);
}

// Sixteen codes without NaN codes. Weights have none.
uvec4 matrix_cleaned(uvec4 codes) {
    [[unroll]] for (uint i = 0; i < 4; i++) codes[i] = matrix_clean(codes[i]);
    return codes;
}

// Stores a record; none of the codes is NaN.
void matrix_store(uint at, uvec4 codes, uint bias) {
    [[unroll]] for (uint h = 0; h < 2; h++) {
        uvec4 value, power;
        [[unroll]] for (uint i = 0; i < 2; i++) {
            uint w = codes[2 * h + i];
            matrix_operands((w & 0xffu) << 8 | (w & 0xff00u) << 16, bias, value[2 * i], power[2 * i]);
            matrix_operands((w & 0xff0000u) >> 8 | (w & 0xff000000u), bias, value[2 * i + 1], power[2 * i + 1]);
        }
        tile_memory[at + h] = value;
        tile_memory[at + POWERS + h] = power;
    }
}

// Records as columns of a matrix B, and as its rows.
void matrix_columns(uint at, out HalfB b, out PowerB power) {
    coopMatLoad(b, tile_memory, at, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
    coopMatLoad(power, tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
}
void matrix_rows(uint at, out HalfB b, out PowerB power) {
    coopMatLoad(b, tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(power, tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
}

// Number of the subgroup, and of the invocation in it.
uint matrix_subgroup() { return gl_SubgroupID; }
uint matrix_lane() { return gl_SubgroupInvocationID; }

// Of the eight elements of a matrix that an invocation holds 0 .. 3 belong to one row (of a matrix B: column) and 4 .. 7 to
// another, and the four k are the same in matrices A and B: so it was found, and the check at start would notice.
uint element_of(uint element, uint part) { return part + (element & 4u); }

// The start values of the low and the high accumulator of a word: signs and half exponents in `x`.
float matrix_start_low(uint x) { return uintBitsToFloat((uint(int(x << 16) >> 3) & 0x8f800000u) | 0x30400000u); }
float matrix_start_high(uint x) { return uintBitsToFloat((uint(int(x) >> 3) & 0x8f800000u) | 0x30400000u); }

#endif
