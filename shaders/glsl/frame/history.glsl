// The mirrored border and the reprojected history (network::frame::cpu::sampling; frame sections 2 and 5).
// The including shader defines HISTORY (uvec2[], RGBA halves) and MOTION (uint[], two halves) as names of its buffers.
#ifndef FRAME_HISTORY_GLSL
#define FRAME_HISTORY_GLSL

#include "color.glsl"
#include "push.glsl"

uint mirror(uint i, uint n) {
    if (i < n) return i;
    if (n == 1u) return 0u;
    uint period = 2u * (n - 1u), r = i % period;
    return r < n ? r : period - r;
}

float limit(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

// A component of a motion vector; 0 where it is no finite number.
float motion_component(uint h) { return (h & 0x7c00u) == 0x7c00u ? 0.0 : half_to_f32(h); }

// Weights and tap positions, x and y.
struct Taps {
    vec2 w0, mid, w3;
    vec2 low, center, high;
};

Taps history_taps(uvec2 pixel, vec2 motion) {
    Taps t;
    EACH(i, 2) {
        float size = float(push.valid[i]);
        precise float middle = float(pixel[i]) + 0.5;
        float uv = rn_div(middle, size);
        precise float position = (motion[i] + uv) * size;
        precise float base = floor(position - 0.5) + 0.5;
        precise float f_wide = position - base;
        float f = saturate(f_wide);
        precise float f2 = f * f;
        precise float f3 = f * f2;
        precise float w0 = (f + f3) * -0.5 + f2;  // the product is exact, so this is fused
        precise float w1 = (f3 * 1.5 - f2 * 2.5) + 1.0;
        precise float w3 = (f3 - f2) * 0.5;
        precise float w2 = ((1.0 - w0) - w1) - w3;
        precise float mid = w1 + w2;
        precise float center = base + rn_div(w2, mid);
        precise float low = base - 1.0, high = base + 2.0, last = size - 0.5;
        t.w0[i] = w0;
        t.mid[i] = mid;
        t.w3[i] = w3;
        t.low[i] = limit(low, 0.5, last);
        t.center[i] = limit(center, 0.5, last);
        t.high[i] = limit(high, 0.5, last);
    }
    return t;
}

vec3 history_mix(vec3 a, vec3 b, float f) {
    precise float g = 1.0 - f;
    precise vec3 r = a * g + b * f;
    return r;
}

// Bilinear sample at a position in pixels, pixel centres at one half, edges clamped.
vec3 history_bilinear(vec2 position) {
    precise vec2 shifted = position - 0.5;
    vec2 first = floor(shifted);
    precise vec2 f = shifted - first;
    uvec2 a = uvec2(first), b = min(a + 1u, push.valid - 1u);
    vec3 rows[2];
    EACH(i, 2) {
        uint row = (i == 0 ? a.y : b.y) * push.valid.x;
        rows[i] = history_mix(unpack_color(HISTORY[row + a.x]), unpack_color(HISTORY[row + b.x]), f.x);
    }
    return history_mix(rows[0], rows[1], f.y);
}

// The reprojected history colour of a valid pixel: five taps of a Catmull-Rom filter, renormalised.
vec3 history_sample(uvec2 at) {
    uint motion = MOTION[at.y * push.valid.x + at.x];
    Taps t = history_taps(at, vec2(motion_component(motion & 0xffffu), motion_component(motion >> 16)));
    precise float a = t.w0.x * t.mid.y;
    precise float b = t.w0.y * t.mid.x;
    precise float c = t.mid.x * t.mid.y;
    precise float d = t.w3.y * t.mid.x;
    precise float e = t.w3.x * t.mid.y;
    // Top first: fma(top, b, 0) is the plain product that the sum starts from.
    vec2 position = vec2(t.center.x, t.low.y);
    float weight = b;
    vec3 sum = vec3(0.0);
    REPEAT(i, 5) {
        sum = rn_fma(history_bilinear(position), weight, sum);
        position = i == 0 ? vec2(t.low.x, t.center.y)
                 : i == 1 ? t.center
                 : i == 2 ? vec2(t.center.x, t.high.y)
                          : vec2(t.high.x, t.center.y);
        weight = i == 0 ? a : i == 1 ? c : i == 2 ? d : e;
    }
    precise float total = e + (d + (c + (a + b)));
    precise vec3 result = sum * rn_div(1.0, total);
    return result;
}

#endif
