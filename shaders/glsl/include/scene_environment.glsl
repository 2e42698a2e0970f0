// Maps of the light from all around: rows of radiance by direction, two words (four halves) a texel.
// Needs ENVIRONMENT_BINDING and ENVIRONMENT_ACCESS. Mirrors renderer::surround.
#ifndef SCENE_ENVIRONMENT_GLSL
#define SCENE_ENVIRONMENT_GLSL

layout(binding = ENVIRONMENT_BINDING, std430) ENVIRONMENT_ACCESS buffer EnvironmentBlock { uvec2 environment[]; };

const float ENVIRONMENT_PI = 3.14159265;
const float ENVIRONMENT_MAX = 60000.0;

// Sizes of the maps that are the same for every environment.
const uvec2 ENVIRONMENT_GLOSSY = uvec2(128u, 64u);
const uint ENVIRONMENT_GLOSSY_LEVELS = 6u;
const uvec2 ENVIRONMENT_DIFFUSE = uvec2(32u, 16u);
const uvec2 ENVIRONMENT_BRIGHT = uvec2(256u, 128u);

// Parts of the buffer, in texels.
uvec2 environment_size() { return environment[0]; }
uint environment_picture() { return environment[1].x; }
// For roughness 1/6, 2/6, ..., 1.
uint environment_glossy(uint level) { return environment[1].y + level * ENVIRONMENT_GLOSSY.x * ENVIRONMENT_GLOSSY.y; }
uint environment_diffuse() { return environment[2].x; }
// What bright parts give unshadowed surfaces, their cells and the alias table; 0 where nothing is bright.
uint environment_bright_diffuse() { return environment[2].y; }
uint environment_bright() { return environment[3].x; }
uint environment_alias() { return environment[3].y; }
// Luminance up to which light is smooth.
float environment_limit() { return uintBitsToFloat(environment[4].x); }

vec3 environment_texel(uint at) {
    uvec2 t = environment[at];
    return vec3(unpackHalf2x16(t.x), unpackHalf2x16(t.y).x);
}

uvec2 environment_packed(vec3 c) {
    c = clamp(c, vec3(0.0), vec3(ENVIRONMENT_MAX));
    return uvec2(packHalf2x16(c.rg), packHalf2x16(vec2(c.b, 1.0)));
}

// The middle of the picture lies at -z, its left quarter at -x.
vec2 environment_uv(vec3 d) {
    return vec2(atan(d.x, -d.z) / (2.0 * ENVIRONMENT_PI) + 0.5, acos(clamp(d.y, -1.0, 1.0)) / ENVIRONMENT_PI);
}

vec3 environment_direction(vec2 uv) {
    float around = (uv.x - 0.5) * 2.0 * ENVIRONMENT_PI, down = uv.y * ENVIRONMENT_PI;
    return vec3(sin(down) * sin(around), cos(down), -sin(down) * cos(around));
}

// Direction of a texel of a map that is made of the picture. Its first and last rows are the poles
// themselves: what lies flat has its normal there.
vec3 environment_direction_of(uvec2 at, uvec2 size) {
    return environment_direction(vec2((float(at.x) + 0.5) / float(size.x), float(at.y) / float(size.y - 1u)));
}

// The mix of the four nearest texels of the picture, or of a map made of it.
vec3 environment_sample(uint start, uvec2 size, vec2 uv, bool is_map) {
    vec2 p = uv * vec2(size) - 0.5;
    if (is_map) p.y = uv.y * float(size.y - 1u);
    vec2 cell = floor(p), f = p - cell;
    uint x0 = uint(int(cell.x) + int(size.x)) % size.x, x1 = (x0 + 1u) % size.x;
    uint y0 = uint(clamp(int(cell.y), 0, int(size.y) - 1));
    uint y1 = uint(clamp(int(cell.y) + 1, 0, int(size.y) - 1));
    vec3 above = mix(environment_texel(start + y0 * size.x + x0), environment_texel(start + y0 * size.x + x1), f.x);
    vec3 below = mix(environment_texel(start + y1 * size.x + x0), environment_texel(start + y1 * size.x + x1), f.x);
    return mix(above, below, f.y);
}

// Without what is bright enough to be a light of its own.
vec3 environment_smooth(vec3 c) {
    float l = dot(c, vec3(0.2126, 0.7152, 0.0722));
    return c * min(1.0, environment_limit() / max(l, 1e-6));
}

#endif
