// A buffer of the network's frame, placed into a picture of the window's size: one panel, the same zoom and pan as the
// compare modes. The views and their scales are those of window::debug_view. The buffers are the ones that the frame
// passes and the network used, or copies of them; nothing is computed again but the decoding of a stored number.
#version 460

layout(local_size_x = 16, local_size_y = 8) in;

layout(constant_id = 0) const bool SMOOTH = true;
// Which view (window::debug_view::DebugView). A pipeline for each: a CPU device computes every branch for every pixel.
layout(constant_id = 1) const uint VIEW = 0;

layout(binding = 0, std430) readonly buffer Color { uvec2 color[]; };         // RGBA halves, linear
layout(binding = 1, std430) readonly buffer Depth { float depth[]; };         // metres, 0 for no surface
layout(binding = 2, std430) readonly buffer Motion { uint motion[]; };        // two halves, uv units
layout(binding = 3, std430) readonly buffer Proxy { uvec2 proxies[]; };       // RGBA halves, code values
layout(binding = 4, std430) readonly buffer Features { uvec4 features[]; };   // 16 halves a field pixel
layout(binding = 5, std430) readonly buffer Head { uvec2 head[]; };           // 4 halves a field pixel
layout(binding = 6, rgba8) writeonly uniform image2D target;

layout(push_constant) uniform Push {
    uvec2 window;
    uvec2 valid;
    uvec2 field;
    ivec2 shift;         // of the window grid, in field pixels
    ivec4 clip;
    vec2 origin;
    ivec2 grid_end;
    float scale;         // window pixels per pixel
    uint lane;           // noise lane
    uint cell;           // side of a window of the grid, in field pixels
    float amount;        // exposure factor, far end, full motion, or gain
    float blend_scale;   // cap of the history's weight; 0 where the history was not valid
    float arrow_cell;    // window pixels of a cell of the arrows; 0: no arrows
    uint missing;        // whether there is nothing to show
};

#include "../frame/math.glsl"
#include "colors.glsl"

const uint HDR = 0, PROXY = 1, DEPTH = 2, MOTION = 3, HISTORY = 4, RESIDUAL = 5, WEIGHT = 6, FIELD = 7, NOISE = 8;
const vec3 BACKGROUND = vec3(0.086);
const vec3 NO_SURFACE = vec3(0.10, 0.12, 0.20);
const float NEAR = 0.5;        // metres
const float NOISE_RANGE = 4.0; // standard deviations
const int MAX_TAPS = 8;

uvec2 space() { return VIEW >= FIELD ? field : valid; }

vec3 halves(uvec2 words) { return vec3(half_unpack(words.x), half_to_f32(words.y & 0xffffu)); }

// Motion of a valid pixel, in pixels.
vec2 motion_at(ivec2 at) {
    ivec2 p = clamp(at, ivec2(0), ivec2(valid) - 1);
    return half_unpack(motion[p.y * int(valid.x) + p.x]) * vec2(valid);
}

// A colour as the network takes it, back as a code value.
vec3 uncentred(vec3 v) { return clamp(v * 8.0 + 0.5, 0.0, 1.0); }

vec3 encode(vec3 v) {
    v = clamp(v, 0.0, 1.0);
    return mix(12.92 * v, 1.055 * pow(max(v, vec3(1e-8)), vec3(1.0 / 2.4)) - 0.055, greaterThan(v, vec3(0.0031308)));
}

vec3 texel(ivec2 at) {
    uvec2 extent = space();
    uvec2 p = uvec2(clamp(at, ivec2(0), ivec2(extent) - 1));
    uint i = p.y * valid.x + p.x, f = p.y * field.x + p.x;
    switch (VIEW) {
        case HDR: return encode(halves(color[i]) * amount);
        case PROXY: return clamp(halves(proxies[i]), 0.0, 1.0);
        case DEPTH: {
            float d = depth[i];
            return d > 0.0 ? heat(1.0 - log(max(d, NEAR) / NEAR) / log(amount / NEAR)) : NO_SURFACE;
        }
        case MOTION: return wheel(motion_at(ivec2(p)) / amount);
        case HISTORY: {
            uvec4 low = features[2u * f], high = features[2u * f + 1u];
            return uncentred(vec3(half_to_f32(low.w >> 16), half_unpack(high.x)));
        }
        case RESIDUAL: return clamp(0.5 + 0.5 * amount * 0.25 * halves(head[f]), 0.0, 1.0);
        case WEIGHT: {
            float logit = half_to_f32(head[f].y >> 16);
            return heat(clamp(blend_scale / (1.0 + exp(-logit)), 0.0, 1.0));
        }
        case FIELD: {
            uvec4 low = features[2u * f];
            vec3 now = uncentred(vec3(half_unpack(low.z), half_to_f32(low.w & 0xffffu)));
            // The mirrored border is dimmed.
            return all(lessThan(p, valid)) ? now : 0.45 * now;
        }
        default: {
            uvec4 low = features[2u * f];
            vec3 noise = vec3(half_unpack(low.x), half_to_f32(low.y & 0xffffu));
            return vec3(clamp(0.5 + 0.5 * noise[min(lane, 2u)] / NOISE_RANGE, 0.0, 1.0));
        }
    }
}

vec3 magnified(vec2 p) {
    if (!SMOOTH) return texel(ivec2(p));
    vec2 q = p - 0.5;
    vec2 base = floor(q);
    vec2 f = clamp((q - base - 0.5) * scale + 0.5, 0.0, 1.0);
    ivec2 i = ivec2(base);
    vec3 top = mix(texel(i), texel(i + ivec2(1, 0)), f.x);
    vec3 bottom = mix(texel(i + ivec2(0, 1)), texel(i + ivec2(1, 1)), f.x);
    return mix(top, bottom, f.y);
}

vec3 minified(vec2 p) {
    float reach = 1.0 / scale;
    vec2 lo = max(p - 0.5 * reach, vec2(0.0));
    vec2 hi = min(p + 0.5 * reach, vec2(space()));
    ivec2 first = ivec2(floor(lo));
    ivec2 last = max(ivec2(ceil(hi)) - 1, first);
    ivec2 stride = max((last - first) / MAX_TAPS + 1, ivec2(1));
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int y = first.y; y <= last.y; y += stride.y) {
        float wy = min(hi.y, float(y + 1)) - max(lo.y, float(y));
        for (int x = first.x; x <= last.x; x += stride.x) {
            float w = wy * (min(hi.x, float(x + 1)) - max(lo.x, float(x)));
            sum += w * texel(ivec2(x, y));
            weights += w;
        }
    }
    return weights > 0.0 ? sum / weights : texel(first);
}

// Distance of a point from a line between two others.
float from_segment(vec2 p, vec2 a, vec2 b) {
    vec2 along = b - a;
    float t = clamp(dot(p - a, along) / max(dot(along, along), 1e-6), 0.0, 1.0);
    return distance(p, a + t * along);
}

// How far inside an arrow a window position is: 0 outside, 1 its border, 2 its inside. Arrows stand on a grid that is tied
// to the image, and are as long as a cell where the motion is full.
uint arrow(vec2 at) {
    float side = max(round(arrow_cell / scale), 1.0);   // image pixels
    vec2 cell = floor((at - origin) / scale / side);
    uint found = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            vec2 middle = (cell + vec2(dx, dy) + 0.5) * side;
            if (any(lessThan(middle, vec2(0.0))) || any(greaterThanEqual(middle, vec2(valid)))) continue;
            vec2 m = motion_at(ivec2(middle)) / amount;
            float size = length(m);
            if (size < 0.02) continue;
            vec2 way = m / size, foot = origin + (floor(middle) + 0.5) * scale;
            vec2 tip = foot + way * min(size, 1.0) * side * scale;
            vec2 across = vec2(-way.y, way.x);
            float barb = min(6.0, 0.4 * distance(foot, tip));
            float d = from_segment(at, foot, tip);
            d = min(d, from_segment(at, tip, tip - barb * (way + 0.6 * across)));
            d = min(d, from_segment(at, tip, tip - barb * (way - 0.6 * across)));
            found = max(found, d < 0.75 ? 2u : d < 1.75 ? 1u : 0u);
        }
    }
    return found;
}

// Lines of the window grid, one window pixel wide, and the end of the image.
vec3 with_grid(vec3 shown, vec2 at) {
    vec2 p = (at - origin) / scale;
    vec2 pixel = vec2(1.0 / scale);
    if (all(lessThan(p, vec2(grid_end)))) {
        vec2 phase = mod(p + vec2(shift), float(cell));
        if (float(cell) * scale >= 4.0 && any(lessThan(phase, pixel))) shown = mix(shown, vec3(0.25, 0.9, 1.0), 0.65);
    }
    vec2 off = abs(p - vec2(valid));
    bool edge = (off.x < pixel.x && p.y < float(valid.y)) || (off.y < pixel.y && p.x < float(valid.x));
    return edge ? vec3(1.0, 0.75, 0.1) : shown;
}

vec3 placed(vec2 at) {
    vec2 p = (at - origin) / scale;
    if (missing != 0u || any(lessThan(p, vec2(0.0))) || any(greaterThanEqual(p, vec2(space())))) return BACKGROUND;
    vec3 shown = scale >= 1.0 ? magnified(p) : minified(p);
    if (VIEW == FIELD) shown = with_grid(shown, at);
    if (VIEW == MOTION && arrow_cell > 0.0) {
        uint part = arrow(at);
        if (part > 0u) shown = vec3(part == 2u ? 1.0 : 0.0);
    }
    return shown;
}

void main() {
    uvec2 id = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(id, window))) return;
    ivec2 pixel = ivec2(id);
    bool inside = all(greaterThanEqual(pixel, clip.xy)) && all(lessThan(pixel, clip.zw));
    imageStore(target, pixel, vec4(inside ? placed(vec2(id) + 0.5) : BACKGROUND, 1.0));
}
