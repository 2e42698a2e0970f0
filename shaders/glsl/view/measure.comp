// Sums over the pixels of a frame, for the viewer's numbers (engine::measure): how far the network's picture is from its
// input, and whether the input's parts look alive. A fixed number of workgroups shares the pixels; each writes its own
// sums, which the host adds up. Reads every pixel once and nothing twice.
#version 460

layout(local_size_x = 128) in;

layout(binding = 0, std430) readonly buffer Input { uint input_codes[]; };    // RGBA8
layout(binding = 1, std430) readonly buffer Neural { uint neural_codes[]; };  // RGBA8
layout(binding = 2, std430) readonly buffer Color { uvec2 color[]; };         // linear scene, four halves
layout(binding = 3, std430) readonly buffer Depth { float depth[]; };         // metres, 0 for no surface
layout(binding = 4, std430) readonly buffer Motion { uint motion[]; };        // uv to the previous frame, two halves
layout(binding = 5, std430) writeonly buffer Sums { uint sums[]; };           // WORDS a workgroup

layout(push_constant) uniform Push {
    uvec2 size;
    uint groups;
    uint moved;   // whether the camera has moved: then a surface without any motion was outside of the previous frame
};

const uint THREADS = 128u, ADDED = 7u, WORDS = 10u;
// Words: 0 changed pixels, 1 sum of the differences of all codes, 2 pixels that move, 3 pixels that are no number,
// 4 pixels without usable history, 5 pixels with a surface, 6 sum of log2 of the brightness (float),
// 7 largest difference, 8 least depth, 9 largest depth (bits of a positive float are in its order).
shared uint part[THREADS];
shared float part_float[THREADS];

bool no_number(uvec2 c) {
    bvec3 bad = equal(uvec3(c.x & 0x7c00u, (c.x >> 16) & 0x7c00u, c.y & 0x7c00u), uvec3(0x7c00u));
    return any(bad);
}

// What lies outside of the previous frame, or is no number.
bool unusable(uvec2 at, uint m, bool surface) {
    if ((m & 0x7c00u) == 0x7c00u || ((m >> 16) & 0x7c00u) == 0x7c00u) return true;
    if (surface && moved != 0u && (m & 0x7fff7fffu) == 0u) return true;
    vec2 from = (vec2(at) + 0.5) / vec2(size) + unpackHalf2x16(m);
    return any(lessThan(from, vec2(0.0))) || any(greaterThan(from, vec2(1.0)));
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint own[WORDS] = uint[WORDS](0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0x7f800000u, 0u);
    float light = 0.0;
    uint pixels = size.x * size.y;
    for (uint i = gl_WorkGroupID.x * THREADS + thread; i < pixels; i += groups * THREADS) {
        uint a = input_codes[i], b = neural_codes[i];
        for (uint c = 0u; c < 24u; c += 8u) {
            uint d = uint(abs(int((a >> c) & 0xffu) - int((b >> c) & 0xffu)));
            own[1] += d;
            own[7] = max(own[7], d);
        }
        own[0] += ((a ^ b) & 0xffffffu) != 0u ? 1u : 0u;
        uint m = motion[i];
        own[2] += (m & 0x7fff7fffu) != 0u ? 1u : 0u;
        float z = depth[i];
        bool surface = z > 0.0;
        uvec2 at = uvec2(i % size.x, i / size.x);
        own[4] += unusable(at, m, surface) ? 1u : 0u;
        uvec2 c = color[i];
        if (no_number(c)) {
            own[3] += 1u;
        } else {
            vec3 linear = vec3(unpackHalf2x16(c.x), unpackHalf2x16(c.y).x);
            light += log2(max(dot(linear, vec3(0.2126, 0.7152, 0.0722)), 1.0 / 4096.0));
        }
        if (surface) {
            own[5] += 1u;
            own[8] = min(own[8], floatBitsToUint(z));
            own[9] = max(own[9], floatBitsToUint(z));
        }
    }
    for (uint word = 0u; word < WORDS; word++) {
        part[thread] = own[word];
        part_float[thread] = light;
        barrier();
        for (uint half_way = THREADS / 2u; half_way > 0u; half_way /= 2u) {
            if (thread < half_way) {
                uint x = part[thread], y = part[thread + half_way];
                part[thread] = word < ADDED ? x + y : word == 8u ? min(x, y) : max(x, y);
                part_float[thread] += part_float[thread + half_way];
            }
            barrier();
        }
        if (thread == 0u) {
            sums[gl_WorkGroupID.x * WORDS + word] = word == 6u ? floatBitsToUint(part_float[0]) : part[0];
        }
        barrier();
    }
}
