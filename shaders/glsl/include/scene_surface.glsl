// Normals, texture coordinates and procedural textures. One texture sample a ray, unfiltered.
// Needs scene_data.glsl, scene_noise.glsl and scene_shapes.glsl.
#ifndef SCENE_SURFACE_GLSL
#define SCENE_SURFACE_GLSL

const float PATTERN_PLAIN = 0.0;
const float PATTERN_CHECKER = 1.0;
const float PATTERN_TILES = 2.0;
const float PATTERN_BRICKS = 3.0;
const float PATTERN_WOOD = 4.0;
const float PATTERN_STRIPES = 5.0;
const float PATTERN_SPECKLE = 6.0;
const float PATTERN_LINES = 7.0;
const float PATTERN_DOTS = 8.0;
const float PATTERN_PRINT = 9.0;
const float PATTERN_WINDOWS = 10.0;

struct Surface {
    vec3 position;     // world
    vec3 normal;       // world, towards the viewer
    vec3 local;        // position in the instance's own space
    vec3 albedo;
    vec3 emission;
    float roughness;
    float reflectance;
    float metallic;
#ifdef MODEL
    vec3 face;         // world, normal of the triangle, towards the viewer
    vec3 now;          // world, from the local position
    vec3 before;       // the same one frame ago
    float occlusion;   // part of the surroundings' light that arrives
    bool unlit;
    uint id;
#endif
};

// Local normal, pointing outwards (bands and meshes: either side), and texture coordinates in metres.
void shape_frame(Primitive p, vec3 local, out vec3 normal, out vec2 uv) {
    vec3 q = local - p.a.xyz;
    uint shape = p.meta.x;
    if (shape == SHAPE_GROUND) {
        normal = vec3(0.0, 1.0, 0.0);
        uv = local.xz;
    } else if (shape == SHAPE_BOX) {
        vec3 n = q / p.b.xyz;
        vec3 m = abs(n);
        bool x = m.x >= m.y && m.x >= m.z;
        bool y = !x && m.y >= m.z;
        normal = sign(n) * vec3(x, y, !x && !y);
        uv = x ? q.zy : (y ? q.xz : q.xy);
    } else if (shape == SHAPE_LATTICE) {
        normal = vec3(0.0, 0.0, 1.0);
        uv = q.xy;
    } else {
        // Round shapes about an axis: angle and height, or the flat cap's plane.
        bool sphere = shape == SHAPE_SPHERE, rod = !sphere && shape != SHAPE_BAND;
        vec3 axis = sphere ? vec3(0.0, 1.0, 0.0) : (rod ? p.b.xyz - p.a.xyz : p.b.xyz);
        float len = length(axis);
        axis /= len;
        float y = dot(q, axis);
        vec3 u, v;
        basis(axis, u, v);
        vec2 plane = vec2(dot(q, u), dot(q, v));
        bool cap = shape == SHAPE_CYLINDER && min(abs(y), abs(y - len)) < abs(length(plane) - p.a.w);
        float centre = sphere ? 0.0 : (rod ? clamp(y, 0.0, len) : y);
        normal = cap ? (y > 0.5 * len ? axis : -axis) : normalize(q - axis * centre);
        float height = sphere ? asin(clamp(normal.y, -1.0, 1.0)) * p.a.w : y;
        uv = cap ? plane : vec2(atan(plane.y, plane.x) * p.a.w, height);
    }
}

// 0 between lines, 1 on a line of the given width (a fraction of the period) at each integer.
float line(float x, float width) {
    return abs(fract(x + 0.5) - 0.5) < width * 0.5 ? 1.0 : 0.0;
}

// Rows of words of random length.
float print(vec2 q) {
    float row = floor(q.y);
    float inside = step(0.28, fract(q.y)) * step(fract(q.y), 0.8);
    float letter = floor(q.x * 2.6);
    float word = step(0.18, unit(hash2(uint(int(letter)), uint(int(row)) + 77u)));
    float stroke = step(0.3, unit(hash2(uint(int(floor(q.x * 10.0))), uint(int(floor(q.y * 5.0))))));
    return inside * word * stroke;
}

// Every pattern is made of the same three numbers: a noise, the tone of the cell and a mask
// between the two colours. So the costly ones are computed once, whatever the pattern.
vec3 albedo_at(Material m, vec2 uv) {
    float kind = m.gloss.z;
    vec2 q = uv / m.base.w;
    float k = m.second.w;
    if (kind == PATTERN_BRICKS) {
        q.y *= 3.0;
        q.x += 0.5 * floor(q.y);
    }
    bool wood = kind == PATTERN_WOOD;
    // A board of wood is a row; its grain runs along x.
    vec2 cell = wood ? vec2(0.0, floor(q.y)) : floor(q);
    float tone = lattice_value(ivec2(cell));
    vec2 grain = kind == PATTERN_SPECKLE ? q : q * 9.0;
    if (wood) grain = vec2(q.x * 0.6 + 40.0 * tone, q.y * 9.0);
    float noise = rough_noise(grain);

    vec3 a = m.base.rgb;
    float mask = 0.0;
    vec2 f = q - floor(q);
    if (kind == PATTERN_CHECKER) {
        mask = mod(cell.x + cell.y, 2.0);
    } else if (kind == PATTERN_TILES || kind == PATTERN_BRICKS) {
        float height = kind == PATTERN_BRICKS ? 2.5 * k : k;
        mask = max(line(q.x, k), line(q.y, height));
        a *= (0.72 + 0.36 * tone) * (0.8 + 0.4 * noise);
    } else if (wood) {
        mask = 0.65 * noise * (0.5 + 0.5 * sin(40.0 * noise));
        a *= (0.8 + 0.4 * tone) * (1.0 - 0.75 * line(q.y, k));
    } else if (kind == PATTERN_STRIPES) {
        mask = step(k, f.x);
    } else if (kind == PATTERN_SPECKLE) {
        mask = mix(noise, tone * 0.3 + 0.35, 1.0 - k);
    } else if (kind == PATTERN_LINES) {
        mask = max(line(q.x, k), line(q.y, k));
    } else if (kind == PATTERN_DOTS) {
        mask = 1.0 - step(k, length(f - 0.5));
    } else if (kind == PATTERN_PRINT) {
        mask = print(q);
    } else if (kind == PATTERN_WINDOWS) {
        bool pane = f.x > 0.2 && f.x < 0.8 && f.y > 0.25 && f.y < 0.8;
        if (pane) a = m.second.rgb * (0.4 + 1.2 * tone);
    }
    return mix(a, m.second.rgb, mask);
}

Surface surface_at(Hit hit, vec3 o, vec3 d) {
    Surface s;
    Primitive p = primitives[hit.primitive];
    vec4 now[3] = instances[hit.instance].now;
    Material m = materials[p.meta.y];
    s.position = o + d * hit.t;
    s.local = to_local_point(now, s.position);
    vec3 normal;
    vec2 uv;
    shape_frame(p, s.local, normal, uv);
    s.normal = to_world_direction(now, normal);
    if (dot(s.normal, d) > 0.0) s.normal = -s.normal;
    s.albedo = albedo_at(m, uv);
    s.emission = m.emission.rgb;
    s.metallic = m.emission.w;
    s.roughness = m.gloss.x;
    s.reflectance = m.gloss.y;
    return s;
}

#endif
