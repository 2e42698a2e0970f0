// Random numbers of the scene passes: a white-noise offset for each pixel and dimension,
// rotated along a low-discrepancy sequence from sample to sample.
#ifndef SCENE_NOISE_GLSL
#define SCENE_NOISE_GLSL

uint mix_bits(uint v) {
    v = v * 747796405u + 2891336453u;
    v = ((v >> ((v >> 28) + 4u)) ^ v) * 277803737u;
    return (v >> 22) ^ v;
}

uint hash2(uint x, uint y) {
    return mix_bits(x ^ mix_bits(y));
}

// [0, 1), from the upper 24 bits.
float unit(uint v) {
    return float(v >> 8) * (1.0 / 16777216.0);
}

struct Sampler {
    uint pixel;    // hash of pixel and scene seed
    uint index;    // element of the sequence
};

Sampler make_sampler(uvec2 pixel, uint seed, uint index) {
    return Sampler(mix_bits(pixel.x ^ mix_bits(pixel.y ^ mix_bits(seed))), index);
}

// Two numbers of one dimension pair. The steps are the powers of the inverse plastic number
// (the R2 sequence) as fractions of 2^32, so that the sum wraps exactly.
vec2 random2(Sampler s, uint dimension) {
    uint x = hash2(s.pixel, 2u * dimension);
    uint y = hash2(s.pixel, 2u * dimension + 1u);
    return vec2(unit(x + s.index * 3242174889u), unit(y + s.index * 2447445414u));
}

// One number; steps of the golden ratio.
float random1(Sampler s, uint dimension) {
    return unit(hash2(s.pixel, 2u * dimension) + s.index * 2654435769u);
}

// Value noise of a plane, in [0, 1].
float lattice_value(ivec2 p) {
    return unit(hash2(uint(p.x), uint(p.y)));
}

float value_noise(vec2 p) {
    vec2 cell = floor(p);
    vec2 f = p - cell;
    f = f * f * (3.0 - 2.0 * f);
    ivec2 i = ivec2(cell);
    float bottom = mix(lattice_value(i), lattice_value(i + ivec2(1, 0)), f.x);
    float top = mix(lattice_value(i + ivec2(0, 1)), lattice_value(i + ivec2(1, 1)), f.x);
    return mix(bottom, top, f.y);
}

// Two octaves.
float rough_noise(vec2 p) {
    return 0.65 * value_noise(p) + 0.35 * value_noise(p * 2.7 + 17.3);
}

// A point of the unit disc.
vec2 on_disc(vec2 u) {
    float angle = 6.2831853 * u.y;
    return sqrt(u.x) * vec2(cos(angle), sin(angle));
}

// Two unit vectors orthogonal to n and to each other.
void basis(vec3 n, out vec3 u, out vec3 v) {
    float s = n.z >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (s + n.z);
    float b = n.x * n.y * a;
    u = vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x);
    v = vec3(b, s + n.y * n.y * a, -n.y);
}

vec3 cosine_direction(vec3 n, vec2 random) {
    vec3 u, v;
    basis(n, u, v);
    vec2 d = on_disc(random);
    return u * d.x + v * d.y + n * sqrt(max(0.0, 1.0 - dot(d, d)));
}

#endif
