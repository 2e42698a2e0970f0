// FLIP of two pictures (network::metrics::flip; Andersson et al., "FLIP: A Difference Evaluator for Alternating Images",
// 2020): the perceived difference of every pixel, and its sum over each workgroup.
// A workgroup takes a tile: it converts the tile and a border to YCxCz once, filters along rows, then along columns. The
// filters come as tables from the host (network::metrics::flip_tables).
#version 460

layout(local_size_x = 16, local_size_y = 8) in;

// Whether both pictures have the space's size: the plain case, without the branches of the other one.
layout(constant_id = 0) const bool SAME_SIZES = false;

layout(binding = 0, std430) readonly buffer Side0 { uint side0[]; };   // the reference
layout(binding = 1, std430) readonly buffer Side1 { uint side1[]; };
layout(binding = 2, std430) readonly buffer Tables {
    float linear[256];        // of 8-bit sRGB codes
    float spread[4];          // largest colour difference, its knee; shares of the two blue-yellow filters
    float achromatic[21];
    float red_green[21];
    float blue_yellow_a[21];
    float blue_yellow_b[21];
    float smoothing[21];      // of the feature detectors, zero beyond their radius
    float edge[21];
    float point[21];
};
layout(binding = 3, std430) writeonly buffer Perceived { float perceived[]; };
layout(binding = 4, std430) writeonly buffer Sums { float sums[]; };   // one a workgroup

layout(push_constant) uniform Push {
    uvec2 space;
    uvec2 size0;
    uvec2 size1;
};

#define PICTURE0 side0
#define PICTURE1 side1
#define SPACE space
#define SIZE0 size0
#define SIZE1 size1

#include "pictures.glsl"

const uint WIDTH = 16, HEIGHT = 8, RADIUS = 10, TAPS = 2 * RADIUS + 1;
const uint COLUMNS = WIDTH + 2 * RADIUS, ROWS = HEIGHT + 2 * RADIUS, THREADS = WIDTH * HEIGHT;

shared vec3 opponent[ROWS * COLUMNS];     // YCxCz
shared vec4 color_rows[ROWS * WIDTH];     // filtered along rows: Y, Cx, Cz twice
shared vec3 feature_rows[ROWS * WIDTH];   // smoothed, edges, points

const vec3 WHITE = vec3(0.95042855, 1.0, 1.0889004);

vec3 relative_xyz(vec3 rgb) {
    vec3 xyz = vec3(dot(vec3(10135552.0 / 24577794.0, 8788810.0 / 24577794.0, 4435075.0 / 24577794.0), rgb),
                    dot(vec3(2613072.0 / 12288897.0, 8788810.0 / 12288897.0, 887015.0 / 12288897.0), rgb),
                    dot(vec3(1425312.0 / 73733382.0, 8788810.0 / 73733382.0, 70074185.0 / 73733382.0), rgb));
    return xyz / WHITE;
}

vec3 to_opponent(vec3 rgb) {
    vec3 v = relative_xyz(rgb);
    return vec3(116.0 * v.y - 16.0, 500.0 * (v.x - v.y), 200.0 * (v.y - v.z));
}

vec3 from_opponent(vec3 o) {
    float y = (o.x + 16.0) / 116.0;
    vec3 xyz = vec3(y + o.y / 500.0, y, y - o.z / 200.0) * WHITE;
    return clamp(vec3(dot(vec3(3.2410033, -1.5373989, -0.49861586), xyz), dot(vec3(-0.9692243, 1.8759301, 0.041554224), xyz),
                      dot(vec3(0.055639423, -0.2040112, 1.0571489), xyz)), 0.0, 1.0);
}

float lab_curve(float t) {
    const float DELTA = 6.0 / 29.0;
    return t > DELTA * DELTA * DELTA ? pow(t, 1.0 / 3.0) : t / (3.0 * DELTA * DELTA) + 4.0 / 29.0;
}

// L*a*b*, chroma scaled by lightness (Hunt effect).
vec3 hunt_lab(vec3 rgb) {
    vec3 v = relative_xyz(rgb);
    v = vec3(lab_curve(v.x), lab_curve(v.y), lab_curve(v.z));
    float light = 116.0 * v.y - 16.0;
    return vec3(light, 0.01 * light * 500.0 * (v.x - v.y), 0.01 * light * 200.0 * (v.y - v.z));
}

// pow of a base that is not negative.
float power(float x, float y) { return x > 0.0 ? pow(x, y) : (y > 0.0 ? 0.0 : 1.0); }

vec3 linear_of(vec3 code) {
    uvec3 c = uvec3(code * 255.0 + 0.5);
    return vec3(linear[c.r], linear[c.g], linear[c.b]);
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    ivec2 corner = ivec2(gl_WorkGroupID.xy * uvec2(WIDTH, HEIGHT)) - int(RADIUS);
    vec3 lab[2];
    vec2 features[2];   // strength of edges and points
    for (uint side = 0; side < 2; side++) {
        for (uint i = thread; i < ROWS * COLUMNS; i += THREADS) {
            ivec2 at = clamp(corner + ivec2(i % COLUMNS, i / COLUMNS), ivec2(0), ivec2(space) - 1);
            opponent[i] = to_opponent(linear_of(SAME_SIZES ? side_texel(side, at) : side_at(side, at)));
        }
        barrier();
        for (uint i = thread; i < ROWS * WIDTH; i += THREADS) {
            uint first = (i / WIDTH) * COLUMNS + i % WIDTH;
            vec4 color = vec4(0.0);
            vec3 feature = vec3(0.0);
            for (uint k = 0; k < TAPS; k++) {
                vec3 o = opponent[first + k];
                color += vec4(achromatic[k], red_green[k], blue_yellow_a[k], blue_yellow_b[k]) * o.xyzz;
                feature += vec3(smoothing[k], edge[k], point[k]) * ((o.x + 16.0) / 116.0);
            }
            color_rows[i] = color;
            feature_rows[i] = feature;
        }
        barrier();
        vec4 color = vec4(0.0);
        vec4 feature = vec4(0.0);   // edges across and down, points across and down
        for (uint k = 0; k < TAPS; k++) {
            uint i = (gl_LocalInvocationID.y + k) * WIDTH + gl_LocalInvocationID.x;
            color += vec4(achromatic[k], red_green[k], blue_yellow_a[k], blue_yellow_b[k]) * color_rows[i];
            vec3 f = feature_rows[i];
            feature += vec4(smoothing[k] * f.y, edge[k] * f.x, smoothing[k] * f.z, point[k] * f.x);
        }
        lab[side] = hunt_lab(from_opponent(vec3(color.xy, color.z * spread[2] + color.w * spread[3])));
        features[side] = vec2(length(feature.xy), length(feature.zw));
        barrier();
    }

    const float KNEE_VALUE = 0.95;
    vec3 d = lab[0] - lab[1];
    float e = power(abs(d.x) + length(d.yz), 0.7);
    float color = e < spread[1] ? e * KNEE_VALUE / spread[1]
                                : KNEE_VALUE + (e - spread[1]) / (spread[0] - spread[1]) * (1.0 - KNEE_VALUE);
    vec2 change = abs(features[0] - features[1]);
    float feature = power(max(change.x, change.y) / sqrt(2.0), 0.5);
    float value = clamp(power(color, 1.0 - feature), 0.0, 1.0);
    uvec2 at = gl_GlobalInvocationID.xy;
    bool valid = all(lessThan(at, space));
    if (valid) perceived[at.y * space.x + at.x] = value;

    color_rows[thread].x = valid ? value : 0.0;
    for (uint half_count = THREADS / 2; half_count > 0; half_count /= 2) {
        barrier();
        if (thread < half_count) color_rows[thread].x += color_rows[thread + half_count].x;
    }
    if (thread == 0) sums[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x] = color_rows[0].x;
}
