// What the host gives the scene passes. Mirrors renderer::gpu_data.
#ifndef SCENE_DATA_GLSL
#define SCENE_DATA_GLSL

const uint MAX_LAMPS = 4;

const uint EFFECT_SHADOWS = 1u;
const uint EFFECT_AO = 2u;
const uint EFFECT_REFLECTIONS = 4u;

// The camera's axes. right.w and up.w: half extents of the image plane at distance 1.
struct Camera {
    vec4 right;
    vec4 up;
    vec4 forward;
    vec4 position;
};

// A glowing sphere that lights the scene.
struct Lamp {
    vec4 position_radius;
    vec4 radiance;
};

struct FrameData {
    Camera camera;
    Camera previous;
    vec4 sun_direction;    // towards the sun; w: tangent of the angular radius of its disc
    vec4 sun_radiance;     // what a white surface facing the sun reflects
    vec4 sky_zenith;
    vec4 sky_horizon;
    vec4 ground_bounce;    // light that comes from below
    vec4 ranges;           // ao radius (m), haze density (1/m), farthest and nearest hit (m)
    Lamp lamps[MAX_LAMPS];
    uint batch_ends[8];    // batches are sorted by shape; [kind - 1] to [kind] are a kind's
    uvec4 counts;          // instances, lamps, effects, noise seed of the frame
    uvec4 image;           // width, height, scene seed, 0
    vec4 jitter;           // of the single sample, in pixels; level of detail bias; angle of a pixel
    vec4 environment;      // cosine and sine of its turn, intensity, 1 where there is one
    vec4 look;             // factor of the exposure, radius of the model's lights (m), 0, 0
};

// A rigid object: rows of [R | t], world from local, now and one frame ago.
struct Instance {
    vec4 now[3];
    vec4 before[3];
};

// Shapes of one kind of one instance.
struct Batch {
    vec4 bound;            // world centre and radius of a sphere around them
    uvec4 range;           // instance, first primitive, end of the primitives
};

const uint SHAPE_GROUND = 1u;
const uint SHAPE_BOX = 2u;
const uint SHAPE_SPHERE = 3u;
const uint SHAPE_CAPSULE = 4u;
const uint SHAPE_CYLINDER = 5u;
const uint SHAPE_BAND = 6u;
const uint SHAPE_LATTICE = 7u;

struct Primitive {
    vec4 a;                // centre or first end; w: radius
    vec4 b;                // half extents, second end or axis; w: half width or pitch
    uvec4 meta;            // shape, material, bits of the wire width
};

struct Material {
    vec4 base;             // rgb; w: pattern scale, metres
    vec4 second;           // rgb; w: line width or contrast of the pattern
    vec4 emission;         // rgb radiance; w: metallic
    vec4 gloss;            // roughness, reflectance at normal incidence, pattern, 0
};

layout(binding = 0, std430) readonly buffer FrameBlock { FrameData frame; };
layout(binding = 1, std430) readonly buffer InstanceBlock { Instance instances[]; };
layout(binding = 2, std430) readonly buffer BatchBlock { Batch batches[]; };
layout(binding = 3, std430) readonly buffer PrimitiveBlock { Primitive primitives[]; };
layout(binding = 4, std430) readonly buffer MaterialBlock { Material materials[]; };

#endif
