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

float hit_primitive(Primitive p, vec3 o, vec3 d, float tmin) {
    vec3 from = o - p.a.xyz;
    switch (p.meta.x) {
    case SHAPE_GROUND: {
        float t = -o.y / d.y;
        return t > tmin ? t : MISS;
    }
    case SHAPE_BOX: return hit_box(from, d, p.b.xyz, tmin);
    case SHAPE_SPHERE: return hit_sphere(from, d, p.a.w, tmin);
    case SHAPE_CAPSULE: return hit_rod(from, d, p.b.xyz - p.a.xyz, p.a.w, true, tmin);
    case SHAPE_CYLINDER: return hit_rod(from, d, p.b.xyz - p.a.xyz, p.a.w, false, tmin);
    case SHAPE_BAND: return hit_band(from, d, p.b.xyz, p.a.w, p.b.w, tmin);
    default: return hit_lattice(from, d, p.b.xy, p.b.w, uintBitsToFloat(p.meta.z), tmin);
    }
}

// Whether the ray meets the sphere around an instance before tmax.
bool meets_bound(vec4 bound, vec3 o, vec3 d, float tmax) {
    vec3 c = bound.xyz - o;
    float b = dot(c, d);
    vec3 side = c - d * b;
    return dot(side, side) <= bound.w * bound.w && b + bound.w > 0.0 && b - bound.w < tmax;
}

// Number of primitives of an instance worth testing: none where the bound is missed. (As a
// loop count rather than a branch: devices that run both sides of a branch skip the work.)
uint candidates(Instance i, vec3 o, vec3 d, float tmax) {
    return meets_bound(i.bound, o, d, tmax) ? i.range.y : 0u;
}

Hit nearest_hit(vec3 o, vec3 d, float tmin, float tmax) {
    Hit best = Hit(tmax, 0u, 0u);
    for (uint i = 0u; i < frame.counts.x; i++) {
        uint count = candidates(instances[i], o, d, best.t);
        if (count == 0u) continue;
        vec3 local_o = to_local_point(instances[i].now, o);
        vec3 local_d = nonzero(to_local_direction(instances[i].now, d));
        uint first = instances[i].range.x;
        for (uint p = first; p < first + count; p++) {
            float t = hit_primitive(primitives[p], local_o, local_d, tmin);
            if (t < best.t) best = Hit(t, i, p);
        }
    }
    if (best.t >= tmax) best.t = MISS;
    return best;
}

bool is_blocked(vec3 o, vec3 d, float tmin, float tmax) {
    bool blocked = false;
    for (uint i = 0u; i < frame.counts.x && !blocked; i++) {
        uint count = candidates(instances[i], o, d, tmax);
        if (count == 0u) continue;
        vec3 local_o = to_local_point(instances[i].now, o);
        vec3 local_d = nonzero(to_local_direction(instances[i].now, d));
        uint first = instances[i].range.x;
        for (uint p = first; p < first + count && !blocked; p++) {
            blocked = hit_primitive(primitives[p], local_o, local_d, tmin) < tmax;
        }
    }
    return blocked;
}

#endif
