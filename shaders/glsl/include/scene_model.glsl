// Surfaces and lights of triangle models. Needs scene_mesh.glsl and scene_surface.glsl.
#ifndef SCENE_MODEL_GLSL
#define SCENE_MODEL_GLSL

vec3 model_unfold(uint word) {
    vec2 f = unpackSnorm2x16(word);
    vec3 n = vec3(f, 1.0 - abs(f.x) - abs(f.y));
    float t = max(-n.z, 0.0);
    n.xy -= mix(vec2(-t), vec2(t), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

// Normals are carried by the transposed inverse, whose rows are the columns of the inverse.
vec3 model_normal(uint inverse, vec3 n) {
    return uintBitsToFloat(model[inverse].xyz) * n.x + uintBitsToFloat(model[inverse + 1u].xyz) * n.y
        + uintBitsToFloat(model[inverse + 2u].xyz) * n.z;
}

Surface model_surface(Hit hit, vec3 o, vec3 d) {
    Surface s;
    uint number = hit.instance & ~MODEL_HIT;
    uint element = model_instances() + 11u * number;
    ModelInstance i = model_instance(element);
    uvec4 corners = model[model_triangles() + hit.primitive];
    vec3 weights = vec3(1.0 - model_barycentric.x - model_barycentric.y, model_barycentric);
    uint base = i.vertices;
    uvec4 a = model[base + (corners.x << i.deformed)];
    uvec4 b = model[base + (corners.y << i.deformed)];
    uvec4 c = model[base + (corners.z << i.deformed)];
    vec3 pa = uintBitsToFloat(a.xyz), pb = uintBitsToFloat(b.xyz), pc = uintBitsToFloat(c.xyz);
    vec3 local = pa * weights.x + pb * weights.y + pc * weights.z;
    vec3 earlier = local;
    uvec3 tangents = uvec3(
        vertex_attributes[i.attributes + 2u * corners.x + 1u].x,
        vertex_attributes[i.attributes + 2u * corners.y + 1u].x,
        vertex_attributes[i.attributes + 2u * corners.z + 1u].x);
    for (bool once = i.deformed != 0u; once; once = false) {
        uvec4 ea = model[base + 2u * corners.x + 1u];
        uvec4 eb = model[base + 2u * corners.y + 1u];
        uvec4 ec = model[base + 2u * corners.z + 1u];
        earlier = uintBitsToFloat(ea.xyz) * weights.x + uintBitsToFloat(eb.xyz) * weights.y
            + uintBitsToFloat(ec.xyz) * weights.z;
        tangents = uvec3(ea.w, eb.w, ec.w);
    }
    s.position = o + d * hit.t;
    s.local = local;
    s.now = model_point(element + 2u, local);
    s.before = model_point(element + 8u, earlier);
    s.id = i.id;
    s.face = normalize(model_normal(element + 5u, cross(pb - pa, pc - pa)));
    vec3 n = model_unfold(a.w) * weights.x + model_unfold(b.w) * weights.y + model_unfold(c.w) * weights.z;
    n = normalize(model_normal(element + 5u, n));
    float side = dot(s.face, d) > 0.0 ? -1.0 : 1.0;
    s.face *= side;
    if (dot(n, s.face) < 0.0) n = -n;

    uint material = model_material(corners.w & TRIANGLE_MATERIAL);
    uvec4 flags = model[material + 3u], more = model[material + 4u];
    vec4 factors = uintBitsToFloat(model[material + 2u]);
    vec4 colour = uintBitsToFloat(model[material]) * model_color(i, corners.xyz, weights);
    s.emission = uintBitsToFloat(model[material + 1u].xyz);
    s.metallic = factors.x;
    s.roughness = factors.y;
    s.occlusion = 1.0;
    if (HAS_TEXTURES) {
        vec4 uva = model_uv(i, corners.x), uvb = model_uv(i, corners.y), uvc = model_uv(i, corners.z);
        vec4 uv = uva * weights.x + uvb * weights.y + uvc * weights.z;
        vec2 detail = model_detail(element + 2u, pb - pa, pc - pa, uva, uvb, uvc, d, hit.t);
        // Base, metallic-roughness, normal, occlusion, emission.
        uint slots[5] = uint[5](flags.y, flags.z, flags.w, more.x, more.y);
        for (uint k = 0u; k < 5u; k++) {
            for (uint slot = slots[k]; slot != 0u; slot = 0u) {
                vec4 t = model_sample(slot - 1u, uv, k == 0u || k == 4u, detail);
                if (k == 0u) colour *= t;
                if (k == 1u) {
                    s.roughness *= t.g;
                    s.metallic *= t.b;
                }
                if (k == 2u) {
                    vec3 m = (t.xyz * (255.0 / 127.0) - (128.0 / 127.0)) * vec3(factors.zz, 1.0);
                    vec3 along = model_unfold(tangents.x & ~1u) * weights.x + model_unfold(tangents.y & ~1u) * weights.y
                        + model_unfold(tangents.z & ~1u) * weights.z;
                    along = model_direction(element + 2u, along);
                    along = normalize(along - n * dot(n, along) + 1e-12);
                    bool flip = ((tangents.x & 1u) != 0u) != (i.mirrored != 0u);
                    // Seen from the back, the normal is turned, and the bitangent must not be.
                    vec3 across = cross(n, along) * (flip ? -1.0 : 1.0) * side;
                    n = normalize(along * m.x + across * m.y + n * m.z);
                }
                if (k == 3u) s.occlusion = 1.0 + factors.w * (t.r - 1.0);
                if (k == 4u) s.emission *= t.rgb;
            }
        }
    }
    s.albedo = colour.rgb;
    s.reflectance = 0.04;
    s.normal = n;
    s.unlit = (flags.x & 4u) != 0u;
    if (s.unlit) s.emission = s.albedo;
    return s;
}

// Light l of the model: direction, distance (the farthest for a directional one), and what
// reaches a facing surface.
vec3 model_light_at(uint l, vec3 p, out vec3 direction, out float distance) {
    uint element = model_light(l);
    vec4 position = uintBitsToFloat(model[element]);
    vec4 power = uintBitsToFloat(model[element + 1u]);
    vec3 axis = uintBitsToFloat(model[element + 2u].xyz);
    vec2 cone = uintBitsToFloat(model[element + 3u].xy);
    if (position.w == 0.0) {
        direction = -axis;
        distance = frame.ranges.z;
        return power.rgb;
    }
    vec3 to = position.xyz - p;
    float d2 = max(dot(to, to), 1e-8);
    distance = sqrt(d2);
    direction = to / distance;
    float spot = clamp(dot(-direction, axis) * cone.x + cone.y, 0.0, 1.0);
    float ratio = power.w > 0.0 ? d2 / (power.w * power.w) : 0.0;
    float fade = clamp(1.0 - ratio * ratio, 0.0, 1.0);
    return power.rgb * (spot * spot * fade / d2);
}

#endif
