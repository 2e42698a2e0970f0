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
    vec3 above = mix(frame.sky_horizon.rgb, frame.sky_zenith.rgb, 0.55);
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

// Light l (0: the sun, then the lamps): direction, distance, and what reaches a facing surface.
vec3 light(uint l, vec3 p, out vec3 direction, out float distance, out float radius) {
    if (l == 0u) {
        direction = frame.sun_direction.xyz;
        distance = frame.ranges.z;
        radius = frame.sun_direction.w * distance;
        return frame.sun_radiance.rgb;
    }
    vec4 lamp = frame.lamps[l - 1u].position_radius;
    vec3 to = lamp.xyz - p;
    distance = max(length(to), lamp.w * 1.02);
    direction = to / distance;
    radius = lamp.w;
    float ratio = lamp.w / distance;
    return frame.lamps[l - 1u].radiance.rgb * (ratio * ratio);
}

vec3 unshadowed(Surface s, vec3 v) {
    vec3 sum = vec3(0.0), direction;
    float distance, radius;
    for (uint l = 0u; l <= frame.counts.y; l++) {
        vec3 arriving = light(l, s.position, direction, distance, radius);
        sum += arriving * response(s, v, direction);
    }
    return sum;
}

// One light, chosen in proportion to what it would give unshadowed, and one shadow ray to a
// random point of it.
vec3 direct_light(Surface s, vec3 v, vec3 origin, Sampler random) {
    if (!effect(EFFECT_SHADOWS)) return unshadowed(s, v);
    float choice = random1(random, DIM_LIGHT_CHOICE);
    float sum = 0.0, chosen_weight = 0.0, chosen_distance = 0.0, chosen_radius = 0.0;
    vec3 chosen = vec3(0.0), chosen_direction = vec3(0.0, 1.0, 0.0);
    for (uint l = 0u; l <= frame.counts.y; l++) {
        vec3 direction;
        float distance, radius;
        vec3 arriving = light(l, s.position, direction, distance, radius);
        vec3 given = arriving * response(s, v, direction);
        float weight = luminance(given);
        sum += weight;
        float p = weight / max(sum, 1e-12);
        bool take = choice < p;
        choice = take ? choice / max(p, 1e-12) : (choice - p) / max(1.0 - p, 1e-12);
        if (take) {
            chosen = given;
            chosen_weight = weight;
            chosen_direction = direction;
            chosen_distance = distance;
            chosen_radius = radius;
        }
    }
    if (chosen_weight <= 0.0) return vec3(0.0);
    vec3 a, b;
    basis(chosen_direction, a, b);
    vec2 disc = on_disc(random2(random, DIM_LIGHT_POINT)) * chosen_radius;
    vec3 to = normalize(chosen_direction * chosen_distance + a * disc.x + b * disc.y);
    // Stop before the lamp itself.
    float reach = chosen_distance - (chosen_distance < frame.ranges.z ? chosen_radius * 1.05 : 0.0);
    return is_blocked(origin, to, 0.0, reach) ? vec3(0.0) : chosen * (sum / chosen_weight);
}

// Part of the surroundings that the surface sees: 0 or 1.
float open_sky(Surface s, vec3 origin, Sampler random) {
    if (!effect(EFFECT_AO)) return 1.0;
    vec3 d = cosine_direction(s.normal, random2(random, DIM_AO));
    return is_blocked(origin, d, 0.0, frame.ranges.x) ? 0.0 : 1.0;
}

vec3 in_haze(vec3 colour, vec3 d, float distance) {
    float clear = exp(-frame.ranges.y * distance);
    return mix(sky(normalize(vec3(d.x, 0.02, d.z))), colour, clear);
}

// What a reflected ray sees: no further rays.
vec3 reflected(Surface s, vec3 origin, vec3 v, Sampler random) {
    vec3 f0 = mix(vec3(s.reflectance), s.albedo, s.metallic);
    float grazing = pow(1.0 - max(dot(s.normal, v), 0.0), 5.0);
    float smoothness = 1.0 - s.roughness;
    vec3 weight = f0 + (max(vec3(smoothness), f0) - f0) * grazing;
    weight *= smoothstep(0.15, 0.55, smoothness);
    if (!effect(EFFECT_REFLECTIONS) || max(weight.r, max(weight.g, weight.b)) < 0.004) {
        return vec3(0.0);
    }
    vec3 lobe = cosine_direction(s.normal, random2(random, DIM_REFLECTION));
    vec3 mirror = reflect(-v, s.normal);
    vec3 d = normalize(mix(mirror, lobe, s.roughness * s.roughness));
    Hit hit = nearest_hit(origin, d, 0.0, frame.ranges.z);
    vec3 seen = sky(d);
    if (hit.t < MISS) {
        Surface other = surface_at(hit, origin, d);
        seen = other.emission + other.albedo * ambient(other.normal) * 0.8 + unshadowed(other, -d);
        seen = in_haze(min(seen, vec3(6.0)), d, hit.t);
    }
    return seen * weight;
}

vec3 shade(Surface s, vec3 d, float distance, Sampler random) {
    vec3 origin = s.position + s.normal * (1e-3 + 2e-4 * distance);
    vec3 colour = s.emission;
    colour += direct_light(s, -d, origin, random);
    // What is hidden from the sky still gets a little light from its neighbours.
    float open = mix(0.12, 1.0, open_sky(s, origin, random));
    colour += s.albedo * (1.0 - s.metallic) * ambient(s.normal) * open;
    colour += reflected(s, origin, -d, random);
    return in_haze(colour, d, distance);
}

#endif
