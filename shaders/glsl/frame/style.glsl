// Style presets and the custom style (network::frame::cpu::style; frame section 7).
#ifndef FRAME_STYLE_GLSL
#define FRAME_STYLE_GLSL

#include "math.glsl"
#include "push.glsl"

const float THIRD = uintBitsToFloat(0x3eaaaaabu);
const float SIXTH = uintBitsToFloat(0x3e2aaaabu);
const float TWO_THIRDS = uintBitsToFloat(0x3f2aaaabu);

float style_power(float c, float exponent) { return c <= 0.0 ? 0.0 : exact_pow(c, exponent); }

float style_grade(float value) {
    precise float exposed = saturate(value) * parameters.exposure;
    float x = saturate(exposed);
    precise float q = x * x;
    precise float slope = 3.0 - (x + x);
    float d = rn_fma(q, slope, -x);
    return style_power(saturate(rn_fma(parameters.contrast, d, x)), parameters.gamma);
}

// Hue in turns, saturation, lightness.
vec3 to_hsl(vec3 c) {
    float hi = max(max(c.r, c.g), c.b), lo = min(min(c.r, c.g), c.b);
    precise float sum = hi + lo;
    precise float light = sum * 0.5;
    if (hi <= lo) return vec3(0.0, 0.0, light);
    precise float delta = hi - lo;
    precise float room = (2.0 - hi) - lo;
    float sat = rn_div(delta, light > 0.5 ? room : sum);
    float scale = rn_div(1.0, delta);
    precise float difference = hi == c.r ? c.g - c.b : (hi == c.g ? c.b - c.r : c.r - c.g);
    float offset = hi == c.r ? (c.g < c.b ? 6.0 : 0.0) : (hi == c.g ? 2.0 : 4.0);
    return vec3(rn_div(rn_fma(difference, scale, offset), 6.0), sat, light);
}

float hsl_ramp(float v, float p, float q) {
    precise float above = v + 1.0, below = v - 1.0;
    float x = v < 0.0 ? above : (v > 1.0 ? below : v);
    if (x < SIXTH) {
        precise float slope = (q - p) * 6.0;
        return rn_fma(slope, x, p);
    }
    if (x < 0.5) return q;
    if (!(x < TWO_THIRDS)) return p;
    precise float rest = (TWO_THIRDS - x) * (q - p);
    return rn_fma(rest, 6.0, p);
}

vec3 from_hsl(float hue, float sat, float light) {
    if (sat <= 0.0) return vec3(light);
    precise float dark = light * (sat + 1.0);
    precise float total = light + sat;
    float q = light < 0.5 ? dark : rn_fma(-light, sat, total);
    precise float p = (light + light) - q;
    precise float red = hue + THIRD, blue = hue - THIRD;
    vec3 r = vec3(red, hue, blue);
    EACH(i, 3) r[i] = hsl_ramp(r[i], p, q);
    return r;
}

// The styled colour: graded, turned in hue and saturation, then with its saturation raised to a power.
vec3 style_apply(vec3 color) {
    EACH(i, 3) color[i] = style_grade(color[i]);
    EACH(step, 2) {
        vec3 hsl = to_hsl(color);
        if (step == 0) {
            precise float turned = hsl.x + parameters.hue;
            precise float hue = turned - floor(turned);
            precise float sat = hsl.y * parameters.saturation;
            hsl.xy = vec2(hue, sat);
        } else {
            hsl.y = style_power(hsl.y, parameters.vibrance);
        }
        color = from_hsl(hsl.x, saturate(hsl.y), hsl.z);
    }
    return saturate(color);
}

#endif
