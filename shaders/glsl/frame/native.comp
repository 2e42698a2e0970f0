// What the native form of math.glsl takes for granted, over a list of operands (network::frame::native).
#version 460
#define NATIVE 1

layout(push_constant) uniform Push { uint count; };
#define OPAQUE_ZERO (count >> 31)

#include "math.glsl"

layout(local_size_x = 64) in;
layout(binding = 0, std430) readonly buffer Operands { vec4 operands[]; };
// Fused sum, quotient, root, the rounded half, its bits, the half of this number.
layout(binding = 1, std430) writeonly buffer Results { uint results[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    vec4 v = operands[i];
    float held = half_round(v.w);
    uint of[6] = uint[6](floatBitsToUint(rn_fma(v.x, v.y, v.z)), floatBitsToUint(rn_div(v.x, v.y)),
                         floatBitsToUint(rn_sqrt(abs(v.x))), floatBitsToUint(held), half_bits(held),
                         floatBitsToUint(half_to_f32(i & 0xffffu)));
    for (uint k = 0; k < 6; k++) results[6u * i + k] = of[k];
}
