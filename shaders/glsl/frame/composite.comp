// Head and proxy to the next history, the published colour and the screen (network::frame::cpu::compose, style,
// display; frame sections 6 to 8). One invocation a valid pixel.
#version 460
#pragma variant portable NATIVE=0
#pragma variant native NATIVE=1
#pragma variant native_model NATIVE=1 NATIVE_MODEL=1

layout(binding = 0, std430) readonly buffer Color { uvec2 color[]; };
layout(binding = 1, std430) readonly buffer Motion { uint motion[]; };
layout(binding = 2, std430) readonly buffer History { uvec2 history[]; };
layout(binding = 3, std430) readonly buffer Head { uvec2 head[]; };  // from first_row on, field width
layout(binding = 4, std430) readonly buffer Proxy { uvec2 proxies[]; };
layout(binding = 5, std430) writeonly buffer Next { uvec2 next_history[]; };
layout(binding = 6, std430) writeonly buffer Published { uvec2 published[]; };
layout(binding = 7, std430) writeonly buffer DisplayInput { uint display_input[]; };
layout(binding = 8, std430) writeonly buffer DisplayNeural { uint display_neural[]; };

#define COLOR color
#define MOTION motion
#define HISTORY history

#include "push.glsl"
#include "history.glsl"
#include "source.glsl"
#include "style.glsl"
#include "display.glsl"

// One channel without history; both products are exact, so the sums are the contract's fused ones.
float compose_channel(float p, float h) {
    precise float centre = p * 0.125 + -0.0625;
    precise float inner = h * 0.03125 + centre;
    precise float wide = inner * 8.0 + 0.5;
    return saturate(wide);
}

float history_weight(float logit) {
    precise float e = logit * uintBitsToFloat(0xbfb8aa3bu);
    precise float below = 1.0 + exact_exp2(e);
    precise float w = rn_div(1.0, below) * parameters.blend_scale;
    return saturate(w);
}

void main() {
    uvec2 local = gl_GlobalInvocationID.xy;
    uvec2 at = uvec2(local.x, push.first_row + local.y);
    if (local.x >= push.valid.x || local.y >= push.rows) return;
    uint pixel = at.y * push.valid.x + at.x;
    vec3 p = SOURCE == SOURCE_PROXY ? source_image(at) : unpack_color(proxies[pixel]);
    uvec2 words = head[local.y * push.field.x + local.x];
    vec2 rg = half_unpack(words.x), ba = half_unpack(words.y);
    vec3 neural = vec3(compose_channel(p.r, rg.x), compose_channel(p.g, rg.y), compose_channel(p.b, ba.x));
    if ((parameters.flags & HISTORY_VALID) != 0u) {
        vec3 before = history_sample(at);
        neural = rn_mix(neural, before, history_weight(ba.y));
    }
    uvec3 stored = half_truncated(neural);
    next_history[pixel] = pack_halves(stored);

    bool styled = (parameters.flags & STYLED) != 0u;
    uvec3 shown = stored;
    if (styled || parameters.intensity != 1.0) {
        vec3 look = neural;
        if (styled) look = style_apply(half3_to_f32(stored));
        shown = half_truncated(saturate(rn_mix(p, look, parameters.intensity)));
    }
    published[pixel] = pack_halves(shown);
    vec3 code = half3_to_f32(shown);

    if (SOURCE == SOURCE_PROXY) {
        display_input[pixel] = pack_codes(p);
        display_neural[pixel] = pack_codes(code);
        return;
    }
    vec3 original = display_relative(source_scene(pixel), parameters.paper);
    vec3 light = display_upgrade(original, p, code, parameters.paper, parameters.color_strength);
    // The network's light, then the scene's own.
    uint before = 0u, last = 0u;
    REPEAT(i, 2) {
        before = last;
        last = pack_codes(display_codes(light));
        light = display_original(original, parameters.paper);
    }
    display_neural[pixel] = before;
    display_input[pixel] = last;
}
