// The frame without the network: its proxy, rounded, becomes the next history, and the clean scene is displayed (frame
// sections 5 and 8). One invocation a valid pixel.
#version 460
#pragma variant portable NATIVE=0
#pragma variant native NATIVE=1
#pragma variant native_model NATIVE=1 NATIVE_MODEL=1

layout(binding = 0, std430) readonly buffer Color { uvec2 color[]; };
layout(binding = 1, std430) writeonly buffer Next { uvec2 next_history[]; };
layout(binding = 2, std430) writeonly buffer DisplayInput { uint display_input[]; };
layout(binding = 3, std430) writeonly buffer DisplayNeural { uint display_neural[]; };

#define COLOR color

#include "push.glsl"
#include "source.glsl"
#include "display.glsl"

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(at, push.valid))) return;
    uint pixel = at.y * push.valid.x + at.x;
    vec3 p = source_proxy(at);
    vec3 h = half3_round(p);
    next_history[pixel] = pack_halves(uvec3(half_bits(h.x), half_bits(h.y), half_bits(h.z)));
    vec3 code = p;
    if (SOURCE != SOURCE_PROXY) {
        vec3 original = display_relative(source_scene(pixel), parameters.paper);
        code = display_codes(display_original(original, parameters.paper));
    }
    uint shown = pack_codes(code);
    display_input[pixel] = shown;
    display_neural[pixel] = shown;
}
