// Decoder entry: scaled skip plus upsampled projection (numerics section 11). One invocation computes four channels of
// one pixel. Bindings start at the block's first line and at half that line of the coarser grid.
#version 460
#pragma variant code OUT_HALF=0
#pragma variant both OUT_HALF=1

#include "linear.glsl"
#include "numerics.glsl"

layout(binding = 0, std430) readonly buffer Low { uvec2 low_halves[]; };
layout(binding = 1, std430) readonly buffer Skip { uint skip_codes[]; };
layout(binding = 2, std430) readonly buffer Scale { uvec2 scale_halves[]; };
layout(binding = 3, std430) writeonly buffer OutCode { uint out_codes[]; };
#if OUT_HALF
layout(binding = 4, std430) writeonly buffer OutHalf { uvec2 out_halves[]; };
#endif

layout(push_constant) uniform Push {
    uint width;      // of the finer grid
    uint lines;      // finer lines of this dispatch
    uint quads;      // channels / 4
    uint low_width;  // of the coarser grid
};

void main() {
    uint i = linear_index();
    if (i >= width * lines * quads) return;
    uint pixel = i / quads, quad = i % quads;
    uint x = pixel % width, y = pixel / width;
    uvec2 low = low_halves[((y >> 1) * low_width + (x >> 1)) * quads + quad];
    uvec2 scale = scale_halves[quad];
    uint skip = skip_codes[i];
    vec4 p = vec4(half_unpack(low.x), half_unpack(low.y)), s = vec4(half_unpack(scale.x), half_unpack(scale.y));
    vec4 r = vec4(merge(p.x, e4m3_value(skip, 0u), s.x), merge(p.y, e4m3_value(skip, 8u), s.y),
                  merge(p.z, e4m3_value(skip, 16u), s.z), merge(p.w, e4m3_value(skip, 24u), s.w));
    out_codes[i] = e4m3_pack(r.x, r.y, r.z, r.w);
#if OUT_HALF
    out_halves[i] = uvec2(half_pack(r.x, r.y), half_pack(r.z, r.w));
#endif
}
