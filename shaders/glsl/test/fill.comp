// Test shader of the gpu crate: data[i] = value + i, for i < count.
#version 460

layout(local_size_x_id = 0) in;
layout(local_size_x = 64) in;

#include "test.glsl"

layout(binding = 0, std430) writeonly buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint count; uint value; };

void main() {
    uint i = linear_index();
    if (i < count) data[i] = value + i;
}
