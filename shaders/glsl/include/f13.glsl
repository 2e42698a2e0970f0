// The F13 step: sixteen E4M3 products into a half accumulator (numerics section 2).
//
// An operand is a pair: its exact value as f32, and its exponent (that of `split`, -6 for subnormal codes) as an
// integer shifted to the exponent field of f32, which makes adding exponents and building powers of two one addition
// each. A zero operand has value 0 and an exponent so low that it never wins the maximum.
//
//   int power = f13_power(acc);                                  // the accumulator takes part in the maximum
//   for k: power = max(power, a_exponent[k] + b_exponent[k]);
//   float scale = f13_scale(power);                              // 2^(13 - E)
//   int sum = f13_term(acc, scale);                              // truncates toward zero, each term by itself
//   for k: sum += f13_term(a_value[k] * b_value[k], scale);      // products are exact
//   acc = f13_finish(sum, power, acc);
//
// A zero accumulator counts with exponent -14; any product that is not zero has at least -12.
#ifndef F13_GLSL
#define F13_GLSL

const int F13_NOTHING = -(50 << 23);

// Value and exponent of the code in bits `shift .. shift + 7` of a word.
void f13_decode(uint word, uint shift, out float value, out int exponent) {
    uint sign = (word << (24u - shift)) & 0x80000000u, m = (word >> shift) & 0x7fu;
    bool sub = m < 8u;
    float f = uintBitsToFloat((m << 20) + (sub ? 121u << 23 : 120u << 23)) - (sub ? 0.015625 : 0.0);
    f = m == 0x7fu ? 0.0 : f;
    value = uintBitsToFloat(floatBitsToUint(f) | sign);
    exponent = m == 0u || m == 0x7fu ? F13_NOTHING : int(max(m >> 3, 1u) << 23) - (7 << 23);
}

int f13_power(float acc) {
    return max(int(floatBitsToUint(acc) & 0x7f800000u) - (127 << 23), -(14 << 23));
}

float f13_scale(int power) { return uintBitsToFloat(uint(((127 + 13) << 23) - power)); }

int f13_term(float product, float scale) { return int(product * scale); }

// The sum times 2^(E - 13), rounded to half. An infinite or NaN accumulator stays as it was. Below 2^-14 the value is a
// multiple of 2^-24 already, so rounding at the thirteenth bit leaves it alone.
float f13_finish(int sum, int power, float acc) {
    float v = float(sum) * uintBitsToFloat(uint(power + ((127 - 13) << 23)));
    uint u = floatBitsToUint(v);
    u = (u + 0xfffu + ((u >> 13) & 1u)) & 0xffffe000u;
    u = (u & 0x7fffffffu) >= 0x47800000u ? (u & 0x80000000u) | 0x7f800000u : u;
    u = sum == 0 ? 0u : u;
    uint old = floatBitsToUint(acc);
    return uintBitsToFloat((old & 0x7f800000u) == 0x7f800000u ? old : u);
}

// One group: sixteen products added into the held half `acc`.
float group13(float a_value[16], int a_exponent[16], float b_value[16], int b_exponent[16], float acc) {
    int power = f13_power(acc);
    [[unroll]] for (int k = 0; k < 16; k++) power = max(power, a_exponent[k] + b_exponent[k]);
    float scale = f13_scale(power);
    int sum = f13_term(acc, scale);
    [[unroll]] for (int k = 0; k < 16; k++) sum += f13_term(a_value[k] * b_value[k], scale);
    return f13_finish(sum, power, acc);
}

#endif
