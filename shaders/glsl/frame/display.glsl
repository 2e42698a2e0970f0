// Published colour to scene light to the screen (network::frame::cpu::display; frame section 8).
#ifndef FRAME_DISPLAY_GLSL
#define FRAME_DISPLAY_GLSL

#include "color.glsl"

// Product of the matrix with these three rows and a vector, each row summed from the left.
vec3 rows_times(vec3 r0, vec3 r1, vec3 r2, vec3 v) {
    precise vec3 a = vec3(r0.x, r1.x, r2.x) * v.x;
    precise vec3 b = vec3(r0.y, r1.y, r2.y) * v.y;
    precise vec3 c = vec3(r0.z, r1.z, r2.z) * v.z;
    precise vec3 sum = a + b + c;
    return sum;
}

float luminance(vec3 c) {
    precise float y = 0.212639 * c.r + 0.715169 * c.g + 0.072192 * c.b;
    return y;
}

vec3 to_oklab(vec3 c) {
    vec3 lms = rows_times(vec3(0.4122214708, 0.5363325363, 0.0514459929), vec3(0.2119034982, 0.6806995451, 0.1073969566),
                          vec3(0.0883024619, 0.2817188376, 0.6299787005), c);
    EACH(i, 3) lms[i] = exact_cube_root(lms[i]);
    return rows_times(vec3(0.2104542553, 0.7936177850, -0.0040720468), vec3(1.9779984951, -2.4285922050, 0.4505937099),
                      vec3(0.0259040371, 0.7827717662, -0.8086757660), lms);
}

vec3 from_oklab(vec3 c) {
    vec3 lms = rows_times(vec3(1.0, 0.3963377774, 0.2158037573), vec3(1.0, -0.1055613458, -0.0638541728),
                          vec3(1.0, -0.0894841775, -1.2914855480), c);
    precise vec3 cube = lms * lms * lms;
    return rows_times(vec3(4.0767416621, -3.3077115913, 0.2309699292), vec3(-1.2684380046, 2.6097574011, -0.3413193965),
                      vec3(-0.0041960863, -0.7034186147, 1.7076147010), cube);
}

float chroma(vec3 lab) {
    precise float square = lab.y * lab.y + lab.z * lab.z;
    return rn_sqrt(square);
}

// Lightness and chroma of a with the hue of b, without colours outside the AP1 gamut.
vec3 hue_transfer(vec3 a_rgb, vec3 b_rgb) {
    vec3 a = vec3(0.0), b = a_rgb;
    float of_a = 0.0, of_b = 0.0;
    REPEAT(i, 2) {
        a = b;
        of_a = of_b;
        b = to_oklab(i == 0 ? a_rgb : b_rgb);
        of_b = chroma(b);
    }
    float scale = of_b == 0.0 ? 1.0 : rn_div(of_a, of_b);
    precise vec2 ab = b.yz * scale;
    vec3 rgb = from_oklab(vec3(a.x, ab));
    vec3 ap1 = rows_times(vec3(0.613097, 0.339523, 0.047379), vec3(0.070194, 0.916354, 0.013452),
                          vec3(0.020616, 0.109570, 0.869815), rgb);
    ap1 = vec3(ap1.x > 0.0 ? ap1.x : 0.0, ap1.y > 0.0 ? ap1.y : 0.0, ap1.z > 0.0 ? ap1.z : 0.0);
    return rows_times(vec3(1.705051, -0.621792, -0.083259), vec3(-0.130256, 1.140805, -0.010548),
                      vec3(-0.024003, -0.128969, 1.152972), ap1);
}

// Scene colour in units of display white.
vec3 display_relative(vec3 scene, float paper) { return rn_div(clean(scene), paper); }

// The scene colour that a published colour stands for; `original` is relative.
vec3 display_upgrade(vec3 original, vec3 proxy_code, vec3 published, float paper, float color_strength) {
    vec3 neural = srgb_decode(published);
    float y_original = luminance(original), y_neural = luminance(neural);
    vec3 up = original;
    if (!(y_neural <= 0.00001)) {
        float y_proxy = luminance(srgb_decode(proxy_code));
        precise float lifted = y_neural + (y_original - y_proxy);
        float ratio = y_original < y_proxy ? rn_div(y_original, max(y_proxy, 1e-6)) : rn_div(lifted, y_neural);
        precise vec3 scaled = neural * ratio;
        up = hue_transfer(scaled, neural);
    }
    float factor = 1.0;
    if (y_original != 0.0) {
        float f = rn_div(luminance(up), y_original);
        factor = f > 0.0 ? min(f, 4.0) : 0.0;
    }
    precise vec3 lum_only = original * factor;
    precise vec3 result = (lum_only + (up - lum_only) * color_strength) * paper;
    return result;
}

// The scene colour shown without the network, of the relative one.
vec3 display_original(vec3 original, float paper) {
    precise vec3 r = original * paper;
    return r;
}

float tone_curve(float c) {
    precise float above = c * (c + 0.0245786) - 0.000090537;
    precise float below = c * (0.983729 * c + 0.4329510) + 0.238081;
    return rn_div(above, below);
}

// Display code values 0..1 of a linear scene colour.
vec3 display_codes(vec3 scene) {
    vec3 c = rows_times(vec3(0.59719, 0.35458, 0.04823), vec3(0.07600, 0.90834, 0.01566), vec3(0.02840, 0.13383, 0.83777),
                        rn_div(scene, 0.6));
    EACH(i, 3) c[i] = tone_curve(c[i]);
    c = rows_times(vec3(1.60475, -0.53108, -0.07367), vec3(-0.10208, 1.10813, -0.00605), vec3(-0.00327, -0.07276, 1.07602),
                   c);
    return srgb_encode(c);
}

// Code values as RGBA8, alpha 255: floor(v * 255 + 0.5). Also the 8-bit form of a single image (frame section 6).
uint pack_codes(vec3 v) {
    precise vec3 scaled = saturate(v) * 255.0 + 0.5;
    uvec3 c = uvec3(scaled);  // positive, so that cutting off is floor
    return c.r | c.g << 8 | c.b << 16 | 0xff000000u;
}

#endif
