// Intersection of rays with the analytic shapes, and the search over all instances.
// Needs scene_data.glsl.
#ifndef SCENE_SHAPES_GLSL
#define SCENE_SHAPES_GLSL

const float MISS = 1e30;

struct Hit {
    float t;
    uint instance;
    uint primitive;
};

// Rows of [R | t] applied to a direction and to a point, and the inverses.
vec3 to_local_direction(vec4 m[3], vec3 d) {
    return m[0].xyz * d.x + m[1].xyz * d.y + m[2].xyz * d.z;
}
vec3 to_local_point(vec4 m[3], vec3 p) {
    return to_local_direction(m, p - vec3(m[0].w, m[1].w, m[2].w));
}
vec3 to_world_direction(vec4 m[3], vec3 d) {
    return vec3(dot(m[0].xyz, d), dot(m[1].xyz, d), dot(m[2].xyz, d));
}
vec3 to_world_point(vec4 m[3], vec3 p) {
    return to_world_direction(m, p) + vec3(m[0].w, m[1].w, m[2].w);
}

// No component is zero, so that slabs and planes can divide by it.
vec3 nonzero(vec3 d) {
    vec3 tiny = vec3(1e-7);
    return mix(d, mix(-tiny, tiny, greaterThanEqual(d, vec3(0.0))), lessThan(abs(d), tiny));
}

// The smaller of two candidate distances that lies beyond tmin.
float first_beyond(float near, float far, float tmin) {
    return near > tmin ? near : (far > tmin ? far : MISS);
}

float hit_ground(vec3 o, vec3 d, float tmin) {
    float t = -o.y / d.y;
    return t > tmin ? t : MISS;
}

float hit_box(vec3 o, vec3 d, vec3 half_size, float tmin) {
    vec3 inverse = 1.0 / d;
    vec3 middle = -o * inverse;
    vec3 reach = abs(inverse) * half_size;
    vec3 t0 = middle - reach, t1 = middle + reach;
    float near = max(max(t0.x, t0.y), t0.z);
    float far = min(min(t1.x, t1.y), t1.z);
    return near <= far ? first_beyond(near, far, tmin) : MISS;
}

float hit_sphere(vec3 o, vec3 d, float radius, float tmin) {
    // The distance from the centre's nearest point on the ray keeps far spheres exact.
    float b = -dot(o, d);
    vec3 nearest = o + d * b;
    float h = radius * radius - dot(nearest, nearest);
    if (h < 0.0) return MISS;
    h = sqrt(h);
    return first_beyond(b - h, b + h, tmin);
}

// Side of a capped cylinder from the origin of o to axis, and its two flat caps or round ends.
float hit_rod(vec3 o, vec3 d, vec3 axis, float radius, bool round_ends, float tmin) {
    float length2 = dot(axis, axis);
    float along_d = dot(axis, d), along_o = dot(axis, o);
    vec3 d_side = d - axis * (along_d / length2);
    vec3 o_side = o - axis * (along_o / length2);
    float a = dot(d_side, d_side);
    float best = MISS;
    if (a > 1e-9) {
        float b = dot(o_side, d_side);
        float h = b * b - a * (dot(o_side, o_side) - radius * radius);
        if (h < 0.0) return MISS;
        h = sqrt(h);
        float t = first_beyond((-b - h) / a, (-b + h) / a, tmin);
        float y = along_o + t * along_d;
        if (t < MISS && y >= 0.0 && y <= length2) best = t;
    }
    if (round_ends) {
        best = min(best, hit_sphere(o, d, radius, tmin));
        best = min(best, hit_sphere(o - axis, d, radius, tmin));
    } else if (abs(along_d) > 1e-7) {
        for (uint end = 0u; end < 2u; end++) {
            float t = ((end == 0u ? 0.0 : length2) - along_o) / along_d;
            vec3 p = o_side + d_side * t;
            if (t > tmin && dot(p, p) <= radius * radius) best = min(best, t);
        }
    }
    return best;
}

// An infinitely thin ring: the side of a cylinder around a unit axis, seen from both sides.
float hit_band(vec3 o, vec3 d, vec3 axis, float radius, float half_width, float tmin) {
    float along_d = dot(axis, d), along_o = dot(axis, o);
    vec3 d_side = d - axis * along_d, o_side = o - axis * along_o;
    float a = max(dot(d_side, d_side), 1e-9);
    float b = dot(o_side, d_side);
    float h = b * b - a * (dot(o_side, o_side) - radius * radius);
    if (h < 0.0) return MISS;
    h = sqrt(h);
    float near = (-b - h) / a, far = (-b + h) / a;
    if (near > tmin && abs(along_o + near * along_d) <= half_width) return near;
    if (far > tmin && abs(along_o + far * along_d) <= half_width) return far;
    return MISS;
}

// A rectangle of wire mesh in the local xy plane.
float hit_lattice(vec3 o, vec3 d, vec2 half_size, float pitch, float wire, float tmin) {
    float t = -o.z / d.z;
    vec2 p = o.xy + d.xy * t;
    vec2 from_wire = abs(fract(p / pitch + 0.5) - 0.5) * pitch;
    bool solid = min(from_wire.x, from_wire.y) <= wire * 0.5;
    return t > tmin && solid && all(lessThanEqual(abs(p), half_size)) ? t : MISS;
}

// Whether the ray meets the sphere before tmax.
bool meets_bound(vec4 bound, vec3 o, vec3 d, float tmax) {
    vec3 c = bound.xyz - o;
    float b = dot(c, d);
    vec3 side = c - d * b;
    return dot(side, side) <= bound.w * bound.w && b + bound.w > 0.0 && b - bound.w < tmax;
}

// How to pass over batches that a ray misses. A CPU runs both sides of a branch but leaves a
// loop when all its rays are done: there, search ahead (true). A GPU does better with a branch.
layout(constant_id = 0) const bool SEARCH_AHEAD = false;

uint next_batch(uint b, uint end, vec3 o, vec3 d, float t) {
    while (SEARCH_AHEAD && b < end && !meets_bound(batches[b].bound, o, d, t)) b++;
    return b;
}

// Tests all shapes of one kind: the ray in the batch's space is (lo, ld), s the shape, and from
// the ray's origin seen from the shape's. One loop for each kind instead of one switch for all,
// so that no device runs the code of a shape that isn't there. `stop` ends the search.
#define EACH(kind, stop, expression) \
    for (uint b = next_batch(frame.batch_ends[kind - 1u], frame.batch_ends[kind], o, d, hit.t); \
         b < frame.batch_ends[kind] && !(stop); \
         b = next_batch(b + 1u, frame.batch_ends[kind], o, d, hit.t)) { \
        Batch batch = batches[b]; \
        if (!SEARCH_AHEAD && !meets_bound(batch.bound, o, d, hit.t)) continue; \
        vec3 lo = to_local_point(instances[batch.range.x].now, o); \
        vec3 ld = nonzero(to_local_direction(instances[batch.range.x].now, d)); \
        for (uint p = batch.range.y; p < batch.range.z; p++) { \
            Primitive s = primitives[p]; \
            vec3 from = lo - s.a.xyz; \
            float t = expression; \
            if (t < hit.t) hit = Hit(t, batch.range.x, p); \
        } \
    }

#define EACH_SHAPE(stop) \
    EACH(SHAPE_GROUND, stop, hit_ground(from, ld, tmin)) \
    EACH(SHAPE_BOX, stop, hit_box(from, ld, s.b.xyz, tmin)) \
    EACH(SHAPE_SPHERE, stop, hit_sphere(from, ld, s.a.w, tmin)) \
    EACH(SHAPE_CAPSULE, stop, hit_rod(from, ld, s.b.xyz - s.a.xyz, s.a.w, true, tmin)) \
    EACH(SHAPE_CYLINDER, stop, hit_rod(from, ld, s.b.xyz - s.a.xyz, s.a.w, false, tmin)) \
    EACH(SHAPE_BAND, stop, hit_band(from, ld, s.b.xyz, s.a.w, s.b.w, tmin)) \
    EACH(SHAPE_LATTICE, stop, hit_lattice(from, ld, s.b.xy, s.b.w, uintBitsToFloat(s.meta.z), tmin))

#ifdef MODEL
// Set in the instance of a hit on a triangle model (scene_mesh.glsl).
const uint MODEL_HIT = 0x80000000u;
void model_search(vec3 o, vec3 d, float tmin, bool any_hit, inout Hit hit);
#endif

Hit nearest_hit(vec3 o, vec3 d, float tmin, float tmax) {
    Hit hit = Hit(tmax, 0u, 0u);
    EACH_SHAPE(false)
#ifdef MODEL
    model_search(o, d, tmin, false, hit);
#endif
    if (hit.t >= tmax) hit.t = MISS;
    return hit;
}

bool is_blocked(vec3 o, vec3 d, float tmin, float tmax) {
    Hit hit = Hit(tmax, 0u, 0u);
    EACH_SHAPE(hit.t < tmax)
#ifdef MODEL
    for (bool once = hit.t >= tmax; once; once = false) model_search(o, d, tmin, true, hit);
#endif
    return hit.t < tmax;
}

#endif
