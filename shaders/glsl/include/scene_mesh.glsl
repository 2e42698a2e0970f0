// Triangle models: search through two levels of boxes. Needs scene_data.glsl, scene_noise.glsl and
// scene_shapes.glsl. Mirrors renderer::mesh::pack.
#ifndef SCENE_MESH_GLSL
#define SCENE_MESH_GLSL

#include "scene_colour.glsl"

layout(binding = 10, std430) readonly buffer ModelBlock { uvec4 model[]; };
layout(binding = 11, std430) readonly buffer TexelBlock { uint texels[]; };
layout(binding = 12, std430) readonly buffer AttributeBlock { uvec4 vertex_attributes[]; };

// What the model needs anywhere; what it doesn't is compiled away.
layout(constant_id = 1) const bool HAS_ALPHA = true;
layout(constant_id = 2) const bool HAS_TEXTURES = true;

const uint TRIANGLE_DOUBLE_SIDED = 0x80000000u;
const uint TRIANGLE_ALPHA = 0x40000000u;
const uint TRIANGLE_MATERIAL = 0x3fffffffu;
// Levels of both hierarchies, and one.
const uint MODEL_STACK = 48u;

// Parts of the buffer, in elements.
uint model_top() { return model[0].x; }
uint model_instances() { return model[0].y; }
uint model_triangles() { return model[0].z; }
uint model_material(uint m) { return model[0].w + 5u * m; }
uint model_texture(uint t) { return model[1].x + 3u * t; }
uint model_light(uint l) { return model[1].y + 4u * l; }
uint model_light_count() { return model[1].z; }

// Random number of the sample for surfaces that are partly there, and the barycentrics of the
// nearest triangle found.
uint model_seed = 0u;
vec2 model_barycentric = vec2(0.0);

struct ModelInstance {
    uint nodes;
    uint vertices;
    uint attributes;
    uint triangles;
    uint deformed;    // its vertices are pairs: now and one frame ago
    uint mirrored;
    uint id;
};

ModelInstance model_instance(uint element) {
    uvec4 a = model[element], b = model[element + 1u];
    return ModelInstance(a.x, a.y, a.z, a.w, b.x, b.y, b.z);
}

// Rows of an affine transform.
vec3 model_direction(uint element, vec3 d) {
    return vec3(
        dot(uintBitsToFloat(model[element].xyz), d),
        dot(uintBitsToFloat(model[element + 1u].xyz), d),
        dot(uintBitsToFloat(model[element + 2u].xyz), d));
}
vec3 model_point(uint element, vec3 p) {
    vec4 q = vec4(p, 1.0);
    return vec3(
        dot(uintBitsToFloat(model[element]), q),
        dot(uintBitsToFloat(model[element + 1u]), q),
        dot(uintBitsToFloat(model[element + 2u]), q));
}

vec3 model_position(ModelInstance i, uint vertex) {
    return uintBitsToFloat(model[i.vertices + (vertex << i.deformed)].xyz);
}

int wrapped(int x, int size, uint how) {
    if (how == 1u) return clamp(x, 0, size - 1);
    int period = how == 2u ? 2 * size : size;
    x -= period * int(floor(float(x) / float(period)));
    x = clamp(x, 0, period - 1);
    return x < size ? x : period - 1 - x;
}

vec4 texel(uvec4 image, int x, int y) {
    int ix = wrapped(x, int(image.y), image.w & 3u), iy = wrapped(y, int(image.z), (image.w >> 2) & 3u);
    return unpackUnorm4x8(texels[image.x + uint(iy) * image.y + uint(ix)]);
}

// The cone around the ray: its width at the origin, and what it gains a metre.
vec2 model_cone = vec2(0.0);

// The log2 of the cone's width where it meets a triangle with these edges (local) and corners, in
// units of each coordinate set. A slanted cone covers an ellipse; a width between its two is taken.
vec2 model_detail(uint to_world, vec3 e1, vec3 e2, vec4 uv0, vec4 uv1, vec4 uv2, vec3 d, float t) {
    vec3 normal = cross(model_direction(to_world, e1), model_direction(to_world, e2));
    float area = max(length(normal), 1e-30);
    float facing = max(abs(dot(normal, d)) / area, 0.02);
    vec4 d1 = uv1 - uv0, d2 = uv2 - uv0;
    vec2 covered = max(abs(vec2(d1.x * d2.y - d1.y * d2.x, d1.z * d2.w - d1.w * d2.z)), vec2(1e-30));
    float width = max(model_cone.x + model_cone.y * t, 1e-20);
    return log2(width) + 0.5 * (log2(covered / area) - log2(facing)) + frame.jitter.z;
}

// One texel of a level of a picture, or the mix of the four nearest.
vec4 model_level(uvec4 image, uint level, vec2 p, bool smooth_filter, bool srgb) {
    for (uint l = 0u; l < level; l++) {
        image.x += image.y * image.z;
        image.yz = max(image.yz >> 1, uvec2(1u));
    }
    p = p * vec2(image.yz) - (smooth_filter ? 0.5 : 0.0);
    vec2 cell = floor(p), f = smooth_filter ? p - cell : vec2(0.0);
    ivec2 c = ivec2(cell);
    vec4 sum = vec4(0.0);
    uint count = smooth_filter ? 4u : 1u;
    for (uint k = 0u; k < count; k++) {
        int dx = int(k & 1u), dy = int(k >> 1);
        vec4 t = texel(image, c.x + dx, c.y + dy);
        if (srgb) t.rgb = from_srgb(t.rgb);
        sum += t * ((dx == 0 ? 1.0 - f.x : f.x) * (dy == 0 ? 1.0 - f.y : f.y));
    }
    return sum;
}

// Level of detail of a picture where the cone covers as much of its coordinates as model_detail says.
float model_lod(uint texture, vec2 detail) {
    uint element = model_texture(texture);
    uvec4 image = model[element];
    vec4 m = uintBitsToFloat(model[element + 1u]);
    float texels_each = float(image.y) * float(image.z) * max(abs(m.x * m.w - m.y * m.z), 1e-30);
    return (((image.w >> 5) & 1u) == 0u ? detail.x : detail.y) + 0.5 * log2(texels_each);
}

// One sample of a picture, by its sampler's filters. uv: both coordinate sets.
vec4 model_sample(uint texture, vec4 uv, bool srgb, vec2 detail) {
    uint element = model_texture(texture);
    uvec4 image = model[element];
    vec4 m = uintBitsToFloat(model[element + 1u]);
    vec2 p = ((image.w >> 5) & 1u) == 0u ? uv.xy : uv.zw;
    p = m.xy * p.x + m.zw * p.y + uintBitsToFloat(model[element + 2u].xy);
    // Far outside, the whole part carries nothing but loss of precision.
    if ((image.w & 3u) != 1u) p.x -= 2.0 * floor(p.x * 0.5);
    if (((image.w >> 2) & 3u) != 1u) p.y -= 2.0 * floor(p.y * 0.5);
    p = clamp(p, vec2(-4.0), vec2(4.0));
    float lod = model_lod(texture, detail);
    uint maps = (image.w >> 7) & 3u;
    bool smooth_filter = ((image.w >> (lod > 0.0 ? 6 : 4)) & 1u) != 0u;
    float last = float(findMSB(max(image.y, image.z)));
    float level = maps == 0u ? 0.0 : clamp(maps == 1u ? floor(lod + 0.5) : lod, 0.0, last);
    uint whole = uint(level);
    float part = level - float(whole);
    vec4 found = vec4(0.0);
    uint count = part > 0.0 ? 2u : 1u;
    for (uint k = 0u; k < count; k++) {
        found += model_level(image, whole + k, p, smooth_filter, srgb) * (k == 0u ? 1.0 - part : part);
    }
    return found;
}

// Both coordinate sets of a corner.
vec4 model_uv(ModelInstance i, uint corner) {
    return uintBitsToFloat(vertex_attributes[i.attributes + 2u * corner]);
}

vec4 model_color(ModelInstance i, uvec3 corners, vec3 weights) {
    return unpackUnorm4x8(vertex_attributes[i.attributes + 2u * corners.x + 1u].y) * weights.x
        + unpackUnorm4x8(vertex_attributes[i.attributes + 2u * corners.y + 1u].y) * weights.y
        + unpackUnorm4x8(vertex_attributes[i.attributes + 2u * corners.z + 1u].y) * weights.z;
}

// Whether a surface with alpha is there for this sample. Where a texel of the mipmaps stands for
// several, a mask's alpha is the part of them that is there, and so a probability.
bool model_is_there(
    ModelInstance i, uint instance, uint triangle, uvec4 corners, vec2 barycentric, vec3 e1, vec3 e2, vec3 d, float t
) {
    vec3 weights = vec3(1.0 - barycentric.x - barycentric.y, barycentric);
    uint material = model_material(corners.w & TRIANGLE_MATERIAL);
    uvec4 flags = model[material + 3u];
    float alpha = uintBitsToFloat(model[material].w) * model_color(i, corners.xyz, weights).a;
    float lod = 0.0;
    if (HAS_TEXTURES && flags.y != 0u) {
        vec4 a = model_uv(i, corners.x), b = model_uv(i, corners.y), c = model_uv(i, corners.z);
        vec2 detail = model_detail(model_instances() + 11u * instance + 2u, e1, e2, a, b, c, d, t);
        lod = model_lod(flags.y - 1u, detail);
        alpha *= model_sample(flags.y - 1u, a * weights.x + b * weights.y + c * weights.z, false, detail).a;
    }
    float chance = unit(hash2(model_seed ^ instance, triangle)) + 1e-6;
    float cutoff = uintBitsToFloat(model[material + 1u].w);
    return alpha >= ((flags.x & 3u) == 1u ? mix(cutoff, chance, clamp(lod, 0.0, 1.0)) : chance);
}

vec3 model_nonzero(vec3 d) {
    vec3 tiny = vec3(max(abs(d.x), max(abs(d.y), abs(d.z))) * 1e-7 + 1e-30);
    return mix(d, mix(-tiny, tiny, greaterThanEqual(d, vec3(0.0))), lessThan(abs(d), tiny));
}

// The nearest triangle before hit.t; with any_hit whichever is found first. Loops that run once stand
// for branches: a CPU leaves a loop that no ray wants but runs both sides of a branch.
void model_search(vec3 o, vec3 d, float tmin, bool any_hit, inout Hit hit) {
    uint stack[MODEL_STACK];
    stack[0] = 0u;
    // Entries below `bottom` belong to the hierarchy of all instances.
    uint top = 1u, bottom = 0u;
    uint nodes = model_top();
    uint triangles = model_triangles();
    bool inside = false;
    uint number = 0u;
    ModelInstance instance = ModelInstance(0u, 0u, 0u, 0u, 0u, 0u, 0u);
    vec3 ro = o, rd = model_nonzero(d);
    vec3 inverse = 1.0 / rd;
    float limit = hit.t;
    while (!(any_hit && hit.t < limit)) {
        // Down to the next leaf that the ray meets.
        uint count = 0u, link = 0u;
        while (top > bottom && count == 0u) {
            uint node = nodes + 2u * stack[--top];
            uvec4 low = model[node], high = model[node + 1u];
            vec3 t0 = (uintBitsToFloat(low.xyz) - ro) * inverse;
            vec3 t1 = (uintBitsToFloat(high.xyz) - ro) * inverse;
            vec3 first = min(t0, t1), last = max(t0, t1);
            float near = max(max(first.x, first.y), max(first.z, tmin));
            float far = min(min(last.x, last.y), last.z) * 1.0000005;
            if (near <= far && near < hit.t) {
                count = high.w & 0xffu;
                link = low.w;
                if (count == 0u) {
                    uint axis = high.w >> 8;
                    bool backwards = (axis == 0u ? rd.x : (axis == 1u ? rd.y : rd.z)) < 0.0;
                    stack[top] = link + (backwards ? 0u : 1u);
                    stack[top + 1u] = link + (backwards ? 1u : 0u);
                    top += 2u;
                }
            }
        }
        if (count == 0u && !inside) break;
        bool enters = count != 0u && !inside;
        bool leaves = count == 0u;
        uint end = inside ? count : 0u;
        for (uint k = 0u; k < end; k++) {
            uint triangle = instance.triangles + link + k;
            uvec4 corners = model[triangles + triangle];
            vec3 a = model_position(instance, corners.x);
            vec3 e1 = model_position(instance, corners.y) - a, e2 = model_position(instance, corners.z) - a;
            vec3 p = cross(rd, e2);
            float det = dot(e1, p);
            vec3 s = ro - a;
            vec3 q = cross(s, e1);
            float scale = 1.0 / det;
            vec2 barycentric = vec2(dot(s, p), dot(rd, q)) * scale;
            float t = dot(e2, q) * scale;
            bool front = (det > 0.0) != (instance.mirrored != 0u);
            bool seen = det != 0.0 && (front || any_hit || (corners.w & TRIANGLE_DOUBLE_SIDED) != 0u);
            bool met = seen && barycentric.x >= 0.0 && barycentric.y >= 0.0
                && barycentric.x + barycentric.y <= 1.0 && t > tmin && t < hit.t;
            for (bool ask = HAS_ALPHA && met && (corners.w & TRIANGLE_ALPHA) != 0u; ask; ask = false) {
                met = model_is_there(instance, number, triangle, corners, barycentric, e1, e2, d, t);
            }
            if (met) {
                hit = Hit(t, number | MODEL_HIT, triangle);
                model_barycentric = barycentric;
            }
        }
        for (; enters; enters = false) {
            number = link;
            uint element = model_instances() + 11u * number;
            instance = model_instance(element);
            nodes = instance.nodes;
            ro = model_point(element + 5u, o);
            rd = model_nonzero(model_direction(element + 5u, d));
            inverse = 1.0 / rd;
            inside = true;
            bottom = top;
            stack[top++] = 0u;
        }
        for (; leaves; leaves = false) {
            inside = false;
            bottom = 0u;
            nodes = model_top();
            ro = o;
            rd = model_nonzero(d);
            inverse = 1.0 / rd;
        }
    }
}

#endif
