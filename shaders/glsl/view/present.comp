// Presentation: the two sides of a comparison, placed into a picture of the window's size.
// Up to two panels; each shows one source (a side, or the difference of both), clipped to a rectangle of the window. A
// wipe is two panels with one origin, side by side is two panels with two origins; the host decides (window::layout).
// The space around the image is grey. Colours are blended as they are encoded: this is a picture of the two images, not
// light.
#version 460

layout(local_size_x = 16, local_size_y = 8) in;

// Whether magnified pixels get borders of one window pixel, which costs four reads instead of one.
layout(constant_id = 0) const bool SMOOTH = true;
// What panels may show. A CPU device computes every branch for every pixel, so that the plain cases are kept plain:
// 0: sides of the space's size; 1: their differences and the original, too; 2: sides of any sizes.
layout(constant_id = 1) const uint KIND = 2;

layout(binding = 0, std430) readonly buffer Side0 { uint side0[]; };   // RGBA8, size0.x * size0.y
layout(binding = 1, std430) readonly buffer Side1 { uint side1[]; };
layout(binding = 2, rgba8) writeonly uniform image2D target;
layout(binding = 3, std430) readonly buffer Original { uint original[]; };    // RGBA8 of the space
layout(binding = 4, std430) readonly buffer Perceived { float perceived[]; };  // FLIP of the space, 0 to 1

layout(push_constant) uniform Push {
    uvec2 window;
    uvec2 space;         // the size at which the sides meet
    uvec2 size0;
    uvec2 size1;
    ivec4 clip0;         // left, top, right, bottom in window pixels; right and bottom are outside
    ivec4 clip1;
    vec2 origin0;        // window position of the image's corner
    vec2 origin1;
    float scale;         // window pixels per pixel of the space
    float divider;       // window x or y of the wipe's line; negative: none
    uint which0;         // what panel 0 shows, see below
    uint which1;
    uint horizontal;     // whether the wipe's line runs from left to right
    float gain;          // factor of differences
};

#define PICTURE0 side0
#define PICTURE1 side1
#define SPACE space
#define SIZE0 size0
#define SIZE1 size1

#include "colors.glsl"
#include "pictures.glsl"

// Sources (window::layout::Source).
const uint ABSOLUTE = 2, SIGNED = 3, FLIP = 4, ORIGINAL = 5;

const vec3 BACKGROUND = vec3(0.086);
const int MAX_TAPS = 8;     // per axis, when the image is shown smaller than it is

// Size of the grid of pixels that a source has.
uvec2 extent_of(uint which) { return which < ABSOLUTE ? side_size(which) : space; }

// A side at a pixel of the space.
vec3 side_seen(uint side, ivec2 at) { return KIND == 2u ? side_at(side, at) : side_texel(side, at); }

vec3 texel(uint which, ivec2 at) {
    if (KIND == 0u || which < ABSOLUTE) return side_texel(which, at);
    ivec2 p = clamp(at, ivec2(0), ivec2(space) - 1);
    uint i = uint(p.y) * space.x + uint(p.x);
    if (which == FLIP) return heat(perceived[i]);
    if (which == ORIGINAL) return unpackUnorm4x8(original[i]).rgb;
    vec3 difference = side_seen(1u, p) - side_seen(0u, p);
    vec3 shown = which == ABSOLUTE ? abs(difference) * gain : 0.5 + 0.5 * gain * difference;
    return clamp(shown, 0.0, 1.0);
}

// Larger than it is: every image pixel stays a sharp square, its borders are one window pixel wide.
vec3 magnified(uint which, vec2 p, vec2 side) {
    if (!SMOOTH) return texel(which, ivec2(p));
    vec2 q = p - 0.5;
    vec2 base = floor(q);
    vec2 f = clamp((q - base - 0.5) * side + 0.5, 0.0, 1.0);
    ivec2 i = ivec2(base);
    vec3 top = mix(texel(which, i), texel(which, i + ivec2(1, 0)), f.x);
    vec3 bottom = mix(texel(which, i + ivec2(0, 1)), texel(which, i + ivec2(1, 1)), f.x);
    return mix(top, bottom, f.y);
}

// Smaller than it is: the mean over the rectangle that one window pixel covers.
vec3 minified(uint which, vec2 p, vec2 side, vec2 extent) {
    vec2 reach = 1.0 / side;
    vec2 lo = max(p - 0.5 * reach, vec2(0.0));
    vec2 hi = min(p + 0.5 * reach, extent);
    ivec2 first = ivec2(floor(lo));
    ivec2 last = max(ivec2(ceil(hi)) - 1, first);
    ivec2 stride = max((last - first) / MAX_TAPS + 1, ivec2(1));
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int y = first.y; y <= last.y; y += stride.y) {
        float wy = min(hi.y, float(y + 1)) - max(lo.y, float(y));
        for (int x = first.x; x <= last.x; x += stride.x) {
            float w = wy * (min(hi.x, float(x + 1)) - max(lo.x, float(x)));
            sum += w * texel(which, ivec2(x, y));
            weights += w;
        }
    }
    return weights > 0.0 ? sum / weights : texel(which, first);
}

bool inside(ivec2 p, ivec4 clip) {
    return all(greaterThanEqual(p, clip.xy)) && all(lessThan(p, clip.zw));
}

vec3 panel(uint which, vec2 origin, vec2 at) {
    vec2 p = (at - origin) / scale;
    if (any(lessThan(p, vec2(0.0))) || any(greaterThanEqual(p, vec2(space)))) return BACKGROUND;
    uvec2 extent = KIND == 2u ? extent_of(which) : space;
    if (KIND < 2u || extent == space) return scale >= 1.0 ? magnified(which, p, vec2(scale)) : minified(which, p, vec2(scale), vec2(space));
    // A side of another size fills the same rectangle.
    vec2 ratio = vec2(extent) / vec2(space), side = scale / ratio;
    vec2 q = min(p * ratio, vec2(extent) - 1e-3);
    return all(greaterThanEqual(side, vec2(1.0))) ? magnified(which, q, side) : minified(which, q, side, vec2(extent));
}

void main() {
    uvec2 id = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(id, window))) return;
    ivec2 pixel = ivec2(id);
    vec2 at = vec2(id) + 0.5;
    vec3 color = BACKGROUND;
    bool first = inside(pixel, clip0);
    if (first || inside(pixel, clip1)) color = panel(first ? which0 : which1, first ? origin0 : origin1, at);

    if (divider >= 0.0) {
        bool across = horizontal != 0;
        vec2 lo = max(origin0, vec2(clip0.xy));
        vec2 hi = min(origin0 + vec2(space) * scale, vec2(clip1.zw));
        float along = across ? at.x : at.y;
        float d = abs((across ? at.y : at.x) - divider);
        bool beside = across ? along >= lo.x && along < hi.x : along >= lo.y && along < hi.y;
        if (beside && d < 2.5) color = d < 1.5 ? vec3(1.0) : vec3(0.0);
    }
    imageStore(target, pixel, vec4(color, 1.0));
}
