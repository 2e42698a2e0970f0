// The F13 step for GPUs that round f32 toward zero on demand (numerics section 2; f13_tile.glsl explains the plain form).
//
// With that rounding |a| * |b| + 2^(E + 10) leaves the truncated product, in units of 2^(E - 13), in the low 23 bits, so
// no mask is needed. Sums are kept modulo 2^23, where the base is zero and whatever else ends up in the high bits does
// not matter: a sign is one exclusive or with all ones in the low 23 bits, and the missing +1 of each two's complement is
// counted once a group from sixteen-bit masks.
//
// An operand has two words. The first is 256^exponent with the sign in all 23 mantissa bits: that makes it less than
// twice as large, so that a sum of sixteen products of two is below 64 times the largest power, and E is still the f32
// exponent divided by eight. The second is the magnitude times 2^-8, which is what the code is as a half, seven bits up.
//
// Accumulators are halves, two a word, the even column below. The kernel declares tile_memory before it includes this, and
// enables GL_EXT_spirv_intrinsics.
#ifndef F13_RTZ_GLSL
#define F13_RTZ_GLSL

// RoundingModeRTZ 32.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4468], 4463, 32);

#include "half_pairs.glsl"

const uint LOW_23 = 0x7fffffu;

// Biases of the powers of rows and columns, such that a product has the f32 exponent field 8 * (E + 15).
const uint BIAS_A = 72u << 23;
const uint BIAS_B = 63u << 23;

// 256^exponent of the magnitude bits 26 .. 29 of `m` (the code's exponent field), which is not zero.
uint rtz_power(uint m, uint bias) { return max(m & 0x3c000000u, 8u << 23) + bias; }

// Both words of the four codes of a word, and a bit for each that is negative. Zero and NaN codes are all 0.
uint rtz_operands(uint w, uint bias, out uvec4 power, out uvec4 magnitude) {
    uint m = w & 0x7f7f7f7fu;
    uint nan = (m + 0x01010101u) & 0x80808080u;
    m &= ~(nan - (nan >> 7));
    uint some = (m + 0x7f7f7f7fu) & 0x80808080u, negative = w & some;
    vec2 even = unpackHalf2x16((m & 0x007f007fu) << 7), odd = unpackHalf2x16((m & 0x7f007f00u) >> 1);
    magnitude = floatBitsToUint(vec4(even.x, odd.x, even.y, odd.y));
    uvec4 at = uvec4(m << 23, m << 15, m << 7, m >> 1);
    [[unroll]] for (uint i = 0; i < 4; i++) {
        uint p = rtz_power(at[i], bias);
        p = (negative & (0x80u << (8 * i))) != 0u ? p | LOW_23 : p;
        power[i] = (some & (0x80u << (8 * i))) != 0u ? p : 0u;
    }
    // Bits 7, 15, 23, 31 side by side.
    return ((negative >> 7) * 0x10204080u) >> 28;
}

// Stores the sixteen codes of row (or column) `i`: powers [16][quads] from `at`, magnitudes [16][quads] and one sign
// mask behind them.
void rtz_store(uint at, uint quads, uint i, uvec4 codes, uint bias) {
    uint mask = 0u;
    [[unroll]] for (uint word = 0; word < 4; word++) {
        uvec4 power, magnitude;
        mask |= rtz_operands(codes[word], bias, power, magnitude) << (4 * word);
        [[unroll]] for (uint j = 0; j < 4; j++) {
            uint to = at + (4 * word + j) * quads + (i >> 2);
            tile_memory[to][i & 3u] = power[j];
            tile_memory[to + 16 * quads][i & 3u] = magnitude[j];
        }
    }
    tile_memory[at + 32 * quads + (i >> 2)][i & 3u] = mask;
}

#endif
