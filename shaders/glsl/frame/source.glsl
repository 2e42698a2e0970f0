// The image that a frame starts from (network::frame::cpu::preprocess::Source). The including shader defines COLOR
// (uvec2[]), two words a pixel of halves, two elements a pixel of f32.
#ifndef FRAME_SOURCE_GLSL
#define FRAME_SOURCE_GLSL

#include "color.glsl"
#include "push.glsl"

vec3 source_f32(uint pixel) {
    uvec2 a = COLOR[2u * pixel];
    return vec3(uintBitsToFloat(a.x), uintBitsToFloat(a.y), uintBitsToFloat(COLOR[2u * pixel + 1u].x));
}

// Linear scene colour of a valid pixel.
vec3 source_scene(uint pixel) { return SOURCE == SOURCE_SCENE_HALF ? unpack_color(COLOR[pixel]) : source_f32(pixel); }

// Code values of a proxy image at a valid pixel.
vec3 source_image(uvec2 at) {
    uvec2 p = ((2u * at + 1u) * push.source) / (2u * push.valid);
    return source_f32(p.y * push.source.x + p.x);
}

// Proxy of a valid pixel, from scratch.
vec3 source_proxy(uvec2 at) {
    if (SOURCE == SOURCE_PROXY) return source_image(at);
    return proxy(source_scene(at.y * push.valid.x + at.x), parameters.paper);
}

#endif
