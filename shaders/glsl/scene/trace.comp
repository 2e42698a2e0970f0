// Ray-casts the procedural scene: HDR colour, depth, motion and object id of each pixel.
// single: one sample at the frame's jitter. accumulate: part of many jittered samples, summed
// in f32; the part that holds the last sample writes the mean. model_*: with a triangle model too.
#version 460
#pragma variant single
#pragma variant accumulate ACCUMULATE
#pragma variant model_single MODEL
#pragma variant model_accumulate MODEL ACCUMULATE

#define ENVIRONMENT_BINDING 13
#define ENVIRONMENT_ACCESS readonly
#include "scene_data.glsl"
#include "scene_environment.glsl"
#include "scene_noise.glsl"
#include "scene_shapes.glsl"
#include "scene_surface.glsl"
#ifdef MODEL
#include "scene_mesh.glsl"
#include "scene_model.glsl"
#endif
#include "scene_light.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 5, std430) writeonly buffer ColourBlock { uvec2 colour_out[]; };
layout(binding = 6, std430) writeonly buffer DepthBlock { float depth_out[]; };
layout(binding = 7, std430) writeonly buffer MotionBlock { uint motion_out[]; };
layout(binding = 8, std430) writeonly buffer IdBlock { uint id_out[]; };
#ifdef ACCUMULATE
layout(binding = 9, std430) buffer SumBlock { vec4 sum[]; };
layout(push_constant) uniform Push { uint first_sample; uint sample_count; uint total_samples; };
#endif

vec2 to_uv(vec2 pixel) {
    return pixel / vec2(frame.image.xy);
}

// Direction with a component of 1 along the forward axis, so that its scale is the depth.
vec3 camera_ray(vec2 uv) {
    vec2 ndc = vec2(2.0 * uv.x - 1.0, 1.0 - 2.0 * uv.y);
    return frame.camera.forward.xyz
        + frame.camera.right.xyz * (ndc.x * frame.camera.right.w)
        + frame.camera.up.xyz * (ndc.y * frame.camera.up.w);
}

// xy: NDC (y up), z: depth along the forward axis.
vec3 project(Camera camera, vec3 world) {
    vec3 d = world - camera.position.xyz;
    float depth = dot(d, camera.forward.xyz);
    vec2 ndc = vec2(dot(d, camera.right.xyz) / camera.right.w, dot(d, camera.up.xyz) / camera.up.w);
    return vec3(ndc / depth, depth);
}

// Motion from this frame to the previous one in uv units, y down, without jitter; zero where
// the frame contract calls it invalid: no surface, or outside the previous image.
vec2 motion_of(vec3 world, vec3 world_before, vec2 pixel_centre_uv) {
    vec3 now = project(frame.camera, world);
    vec3 before = project(frame.previous, world_before);
    vec2 moved = before.xy - now.xy;
    vec2 ndc = vec2(2.0 * pixel_centre_uv.x - 1.0, 1.0 - 2.0 * pixel_centre_uv.y);
    vec2 previous = abs(ndc + moved);
    bool usable = before.z > 0.0 && previous.x < 1.0 && previous.y < 1.0;
    return usable ? vec2(0.5, -0.5) * moved : vec2(0.0);
}

#ifdef MODEL
// The surface of whatever was hit. Loops that run once: see scene_mesh.glsl.
Surface surface_of(Hit hit, vec3 o, vec3 d) {
    Surface s;
    bool on_model = (hit.instance & MODEL_HIT) != 0u;
    for (bool once = !on_model; once; once = false) {
        s = surface_at(hit, o, d);
        s.face = s.normal;
        s.now = to_world_point(instances[hit.instance].now, s.local);
        s.before = to_world_point(instances[hit.instance].before, s.local);
        s.occlusion = 1.0;
        s.unlit = false;
        s.id = hit.instance + 1u;
    }
    for (bool once = on_model; once; once = false) s = model_surface(hit, o, d);
    return s;
}
#endif

// Colour of one sample; the geometry at it is stored when wanted.
vec3 trace(uvec2 pixel, vec2 offset, uint index, bool store_geometry) {
    vec2 centre = vec2(pixel) + 0.5;
    vec3 ray = camera_ray(to_uv(centre + offset));
    float scale = length(ray);
    vec3 d = ray / scale;
    vec3 o = frame.camera.position.xyz;
    Sampler random = make_sampler(pixel, frame.image.z, index);
#ifdef MODEL
    model_seed = hash2(random.pixel, index);
    model_cone = vec2(0.0, frame.jitter.w);
#endif
    vec3 colour = vec3(0.0), through = vec3(1.0);
    float depth = 0.0;
    vec2 motion = vec2(0.0);
    uint id = 0u;
    // What a mirrored ray shows of an environment that it reaches: the lobe it was taken from.
    vec3 lobe = d;
    float lobe_roughness = 0.0;
    // Turn 0 is the camera's ray, turn 1 the mirrored one.
    for (uint turn = 0u; turn < 2u; turn++) {
        bool first = turn == 0u;
#ifdef MODEL
        float start = frame.ranges.w;
#else
        float start = 1e-3;
#endif
        Hit hit = nearest_hit(o, d, first ? start : 0.0, frame.ranges.z);
        if (hit.t >= MISS) {
            vec3 behind;
            if (!has_environment()) {
                behind = sky(d);
            } else if (first) {
                behind = environment_seen(d);
            } else {
                behind = environment_mirrored(lobe, lobe_roughness);
            }
            colour += through * (first ? behind + sun_disc(d) : behind);
            break;
        }
#ifdef MODEL
        Surface s = surface_of(hit, o, d);
        vec3 now = s.now, before = s.before;
        uint hit_id = s.id;
        vec3 origin = s.position + s.face * (frame.ranges.w + 2e-4 * hit.t);
#else
        Surface s = surface_at(hit, o, d);
        vec3 now = to_world_point(instances[hit.instance].now, s.local);
        vec3 before = to_world_point(instances[hit.instance].before, s.local);
        uint hit_id = hit.instance + 1u;
        vec3 origin = s.position + s.normal * (1e-3 + 2e-4 * hit.t);
#endif
        if (first) {
            depth = hit.t / scale;
            motion = motion_of(now, before, to_uv(centre));
            id = hit_id;
        }
#ifdef MODEL
        model_seed += 1u;
        if (s.unlit) {
            colour += through * in_haze(s.emission, d, hit.t);
            break;
        }
#endif
        colour += through * light_of(s, d, hit.t, origin, first, random);
        through = mirror_weight(s, -d) * haze_clearness(hit.t);
        if (max(through.r, max(through.g, through.b)) < 0.01) break;
#ifdef MODEL
        // A rough surface spreads what it mirrors.
        model_cone += vec2(model_cone.y * hit.t, 0.5 * s.roughness * s.roughness);
#endif
        lobe = reflect(d, s.normal);
        lobe_roughness = s.roughness;
        d = mirrored(s, d, random);
        o = origin;
    }
    if (store_geometry) {
        uint at = pixel.y * frame.image.x + pixel.x;
        depth_out[at] = depth;
        motion_out[at] = packHalf2x16(motion);
        id_out[at] = id;
    }
    return colour;
}

void store_colour(uint at, vec3 colour) {
    colour = clamp(colour * frame.look.x, vec3(0.0), vec3(60000.0));
    colour_out[at] = uvec2(packHalf2x16(colour.rg), packHalf2x16(vec2(colour.b, 1.0)));
}

#ifdef ACCUMULATE
// Offsets of many samples: the R2 sequence around the pixel centre.
vec2 sample_offset(uint index) {
    return vec2(unit(0x80000000u + index * 3242174889u), unit(0x80000000u + index * 2447445414u)) - 0.5;
}
#endif

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(pixel, frame.image.xy))) return;
    uint at = pixel.y * frame.image.x + pixel.x;
#ifdef ACCUMULATE
    vec3 total = first_sample == 0u ? vec3(0.0) : sum[at].rgb;
    for (uint i = first_sample; i < first_sample + sample_count; i++) {
        // Sample 0 lies at the pixel centre; it gives the geometry.
        uint index = frame.counts.w * total_samples + i;
        total += trace(pixel, sample_offset(i), index, i == 0u);
    }
    sum[at] = vec4(total, 0.0);
    store_colour(at, total / float(min(first_sample + sample_count, total_samples)));
#else
    store_colour(at, trace(pixel, frame.jitter.xy, frame.counts.w, true));
#endif
}
