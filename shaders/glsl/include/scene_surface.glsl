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
};

// Local normal, pointing outwards (bands and meshes: either side), and texture coordinates in metres.
void shape_frame(Primitive p, vec3 local, out vec3 normal, out vec2 uv) {
    vec3 q = local - p.a.xyz;
    normal = vec3(0.0, 0.0, 1.0);
    uv = q.xy;
    switch (p.meta.x) {
    case SHAPE_GROUND:
        normal = vec3(0.0, 1.0, 0.0);
        uv = local.xz;
        break;
    case SHAPE_BOX: {
        vec3 n = q / p.b.xyz;
        vec3 m = abs(n);
        if (m.x >= m.y && m.x >= m.z) { normal = vec3(sign(n.x), 0.0, 0.0); uv = q.zy; }
        else if (m.y >= m.z) { normal = vec3(0.0, sign(n.y), 0.0); uv = q.xz; }
        else { normal = vec3(0.0, 0.0, sign(n.z)); uv = q.xy; }
        break;
    }
    case SHAPE_SPHERE: {
        normal = q / p.a.w;
        uv = vec2(atan(normal.z, normal.x), asin(clamp(normal.y, -1.0, 1.0))) * p.a.w;
        break;
    }
    case SHAPE_CAPSULE:
    case SHAPE_CYLINDER: {
        vec3 axis = p.b.xyz - p.a.xyz;
        float len = length(axis);
        axis /= len;
        float y = dot(q, axis);
        vec3 u, v;
        basis(axis, u, v);
        bool cap = p.meta.x == SHAPE_CYLINDER
            && min(abs(y), abs(y - len)) < abs(length(q - axis * y) - p.a.w);
        normal = cap ? (y > 0.5 * len ? axis : -axis) : normalize(q - axis * clamp(y, 0.0, len));
        uv = cap ? vec2(dot(q, u), dot(q, v)) : vec2(atan(dot(q, v), dot(q, u)) * p.a.w, y);
        break;
    }
    case SHAPE_BAND: {
        float y = dot(q, p.b.xyz);
        vec3 u, v;
        basis(p.b.xyz, u, v);
        normal = normalize(q - p.b.xyz * y);
        uv = vec2(atan(dot(q, v), dot(q, u)) * p.a.w, y);
        break;
    }
    default: break;
    }
}

// 0 between lines, 1 on a line of the given width (a fraction of the period) at each integer.
float line(float x, float width) {
    return abs(fract(x + 0.5) - 0.5) < width * 0.5 ? 1.0 : 0.0;
}

// Bricks and slabs: rows of cells with joints. shift: offset from one row to the next.
vec3 masonry(vec3 base, vec3 joint, vec2 cell, float shift, float width) {
    float row = floor(cell.y);
    cell.x += shift * row;
    float tone = lattice_value(ivec2(floor(cell)));
    float in_joint = max(line(cell.x, width), line(cell.y, width * (shift > 0.0 ? 2.0 : 1.0)));
    float grain = rough_noise(cell * 9.0);
    return mix(base * (0.72 + 0.36 * tone) * (0.8 + 0.4 * grain), joint, in_joint);
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

vec3 albedo_at(Material m, vec2 uv) {
    vec2 q = uv / m.base.w;
    float k = m.second.w;
    vec3 a = m.base.rgb, b = m.second.rgb;
    float kind = m.gloss.z;
    if (kind == PATTERN_PLAIN) return a;
    if (kind == PATTERN_CHECKER) {
        vec2 c = floor(q);
        return mod(c.x + c.y, 2.0) < 0.5 ? a : b;
    }
    if (kind == PATTERN_TILES) return masonry(a, b, q, 0.0, k);
    if (kind == PATTERN_BRICKS) return masonry(a, b, q * vec2(1.0, 3.0), 0.5, k);
    if (kind == PATTERN_WOOD) {
        // Boards along x, each with its own grain.
        float board = floor(q.y);
        float offset = lattice_value(ivec2(int(board), 5)) * 40.0;
        float grain = rough_noise(vec2(q.x * 0.6 + offset, q.y * 9.0));
        float ring = 0.5 + 0.5 * sin(40.0 * grain);
        float tone = 0.8 + 0.4 * lattice_value(ivec2(int(board), 9));
        return mix(a, b, 0.65 * ring * grain) * tone * (1.0 - 0.75 * line(q.y, k));
    }
    if (kind == PATTERN_STRIPES) return fract(q.x) < k ? a : b;
    if (kind == PATTERN_SPECKLE) return mix(a, b, k * rough_noise(q * 4.0) + (1.0 - k) * rough_noise(q));
    if (kind == PATTERN_LINES) return mix(a, b, max(line(q.x, k), line(q.y, k)));
    if (kind == PATTERN_DOTS) {
        vec2 c = fract(q) - 0.5;
        return dot(c, c) < k * k ? b : a;
    }
    if (kind == PATTERN_PRINT) return mix(a, b, print(q));
    // Windows: lit and dark panes in a facade.
    vec2 c = fract(q);
    bool pane = c.x > 0.2 && c.x < 0.8 && c.y > 0.25 && c.y < 0.8;
    return pane ? b * (0.4 + 1.2 * lattice_value(ivec2(floor(q)))) : a;
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
