// Test shader of the gpu crate: dst[i] = a[i] OP (b[i] * FACTOR), on bytes packed in words
// through shared memory, with a specialized number of tile elements.
#version 460
#pragma variant add OP=+
#pragma variant sub OP=-
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x = 32, local_size_y = 2) in;
layout(constant_id = 3) const uint TILE = 64;

layout(binding = 0, std430) readonly buffer A { uint a[]; };
layout(binding = 1, std430) readonly buffer B { uint8_t b[]; };
layout(binding = 2, std430) writeonly buffer Dst { uint dst[]; };
layout(push_constant) uniform Push { uint count; };

shared uint tile[TILE];

void main() {
    uint i = gl_WorkGroupID.x * 64 + gl_LocalInvocationIndex;
    tile[gl_LocalInvocationIndex] = i < count ? uint(b[i]) : 0;
    barrier();
    if (i < count) dst[i] = a[i] OP tile[gl_LocalInvocationIndex];
}
