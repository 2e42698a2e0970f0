// 2x2 pool of a raw half (numerics section 11, network section 5). One invocation computes four channels of one pixel.
// Pixels without a full 2x2 source are +0. Bindings start at the block's first output line and at twice that source line.
#version 460

#include "linear.glsl"
#include "numerics.glsl"

layout(binding = 0, std430) readonly buffer Input { uvec2 input_halves[]; };
layout(binding = 1, std430) writeonly buffer Output { uint out_codes[]; };

layout(push_constant) uniform Push {
    uint width;          // of the output
    uint lines;          // output lines of this dispatch
    uint quads;          // channels / 4
    uint source_width;
    uint source_lines;   // source lines from the binding's start to the end of the image
};

void main() {
    uint i = linear_index();
    if (i >= width * lines * quads) return;
    uint pixel = i / quads, quad = i % quads;
    uint x = pixel % width * 2u, y = pixel / width * 2u;
    uint code = 0u;
    if (x + 1u < source_width && y + 1u < source_lines) {
        uint at = (y * source_width + x) * quads + quad, below = at + source_width * quads;
        uvec2 a = input_halves[at], b = input_halves[at + quads];
        uvec2 c = input_halves[below], d = input_halves[below + quads];
        vec4 p = vec4(half_unpack(a.x), half_unpack(a.y)), q = vec4(half_unpack(b.x), half_unpack(b.y));
        vec4 r = vec4(half_unpack(c.x), half_unpack(c.y)), s = vec4(half_unpack(d.x), half_unpack(d.y));
        code = e4m3_pack(pool(p.x, q.x, r.x, s.x), pool(p.y, q.y, r.y, s.y),
                         pool(p.z, q.z, r.z, s.z), pool(p.w, q.w, r.w, s.w));
    }
    out_codes[i] = code;
}
