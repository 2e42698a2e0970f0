// Parameters of the frame passes. Mirrors network::frame::block.
#ifndef FRAME_PUSH_GLSL
#define FRAME_PUSH_GLSL

const uint HISTORY_VALID = 1u;
const uint STYLED = 2u;

// What a recording of the passes holds for good.
layout(push_constant) uniform Push {
    uvec2 valid;           // width, height
    uvec2 field;
    uvec2 source;          // of a proxy image; valid elsewhere
    uint first_row;        // of this dispatch
    uint rows;
} push;

#define OPAQUE_ZERO (push.rows >> 31)

// What may change from frame to frame: a recording that is run again reads it anew.
layout(binding = 9, std430) readonly buffer Parameters {
    uint seed;
    uint flags;
    uint conditioning[3];  // lanes 10 to 15, two halves a word
    float paper;
    float blend_scale;
    float intensity;
    float color_strength;
    float exposure;        // the style's look
    float contrast;
    float saturation;
    float gamma;
    float hue;
    float vibrance;
} parameters;

// What binding 0 holds.
const uint SOURCE_SCENE_HALF = 0;  // linear scene colour, 4 halves a pixel
const uint SOURCE_SCENE_F32 = 1;   // linear scene colour, 4 f32 a pixel
const uint SOURCE_PROXY = 2;       // proxy code values, 4 f32 a pixel, of the source extent
layout(constant_id = 0) const uint SOURCE = SOURCE_SCENE_HALF;

layout(local_size_x = 8, local_size_y = 8) in;

#endif
