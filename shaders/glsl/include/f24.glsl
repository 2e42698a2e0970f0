// The F24 step: eight half products into a half accumulator (numerics section 4). Operands and accumulator are held
// halves; products are exact in f32.
#ifndef F24_GLSL
#define F24_GLSL

#include "numerics.glsl"

// Exponent of a held half for the maximum: zeros never win, subnormals count as -14.
int f24_exponent(float h) {
    uint a = floatBitsToUint(h) & 0x7fffffffu;
    return a == 0u ? -1000 : max(int(a >> 23) - 127, -14);
}

// Eight products of operands whose exponents are known.
float group24(float a[8], int a_exponent[8], float b[8], int b_exponent[8], float acc) {
    int power = f24_exponent(acc);
    for (int i = 0; i < 8; i++) power = max(power, a_exponent[i] + b_exponent[i]);
    // Without any operand that counts every term is zero; -28 is the least exponent sum.
    power = max(power, -28);
    float scale = uintBitsToFloat(uint(127 + 24 - power) << 23);
    int sum = int(acc * scale);
    for (int i = 0; i < 8; i++) sum += int(a[i] * b[i] * scale);
    float r = half_from_fixed(sum, power - 24);
    return (floatBitsToUint(acc) & INF32) == INF32 ? acc : r;
}

float group24(float a[8], float b[8], float acc) {
    int a_exponent[8], b_exponent[8];
    for (int i = 0; i < 8; i++) a_exponent[i] = f24_exponent(a[i]), b_exponent[i] = f24_exponent(b[i]);
    return group24(a, a_exponent, b, b_exponent, acc);
}

#endif
