// Entry of block 70: block 69's upsampled codes and block 0's codes, each scaled (numerics section 11). One invocation
// computes four of the 32 channels of one pixel. Bindings start at the block's first line and at half that line of the
// coarser grid.
#version 460

#include "linear.glsl"
#include "numerics.glsl"

layout(binding = 0, std430) readonly buffer Up { uint up_codes[]; };
layout(binding = 1, std430) readonly buffer Block0 { uint block0_codes[]; };
layout(binding = 2, std430) readonly buffer InputScale { uvec2 input_scale[]; };
layout(binding = 3, std430) readonly buffer AdapterScale { uvec2 adapter_scale[]; };
layout(binding = 4, std430) writeonly buffer OutHalf { uvec2 out_halves[]; };
layout(binding = 5, std430) writeonly buffer OutCode { uint out_codes[]; };

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
    uint up = up_codes[((y >> 1) * low_width + (x >> 1)) * quads + quad], own = block0_codes[i];
    uvec2 us = input_scale[quad], os = adapter_scale[quad];
    vec4 u = vec4(half_unpack(us.x), half_unpack(us.y)), o = vec4(half_unpack(os.x), half_unpack(os.y));
    vec4 r = vec4(blend(e4m3_value(up, 0u), u.x, e4m3_value(own, 0u), o.x),
                  blend(e4m3_value(up, 8u), u.y, e4m3_value(own, 8u), o.y),
                  blend(e4m3_value(up, 16u), u.z, e4m3_value(own, 16u), o.z),
                  blend(e4m3_value(up, 24u), u.w, e4m3_value(own, 24u), o.w));
    out_halves[i] = uvec2(half_pack(r.x, r.y), half_pack(r.z, r.w));
    out_codes[i] = e4m3_pack(r.x, r.y, r.z, r.w);
}
