// Makes the maps of an environment. sky: the picture of the built-in sky. halve: a map of half
// the size. glossy: what a surface of some roughness mirrors. diffuse: what a white matte surface
// reflects, by its normal.
#version 460
#pragma variant sky SKY
#pragma variant halve HALVE
#pragma variant glossy GLOSSY
#pragma variant diffuse DIFFUSE

#define ENVIRONMENT_BINDING 0
#define ENVIRONMENT_ACCESS
#include "scene_environment.glsl"
#include "scene_noise.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(push_constant) uniform Push {
    uvec2 size;            // of the map that is made
    uint target;           // its first texel
    uint source;           // first texel of the map that is read
    uvec2 source_size;
    uint levels;           // that many maps follow each other there, each half as large
    float roughness;
    vec4 zenith;
    vec4 horizon;
    vec4 bounce;
    vec4 sun_direction;
    vec4 sun_radiance;
} push;

#ifdef SKY
vec3 texel_of(uvec2 at) {
    vec3 d = environment_direction((vec2(at) + 0.5) / vec2(push.size));
    vec3 above = mix(push.horizon.rgb, push.zenith.rgb, 1.0 - exp(-3.2 * max(d.y, 0.0)));
    vec3 c = mix(above, push.bounce.rgb, 1.0 - exp(-14.0 * max(-d.y, 0.0)));
    float to_sun = max(dot(d, push.sun_direction.xyz), 0.0);
    float glow = 0.35 * pow(to_sun, 8.0) + 0.6 * pow(to_sun, 90.0);
    return c + push.sun_radiance.rgb * (0.5 * glow * exp(-14.0 * max(-d.y, 0.0)));
}
#endif

#ifdef HALVE
// The first map is the picture itself, with everything bright.
vec3 source_at(uvec2 at) {
    at = min(at, push.source_size - 1u);
    vec3 c = environment_texel(push.source + at.y * push.source_size.x + at.x);
    return push.levels == 0u ? environment_smooth(c) : c;
}
vec3 texel_of(uvec2 at) {
    uvec2 p = 2u * at;
    return 0.25 * (source_at(p) + source_at(p + uvec2(1u, 0u)) + source_at(p + uvec2(0u, 1u)) + source_at(p + 1u));
}
#endif

#ifdef GLOSSY
const uint SAMPLES = 48u;

vec3 halved_at(uint level, vec2 uv) {
    uint start = push.source;
    uvec2 size = push.source_size;
    for (uint l = 0u; l < level; l++) {
        start += size.x * size.y;
        size = max(size / 2u, uvec2(1u));
    }
    return environment_sample(start, size, uv, false);
}

// Normal, view and mirrored direction are taken as one. Half vectors follow the GGX distribution;
// each sample reads a map whose texels are about as large as the part of the lobe it stands for.
vec3 texel_of(uvec2 at) {
    vec3 n = environment_direction_of(at, push.size);
    vec3 u, v;
    basis(n, u, v);
    float a = push.roughness * push.roughness, a2 = a * a;
    float texel_angle = 4.0 * ENVIRONMENT_PI / float(push.source_size.x * push.source_size.y);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (uint i = 0u; i < SAMPLES; i++) {
        vec2 r = vec2((float(i) + 0.5) / float(SAMPLES), unit(i * 2654435769u));
        float c2 = (1.0 - r.x) / (1.0 + (a2 - 1.0) * r.x);
        float c = sqrt(c2), s = sqrt(1.0 - c2), around = 6.2831853 * r.y;
        vec3 h = s * (cos(around) * u + sin(around) * v) + c * n;
        vec3 l = 2.0 * dot(n, h) * h - n;
        float nl = dot(n, l);
        if (nl <= 0.0) continue;
        float q = c2 * (a2 - 1.0) + 1.0;
        float density = a2 / (4.0 * ENVIRONMENT_PI * q * q);
        float level = 0.5 * log2(1.0 / (float(SAMPLES) * density * texel_angle)) + 1.0;
        uint whole = uint(clamp(level + 0.5, 0.0, float(push.levels - 1u)));
        sum += nl * halved_at(whole, environment_uv(l));
        weights += nl;
    }
    return sum / max(weights, 1e-6);
}
#endif

#ifdef DIFFUSE
vec3 texel_of(uvec2 at) {
    vec3 n = environment_direction_of(at, push.size);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (uint y = 0u; y < push.source_size.y; y++) {
        float row = sin((float(y) + 0.5) / float(push.source_size.y) * ENVIRONMENT_PI);
        for (uint x = 0u; x < push.source_size.x; x++) {
            vec3 d = environment_direction((vec2(x, y) + 0.5) / vec2(push.source_size));
            float weight = row * max(dot(n, d), 0.0);
            sum += weight * environment_texel(push.source + y * push.source_size.x + x);
            weights += weight;
        }
    }
    return sum / max(weights, 1e-6);
}
#endif

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(at, push.size))) return;
    environment[push.target + at.y * push.size.x + at.x] = environment_packed(texel_of(at));
}
