// The F13 step for devices that run a subgroup as one CPU vector: lanes hold rows, the other operand is spread over
// the lanes once and broadcast from a register lane by a shuffle with a constant index. The subgroup is the workgroup
// and has exactly LANES invocations; the host chooses the variant by the device's subgroup size.
#ifndef F13_LANES_GLSL
#define F13_LANES_GLSL

#include "f13.glsl"

// Sixteen operands of one row or column.
struct Operands {
    float value[16];
    int exponent[16];
};

// The sixteen codes of four words, lowest byte first.
Operands f13_unpack(uvec4 words) {
    Operands o;
    [[unroll]] for (int k = 0; k < 16; k++) f13_decode(words[k >> 2], 8 * (k & 3), o.value[k], o.exponent[k]);
    return o;
}

// The operands that lane `lane` holds, in every lane.
Operands f13_broadcast(Operands o, uint lane) {
    Operands b;
    [[unroll]] for (int k = 0; k < 16; k++) {
        b.value[k] = subgroupShuffle(o.value[k], lane);
        b.exponent[k] = subgroupShuffle(o.exponent[k], lane);
    }
    return b;
}

float group13(Operands a, Operands b, float acc) {
    return group13(a.value, a.exponent, b.value, b.exponent, acc);
}

#endif
