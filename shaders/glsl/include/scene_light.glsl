// Light: sky, sun and lamps, one shadow ray, one occlusion ray and one reflection ray a sample.
// Needs the other scene includes.
#ifndef SCENE_LIGHT_GLSL
#define SCENE_LIGHT_GLSL

// Dimension pairs of the sampler.
const uint DIM_LIGHT_POINT = 0u;
const uint DIM_LIGHT_CHOICE = 1u;
const uint DIM_AO = 2u;
const uint DIM_REFLECTION = 3u;

float luminance(vec3 c) {
    return dot(c, vec3(0.2126, 0.7152, 0.0722));
}

bool effect(uint bit) {
    return (frame.counts.z & bit) != 0u;
}

// The sky without the sun's disc.
vec3 sky(vec3 d) {
    float height = max(d.y, 0.0);
    vec3 c = mix(frame.sky_horizon.rgb, frame.sky_zenith.rgb, 1.0 - exp(-3.2 * height));
    float to_sun = max(dot(d, frame.sun_direction.xyz), 0.0);
    float glow = 0.35 * pow(to_sun, 8.0) + 0.6 * pow(to_sun, 90.0);
    return c + frame.sun_radiance.rgb * glow * 0.5;
}

vec3 sky_with_sun(vec3 d) {
    float c = dot(d, frame.sun_direction.xyz);
    float t = frame.sun_direction.w;
    return sky(d) + (c > inversesqrt(1.0 + t * t) ? frame.sun_radiance.rgb * 30.0 : vec3(0.0));
}

// Light from all around that a diffuse white surface reflects.
vec3 ambient(vec3 n) {
    vec3 above = mix(frame.sky_horizon.rgb, frame.sky_zenith.rgb, 0.6);
    return mix(frame.ground_bounce.rgb, above, 0.5 + 0.5 * n.y);
}

// Diffuse and specular answer of a surface to light from direction l, per unit of the
// radiance that a facing white surface would reflect.
vec3 response(Surface s, vec3 v, vec3 l) {
    float nl = dot(s.normal, l);
    if (nl <= 0.0) return vec3(0.0);
    vec3 h = normalize(v + l);
    float a = max(s.roughness * s.roughness, 0.02);
    float nh = max(dot(s.normal, h), 0.0);
    float q = nh * nh * (a * a - 1.0) + 1.0;
    float lobe = min(a * a / (4.0 * q * q), 12.0);
    vec3 f0 = mix(vec3(s.reflectance), s.albedo, s.metallic);
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - max(dot(v, h), 0.0), 5.0);
    return (s.albedo * (1.0 - s.metallic) + fresnel * lobe) * nl;
}

#ifdef MODEL
vec3 model_light_at(uint l, vec3 p, out vec3 direction, out float distance);
#endif

// Number of the last light.
uint last_light() {
#ifdef MODEL
    return frame.counts.y + model_light_count();
#else
    return frame.counts.y;
#endif
}

// Light l (0: the sun, then the lamps, then those of the model): direction, distance, and what reaches a facing surface.
vec3 light(uint l, vec3 p, out vec3 direction, out float distance, out float radius) {
    if (l == 0u) {
        direction = frame.sun_direction.xyz;
        distance = frame.ranges.z;
        radius = frame.sun_direction.w * distance;
        return frame.sun_radiance.rgb;
    }
#ifdef MODEL
    if (l > frame.counts.y) {
        radius = 0.0;
        return model_light_at(l - 1u - frame.counts.y, p, direction, distance);
    }
#endif
    vec4 lamp = frame.lamps[l - 1u].position_radius;
    vec3 to = lamp.xyz - p;
    distance = max(length(to), lamp.w * 1.02);
    direction = to / distance;
    radius = lamp.w;
    float ratio = lamp.w / distance;
    return frame.lamps[l - 1u].radiance.rgb * (ratio * ratio);
}

// Light on a surface before it is known what is in the way, with a ray for each question.
struct Lighting {
    vec3 direct;        // what arrives when the shadow ray is free
    vec3 to_light;      // unit direction of the shadow ray
    float reach;        // and its length
    vec3 around;        // light of the surroundings when the occlusion ray is free
};

// Without shadows: all lights. With: one light, chosen in proportion to what it would give,
// and a random point of it.
Lighting lighting(Surface s, vec3 v, bool shadows, Sampler random) {
    float choice = random1(random, DIM_LIGHT_CHOICE);
    float total = 0.0, weight = 0.0, distance = 1.0, radius = 0.0;
    vec3 all = vec3(0.0), chosen = vec3(0.0), direction = vec3(0.0, 1.0, 0.0);
    for (uint l = 0u; l <= last_light(); l++) {
        vec3 light_direction;
        float light_distance, light_radius;
        vec3 arriving = light(l, s.position, light_direction, light_distance, light_radius);
        vec3 given = arriving * response(s, v, light_direction);
        all += given;
        float w = luminance(given);
        total += w;
        float p = w / max(total, 1e-12);
        bool take = choice < p;
        choice = take ? choice / max(p, 1e-12) : (choice - p) / max(1.0 - p, 1e-12);
        if (take) {
            chosen = given;
            weight = w;
            direction = light_direction;
            distance = light_distance;
            radius = light_radius;
        }
    }
    Lighting result;
    result.direct = shadows ? chosen * (total / max(weight, 1e-12)) : all;
    vec3 a, b;
    basis(direction, a, b);
    vec2 disc = on_disc(random2(random, DIM_LIGHT_POINT)) * radius;
    result.to_light = normalize(direction * distance + a * disc.x + b * disc.y);
    // A lamp doesn't stand in its own light.
    result.reach = distance < frame.ranges.z ? distance - radius * 1.05 : distance;
    result.around = s.albedo * (1.0 - s.metallic) * ambient(s.normal);
#ifdef MODEL
    result.around *= s.occlusion;
#endif
    return result;
}

float haze_clearness(float distance) {
    return exp(-frame.ranges.y * distance);
}

vec3 in_haze(vec3 colour, vec3 d, float distance) {
    return mix(sky(normalize(vec3(d.x, 0.02, d.z))), colour, haze_clearness(distance));
}

// Part of the mirrored light that a surface sends on; zero where no ray is worth it.
vec3 mirror_weight(Surface s, vec3 v) {
    vec3 f0 = mix(vec3(s.reflectance), s.albedo, s.metallic);
    float grazing = pow(1.0 - max(dot(s.normal, v), 0.0), 5.0);
    float smoothness = 1.0 - s.roughness;
    vec3 weight = f0 + (max(vec3(smoothness), f0) - f0) * grazing;
    return effect(EFFECT_REFLECTIONS) ? weight * smoothstep(0.15, 0.55, smoothness) : vec3(0.0);
}

// Direction of the mirrored ray, spread by the roughness.
vec3 mirrored(Surface s, vec3 d, Sampler random) {
    vec3 lobe = cosine_direction(s.normal, random2(random, DIM_REFLECTION));
    return normalize(mix(reflect(d, s.normal), lobe, s.roughness * s.roughness));
}

// Light of a surface towards the viewer, without what it mirrors. trace_rays: with one shadow
// ray and one occlusion ray; without, nothing is in the way of the light.
vec3 light_of(Surface s, vec3 d, float distance, vec3 origin, bool trace_rays, Sampler random) {
    bool shadows = trace_rays && effect(EFFECT_SHADOWS);
    bool occlusion = trace_rays && effect(EFFECT_AO);
    Lighting lit = lighting(s, -d, shadows, random);
    vec3 around = cosine_direction(s.normal, random2(random, DIM_AO));
    bool open_light = true, open_around = true;
    for (uint ray = 0u; ray < 2u; ray++) {
        bool to_light = ray == 0u;
        // A ray that isn't wanted has no length, and so ends at once.
        float reach = to_light ? (shadows ? lit.reach : 0.0) : (occlusion ? frame.ranges.x : 0.0);
        bool open = !is_blocked(origin, to_light ? lit.to_light : around, 0.0, reach);
        if (to_light) open_light = open; else open_around = open;
    }
    // What is hidden from the sky still gets a little light from its neighbours.
    vec3 colour = s.emission + (open_light ? lit.direct : vec3(0.0));
    colour += lit.around * (open_around ? 1.0 : 0.12);
    // Small bright things in a mirror would only give single bright pixels.
    if (!trace_rays) colour = min(colour, vec3(6.0));
    return in_haze(colour, d, distance);
}

#endif
