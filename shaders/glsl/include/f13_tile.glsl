// The F13 step for GPUs: a workgroup decodes sixteen k of its rows and columns into shared memory, and an invocation adds
// them to a small tile of accumulators (numerics section 2; see f13_tile_group.glsl).
//
// An operand is split into its magnitude, its sign, and a power 256^exponent. One multiply-add a product finds the
// largest exponent sum E: a sum of at most sixteen powers of 256 lies below seventeen times the largest, so its f32
// exponent gives E away. Another one, |a| * |b| + 2^(E + 3), leaves the product in units of 2^(E - 20) in the low
// mantissa bits. That is exact down to 14 exponents below E, and less than one unit of 2^(E - 13) further down, so
// dropping the low seven bits truncates toward zero as the contract wants. Signs are applied as exclusive or, whose
// missing +1 of each two's complement is at most 16 in all and disappears when the sum is rounded to a multiple of 128.
// Nothing depends on whether the multiply-adds are fused: products are exact.
#ifndef F13_TILE_GLSL
#define F13_TILE_GLSL

// Offsets in tile_memory of the six operand arrays [k][TILE_ROWS or TILE_COLUMNS / 4].
const uint A_QUADS = TILE_ROWS / 4;
const uint B_QUADS = TILE_COLUMNS / 4;
const uint A_POWER = 0;
const uint A_MAGNITUDE = A_POWER + 16 * A_QUADS;
const uint A_SIGN = A_MAGNITUDE + 16 * A_QUADS;
const uint B_POWER = A_SIGN + 16 * A_QUADS;
const uint B_MAGNITUDE = B_POWER + 16 * B_QUADS;
const uint B_SIGN = B_MAGNITUDE + 16 * B_QUADS;
const uint OPERANDS = B_SIGN + 16 * B_QUADS;

// All shared memory of the kernel.
shared uvec4 tile_memory[TILE_MEMORY];

// Bits of (256^(exponent - 1), |value|, sign mask) of the code in bits `shift .. shift + 7`; zero and NaN codes are all 0.
uvec3 tile_operand(uint word, uint shift) {
    uint m = (word >> shift) & 0x7fu;
    uint sign = uint(int(word << (24u - shift)) >> 31);
    bool sub = m < 8u, zero = m == 0u || m == 0x7fu;
    float f = uintBitsToFloat((m << 20) + (sub ? 121u << 23 : 120u << 23)) - (sub ? 0.015625 : 0.0);
    // 127 + 8 * (exponent - 1) with exponent = max(m >> 3, 1) - 7.
    uint power = ((max(m >> 3, 1u) << 3) + 63u) << 23;
    return zero ? uvec3(0u) : uvec3(power, floatBitsToUint(f), sign);
}

// Stores the sixteen codes of row (or column) `i` at the arrays that start at `power`.
void tile_store(uint power, uint quads, uint i, uvec4 codes) {
    [[unroll]] for (uint k = 0; k < 16; k++) {
        uvec3 o = tile_operand(codes[k >> 2], 8 * (k & 3));
        uint at = power + k * quads + (i >> 2);
        tile_memory[at][i & 3u] = o.x;
        tile_memory[at + 16 * quads][i & 3u] = o.y;
        tile_memory[at + 32 * quads][i & 3u] = o.z;
    }
}

// Stores the four codes of a word as columns 4 * quad .. of one k.
void tile_store_b_quad(uint k, uint quad, uint word) {
    uvec3 o[4];
    [[unroll]] for (uint c = 0; c < 4; c++) o[c] = tile_operand(word, 8 * c);
    uint at = k * B_QUADS + quad;
    tile_memory[B_POWER + at] = uvec4(o[0].x, o[1].x, o[2].x, o[3].x);
    tile_memory[B_MAGNITUDE + at] = uvec4(o[0].y, o[1].y, o[2].y, o[3].y);
    tile_memory[B_SIGN + at] = uvec4(o[0].z, o[1].z, o[2].z, o[3].z);
}

void tile_store_a(uint row, uvec4 codes) { tile_store(A_POWER, A_QUADS, row, codes); }
void tile_store_b(uint column, uvec4 codes) { tile_store(B_POWER, B_QUADS, column, codes); }

#endif
