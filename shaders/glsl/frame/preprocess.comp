// The 16 input lanes of a field pixel and the display proxy (network::frame::cpu::preprocess; frame sections 2 to 5).
// One invocation a field pixel.
#version 460
#pragma variant portable NATIVE=0
#pragma variant native NATIVE=1
#pragma variant native_model NATIVE=1 NATIVE_MODEL=1

layout(binding = 0, std430) readonly buffer Color { uvec2 color[]; };
layout(binding = 1, std430) readonly buffer Motion { uint motion[]; };
layout(binding = 2, std430) readonly buffer History { uvec2 history[]; };
layout(binding = 3, std430) writeonly buffer Features { uvec4 features[]; };  // from first_row on, two a pixel
layout(binding = 4, std430) writeonly buffer Proxy { uvec2 proxies[]; };

#define COLOR color
#define MOTION motion
#define HISTORY history

#include "push.glsl"
#include "history.glsl"
#include "noise.glsl"
#include "source.glsl"

void main() {
    uvec2 local = gl_GlobalInvocationID.xy;
    uvec2 at = uvec2(local.x, push.first_row + local.y);
    if (local.x >= push.field.x || local.y >= push.rows) return;
    uvec2 from = uvec2(mirror(at.x, push.valid.x), mirror(at.y, push.valid.y));
    vec3 p = source_proxy(from);
    if (SOURCE != SOURCE_PROXY && all(lessThan(at, push.valid))) {
        uvec3 bits = uvec3(half_bits(p.x), half_bits(p.y), half_bits(p.z));
        proxies[at.y * push.valid.x + at.x] = pack_halves(bits);
    }
    vec3 now = centred(p);
    vec3 before = (parameters.flags & HISTORY_VALID) != 0u ? centred(history_sample(from)) : now;
    vec3 noise = noise_lanes(at, parameters.seed);
    uint out_at = 2u * (local.y * push.field.x + local.x);
    features[out_at] = uvec4(half_pack(noise.x, noise.y), half_pack(noise.z, 1.0), half_pack(now.x, now.y),
                             half_pack(now.z, before.x));
    features[out_at + 1u] = uvec4(half_pack(before.y, before.z), parameters.conditioning[0], parameters.conditioning[1],
                                  parameters.conditioning[2]);
}
