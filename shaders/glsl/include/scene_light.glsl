// Light: sky, sun and lamps, one shadow ray, one occlusion ray and one reflection ray a sample.
// Needs the other scene includes.
#ifndef SCENE_LIGHT_GLSL
#define SCENE_LIGHT_GLSL

// Dimension pairs of the sampler.
const uint DIM_LIGHT_POINT = 0u;
const uint DIM_LIGHT_CHOICE = 1u;
const uint DIM_AO = 2u;
const uint DIM_REFLECTION = 3u;
const uint DIM_ENVIRONMENT = 4u;
const uint DIM_ENVIRONMENT_POINT = 5u;

// Whether the renderer has maps of an environment at all.
layout(constant_id = 3) const bool HAS_ENVIRONMENT = false;

float luminance(vec3 c) {
    return dot(c, vec3(0.2126, 0.7152, 0.0722));
}

bool effect(uint bit) {
    return (frame.counts.z & bit) != 0u;
}

bool has_environment() {
    return HAS_ENVIRONMENT && frame.environment.w != 0.0;
}

// Between the world and the picture of the environment.
vec3 to_environment(vec3 d) {
    vec2 turn = frame.environment.xy;
    return vec3(turn.x * d.x - turn.y * d.z, d.y, turn.y * d.x + turn.x * d.z);
}
vec3 from_environment(vec3 d) {
    vec2 turn = frame.environment.xy;
    return vec3(turn.x * d.x + turn.y * d.z, d.y, turn.x * d.z - turn.y * d.x);
}

// Everything that is seen of the environment.
vec3 environment_seen(vec3 d) {
    vec2 uv = environment_uv(to_environment(d));
    return frame.environment.z * environment_sample(environment_picture(), environment_size(), uv, false);
}

// What a surface of some roughness mirrors of it, without its bright parts: between two maps, the
// first of which is the picture itself.
vec3 environment_mirrored(vec3 d, float roughness) {
    vec2 uv = environment_uv(to_environment(d));
    float level = clamp(roughness, 0.0, 1.0) * float(ENVIRONMENT_GLOSSY_LEVELS);
    uint whole = min(uint(level), ENVIRONMENT_GLOSSY_LEVELS - 1u);
    float part = level - float(whole);
    vec3 sum = vec3(0.0);
    // As a loop, so that the look-up is compiled once.
    for (uint k = 0u; k < 2u; k++) {
        bool is_map = whole + k > 0u;
        uint start = is_map ? environment_glossy(whole + k - 1u) : environment_picture();
        vec3 c = environment_sample(start, is_map ? ENVIRONMENT_GLOSSY : environment_size(), uv, is_map);
        sum += (is_map ? c : environment_smooth(c)) * (k == 0u ? 1.0 - part : part);
    }
    return frame.environment.z * sum;
}

// The same for a white matte surface.
vec3 environment_around(vec3 n) {
    vec2 uv = environment_uv(to_environment(n));
    return frame.environment.z * environment_sample(environment_diffuse(), ENVIRONMENT_DIFFUSE, uv, true);
}

// The smooth sky without the sun's disc.
vec3 sky(vec3 d) {
    float height = max(d.y, 0.0);
    vec3 c = mix(frame.sky_horizon.rgb, frame.sky_zenith.rgb, 1.0 - exp(-3.2 * height));
    float to_sun = max(dot(d, frame.sun_direction.xyz), 0.0);
    float glow = 0.35 * pow(to_sun, 8.0) + 0.6 * pow(to_sun, 90.0);
    return c + frame.sun_radiance.rgb * glow * 0.5;
}

vec3 sun_disc(vec3 d) {
    float c = dot(d, frame.sun_direction.xyz);
    float t = frame.sun_direction.w;
    return c > inversesqrt(1.0 + t * t) ? frame.sun_radiance.rgb * 30.0 : vec3(0.0);
}

// Colour of far haze in a direction.
vec3 haze_colour(vec3 d) {
    vec3 level = normalize(vec3(d.x, 0.02, d.z));
    if (!has_environment()) return sky(level);
    vec2 uv = environment_uv(to_environment(level));
    uint roughest = environment_glossy(ENVIRONMENT_GLOSSY_LEVELS - 1u);
    return frame.environment.z * environment_sample(roughest, ENVIRONMENT_GLOSSY, uv, true);
}

// Light from all around that a diffuse white surface reflects.
vec3 ambient(vec3 n) {
    if (has_environment()) return environment_around(n);
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
        vec3 arriving = model_light_at(l - 1u - frame.counts.y, p, direction, distance);
        // A light from far away is as large as the sun.
        radius = distance < frame.ranges.z ? min(frame.look.y, 0.5 * distance) : frame.sun_direction.w * distance;
        return arriving;
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

// Part of the mirrored light that a surface sends on.
vec3 mirror_share(Surface s, vec3 v) {
    vec3 f0 = mix(vec3(s.reflectance), s.albedo, s.metallic);
    float grazing = pow(1.0 - max(dot(s.normal, v), 0.0), 5.0);
    return f0 + (max(vec3(1.0 - s.roughness), f0) - f0) * grazing;
}

// Share of it that a ray looks for: none on rough surfaces.
float ray_share(Surface s) {
    return effect(EFFECT_REFLECTIONS) ? smoothstep(0.15, 0.55, 1.0 - s.roughness) : 0.0;
}

// A random point of the bright parts: its direction, and what reaches a facing surface.
vec3 environment_light(Sampler random, out vec3 direction) {
    vec2 choice = random2(random, DIM_ENVIRONMENT), within = random2(random, DIM_ENVIRONMENT_POINT);
    uint count = ENVIRONMENT_BRIGHT.x * ENVIRONMENT_BRIGHT.y;
    uint cell = min(uint(choice.x * float(count)), count - 1u);
    uvec2 entry = environment[environment_alias() + cell];
    if (choice.y >= uintBitsToFloat(entry.x)) cell = entry.y;
    uvec2 at = uvec2(cell % ENVIRONMENT_BRIGHT.x, cell / ENVIRONMENT_BRIGHT.x);
    // Even over the cell's solid angle.
    vec2 edges = cos(ENVIRONMENT_PI * vec2(at.y, at.y + 1u) / float(ENVIRONMENT_BRIGHT.y));
    float height = mix(edges.x, edges.y, within.y), side = sqrt(max(0.0, 1.0 - height * height));
    float around = ((float(at.x) + within.x) / float(ENVIRONMENT_BRIGHT.x) - 0.5) * 2.0 * ENVIRONMENT_PI;
    direction = from_environment(vec3(side * sin(around), height, -side * cos(around)));
    return frame.environment.z * environment_texel(environment_bright() + cell);
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
    // The bright parts of the environment are one more light: a random point of them, or, where
    // no ray asks for it, all of them on the matte part of the surface.
    if (has_environment() && environment_bright() != 0u) {
        vec3 arriving = environment_light(random, direction);
        chosen = arriving * response(s, v, direction);
        weight = luminance(chosen);
        total = weight;
        distance = frame.ranges.z;
        vec2 uv = environment_uv(to_environment(s.normal));
        all = s.albedo * (1.0 - s.metallic) * frame.environment.z
            * environment_sample(environment_bright_diffuse(), ENVIRONMENT_DIFFUSE, uv, true);
    }
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
    vec3 far = colour;
    // A look-up that a clear sky needs not: as a loop, which a CPU can leave.
    for (bool once = !HAS_ENVIRONMENT || frame.ranges.y > 0.0; once; once = false) far = haze_colour(d);
    return mix(far, colour, haze_clearness(distance));
}

// Part of the mirrored light that a surface sends on; zero where no ray is worth it.
vec3 mirror_weight(Surface s, vec3 v) {
    return effect(EFFECT_REFLECTIONS) ? mirror_share(s, v) * ray_share(s) : vec3(0.0);
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
    if (has_environment()) {
        // What is mirrored of the surroundings where no ray is sent to see it.
        vec3 weight = mirror_share(s, -d) * (trace_rays ? 1.0 - ray_share(s) : 1.0);
#ifdef MODEL
        weight *= s.occlusion;
#endif
        lit.around += weight * environment_mirrored(reflect(d, s.normal), s.roughness);
    }
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
