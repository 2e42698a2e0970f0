// The two pictures that are compared, RGBA8 words. Each has its own size; the space is the size at which they meet.
// The including shader defines PICTURE0, PICTURE1 (uint[]), SPACE, SIZE0 and SIZE1 (uvec2).
#ifndef VIEW_PICTURES_GLSL
#define VIEW_PICTURES_GLSL

uvec2 side_size(uint side) { return side == 0u ? SIZE0 : SIZE1; }

// A pixel of a picture, its edges repeated.
vec3 side_texel(uint side, ivec2 at) {
    uvec2 size = side_size(side);
    uvec2 p = uvec2(clamp(at, ivec2(0), ivec2(size) - 1));
    uint i = p.y * size.x + p.x;
    return unpackUnorm4x8(side == 0u ? PICTURE0[i] : PICTURE1[i]).rgb;
}

// A picture at a pixel of the space: its own pixel where the sizes agree, else the nearest one, or the mean of those that
// lie in the space's pixel.
vec3 side_at(uint side, ivec2 at) {
    uvec2 size = side_size(side);
    if (size == SPACE) return side_texel(side, at);
    uvec2 p = uvec2(clamp(at, ivec2(0), ivec2(SPACE) - 1));
    uvec2 first = (p * size) / SPACE, last = max(((p + 1u) * size + SPACE - 1u) / SPACE, first + 1u) - 1u;
    if (all(lessThanEqual(size, SPACE))) first = last = ((2u * p + 1u) * size) / (2u * SPACE);
    last = min(last, first + 7u);
    vec3 sum = vec3(0.0);
    for (uint y = first.y; y <= last.y; y++) {
        for (uint x = first.x; x <= last.x; x++) sum += side_texel(side, ivec2(x, y));
    }
    uvec2 count = last - first + 1u;
    return sum / float(count.x * count.y);
}

#endif
