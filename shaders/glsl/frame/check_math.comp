// Test shader: one function of math.glsl over a list of operands.
#version 460
#pragma variant portable NATIVE=0
#pragma variant native NATIVE=1
#pragma variant native_model NATIVE=1 NATIVE_MODEL=1

layout(push_constant) uniform Push { uint count; };
#define OPAQUE_ZERO (count >> 31)

#include "math.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint FUNCTION = 0;
layout(binding = 0, std430) readonly buffer Operands { vec4 operands[]; };
layout(binding = 1, std430) writeonly buffer Results { vec2 results[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    vec4 v = operands[i];
    vec2 r = vec2(0.0);
    switch (FUNCTION) {
        case 0: r.x = rn_fma(v.x, v.y, v.z); break;
        case 1: r.x = rn_div(v.x, v.y); break;
        case 2: r.x = rn_sqrt(v.x); break;
        case 3: r.x = exact_log2(v.x); break;
        case 4: r.x = exact_log2_precise(v.x); break;
        case 5: r.x = exact_exp2(v.x); break;
        case 6: r = exact_circle(v.x); break;
        case 7: r.x = exact_pow(v.x, v.y); break;
        default: r.x = exact_cube_root(v.x); break;
    }
    results[i] = r;
}
