// Makes one level of a picture's mipmaps: every texel the mean of four. Colours are averaged as
// light and by their alpha, so that what is not there lends no colour to what is.
#version 460

#include "scene_colour.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0, std430) buffer TexelBlock { uint texels[]; };

layout(push_constant) uniform Push {
    uvec2 size;            // of the level that is made
    uvec2 source_size;
    uint target;           // first texel of the level
    uint source;
    uint srgb;             // 1 for colours, 0 for numbers
} push;

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(at, push.size))) return;
    vec3 sum = vec3(0.0), plain = vec3(0.0);
    float alpha = 0.0;
    for (uint k = 0u; k < 4u; k++) {
        uvec2 p = min(2u * at + uvec2(k & 1u, k >> 1), push.source_size - 1u);
        vec4 t = unpackUnorm4x8(texels[push.source + p.y * push.source_size.x + p.x]);
        vec3 c = push.srgb != 0u ? from_srgb(t.rgb) : t.rgb;
        sum += c * t.a;
        plain += c;
        alpha += t.a;
    }
    vec3 mean = alpha > 0.0 ? sum / alpha : 0.25 * plain;
    if (push.srgb != 0u) mean = to_srgb(mean);
    texels[push.target + at.y * push.size.x + at.x] = packUnorm4x8(vec4(mean, 0.25 * alpha));
}
