// Attention for CPU devices, one head and VECTORS x LANES queries a subgroup, queries over lanes (numerics sections 9
// and 10). Keys and values come in blocks of sixteen and are broadcast lane by lane.
#version 460
#pragma variant window4 LANES=4 VECTORS=2 WINDOW=1
#pragma variant window8 LANES=8 VECTORS=2 WINDOW=1
#pragma variant window16 LANES=16 VECTORS=1 WINDOW=1
#pragma variant vit4 LANES=4 VECTORS=1 WINDOW=0
#pragma variant vit8 LANES=8 VECTORS=1 WINDOW=0
#pragma variant vit16 LANES=16 VECTORS=1 WINDOW=0
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_control_flow_attributes : require

#include "attention.glsl"
#include "f13_lanes.glsl"

// Vectors that hold the sixteen keys of a block.
const uint KEYS = 16 / LANES;

layout(local_size_x = LANES) in;

#if WINDOW
// The exponentials wait here until their sum is known, two halves a word. Each lane reads only what it wrote.
shared uint exponentials[VECTORS * 32 * LANES];
#endif

Operands queries[VECTORS][2];
float sums[VECTORS][8];
float acc[VECTORS][32];

// Scores of the block's sixteen keys, on top of their seeds.
void score(uint row[KEYS], bool inside[KEYS], uint head, inout float s[VECTORS][16]) {
    [[unroll]] for (uint u = 0; u < KEYS; u++) {
        [[unroll]] for (uint h = 0; h < 2; h++) {
            Operands keys = f13_unpack(load_codes(row[u], inside[u], head, 2u + h));
            [[unroll]] for (uint l = 0; l < LANES; l++) {
                Operands key = f13_broadcast(keys, l);
                [[unroll]] for (uint v = 0; v < VECTORS; v++)
                    s[v][u * LANES + l] = group13(queries[v][h], key, s[v][u * LANES + l]);
            }
        }
    }
}

// Adds the block's exponentials into the eight partial sums.
void accumulate(bool first, uint v, float e[16]) {
    [[unroll]] for (uint g = 0; g < 8; g++) {
        float b = half_add(e[g], e[g + 8]);
        sums[v][g] = first ? b : half_add(sums[v][g], b);
    }
}

// Adds the block's sixteen weighted values to the 32 channels.
void weigh(uint row[KEYS], bool inside[KEYS], uint head, Operands weights[VECTORS]) {
    [[unroll]] for (uint h = 0; h < 2; h++) {
        Operands values[KEYS];
        [[unroll]] for (uint u = 0; u < KEYS; u++) values[u] = f13_unpack(load_codes(row[u], inside[u], head, 4u + h));
        [[unroll]] for (uint c = 0; c < 16; c++) {
            Operands column;
            [[unroll]] for (uint k = 0; k < 16; k++) {
                column.value[k] = subgroupShuffle(values[k / LANES].value[c], k % LANES);
                column.exponent[k] = subgroupShuffle(values[k / LANES].exponent[c], k % LANES);
            }
            [[unroll]] for (uint v = 0; v < VECTORS; v++)
                acc[v][16 * h + c] = group13(weights[v], column, acc[v][16 * h + c]);
        }
    }
}

void publish(uint v, uint row, uint head, float factor) {
    [[unroll]] for (uint c = 0; c < 32; c += 4) {
        vec4 o = vec4(acc[v][c], acc[v][c + 1], acc[v][c + 2], acc[v][c + 3]);
#if !WINDOW
        o = vec4(half_mul(o.x, factor), half_mul(o.y, factor), half_mul(o.z, factor), half_mul(o.w, factor));
#endif
        out_codes[(row * heads + head) * 8u + c / 4] = e4m3_pack(o.x, o.y, o.z, o.w);
    }
}

void main() {
    uint lane = gl_SubgroupInvocationID;
    uint query[VECTORS], query_row[VECTORS], row[KEYS];
    bool live[VECTORS], inside[KEYS];

#if WINDOW
    const uint PARTS = 64 / (VECTORS * LANES);
    uint part = gl_WorkGroupID.x % PARTS, head = gl_WorkGroupID.x / PARTS % heads;
    uvec2 window = uvec2(gl_WorkGroupID.x / PARTS / heads, first_window + gl_WorkGroupID.y);
    ivec2 origin = ivec2(8u * window) - ivec2(phase_shift(phase));
#else
    uint part = first_part + gl_WorkGroupID.x, head = gl_WorkGroupID.y;
#endif
    [[unroll]] for (uint v = 0; v < VECTORS; v++) {
        query[v] = (part * VECTORS + v) * LANES + lane;
#if WINDOW
        Token t = window_token(origin, uvec2(query[v] & 7u, query[v] >> 3));
        query_row[v] = t.row, live[v] = t.inside;
#else
        live[v] = query[v] < tokens;
        query_row[v] = live[v] ? query[v] : 0u;
#endif
        [[unroll]] for (uint h = 0; h < 2; h++)
            queries[v][h] = f13_unpack(load_codes(query_row[v], live[v], head, h));
        [[unroll]] for (uint c = 0; c < 32; c++) acc[v][c] = 0.0;
    }

#if WINDOW
    for (uint j = 0; j < 4; j++) {
        [[unroll]] for (uint u = 0; u < KEYS; u++) {
            Token t = window_token(origin, untiled(16u * j + u * LANES + lane));
            row[u] = t.row, inside[u] = t.inside;
        }
        float s[VECTORS][16];
        [[unroll]] for (uint v = 0; v < VECTORS; v++) {
            [[unroll]] for (uint h = 0; h < 2; h++) {
                uvec4 w = prior_halves[((head * 64u + query[v]) * 4u + j) * 2u + h];
                [[unroll]] for (uint i = 0; i < 8; i++)
                    s[v][8 * h + i] = half_to_f32((w[i >> 1] >> (16 * (i & 1))) & 0xffffu);
            }
        }
        score(row, inside, head, s);
        [[unroll]] for (uint v = 0; v < VECTORS; v++) {
            float e[16];
            [[unroll]] for (uint i = 0; i < 16; i++) e[i] = exp_window(s[v][i]);
            accumulate(j == 0u, v, e);
            [[unroll]] for (uint i = 0; i < 8; i++)
                exponentials[(v * 32 + j * 8u + i) * LANES + lane] = half_pack(e[2 * i], e[2 * i + 1]);
        }
    }
    float factor[VECTORS];
    [[unroll]] for (uint v = 0; v < VECTORS; v++) factor[v] = reciprocal(sum64(sums[v]));
    for (uint j = 0; j < 4; j++) {
        [[unroll]] for (uint u = 0; u < KEYS; u++) {
            Token t = window_token(origin, untiled(16u * j + u * LANES + lane));
            row[u] = t.row, inside[u] = t.inside;
        }
        Operands weights[VECTORS];
        [[unroll]] for (uint v = 0; v < VECTORS; v++) {
            [[unroll]] for (uint i = 0; i < 8; i++) {
                vec2 e = half_unpack(exponentials[(v * 32 + j * 8u + i) * LANES + lane]);
                [[unroll]] for (uint b = 0; b < 2; b++)
                    f13_decode(e4m3_encode(half_mul(e[b], factor[v])), 0, weights[v].value[2 * i + b],
                               weights[v].exponent[2 * i + b]);
            }
        }
        weigh(row, inside, head, weights);
    }
#else
    float total[VECTORS], factor[VECTORS];
    [[unroll]] for (uint v = 0; v < VECTORS; v++) total[v] = 0.0;
    for (uint j = 0; j < padded / 16u; j++) {
        [[unroll]] for (uint u = 0; u < KEYS; u++) {
            uint key = 16u * j + u * LANES + lane;
            inside[u] = key < tokens;
            row[u] = inside[u] ? key : 0u;
        }
        float s[VECTORS][16];
        [[unroll]] for (uint v = 0; v < VECTORS; v++) [[unroll]] for (uint i = 0; i < 16; i++) s[v][i] = 0.0;
        score(row, inside, head, s);
        Operands weights[VECTORS];
        [[unroll]] for (uint v = 0; v < VECTORS; v++) {
            float e[16];
            [[unroll]] for (uint i = 0; i < 16; i++) {
                e[i] = exp_vit(s[v][i]);
                f13_decode(e4m3_encode(e[i]), 0, weights[v].value[i], weights[v].exponent[i]);
            }
            accumulate((j & 3u) == 0u, v, e);
            float sum = half_add(total[v], sum64(sums[v]));
            total[v] = (j & 3u) == 3u ? sum : total[v];
        }
        weigh(row, inside, head, weights);
    }
    // Padding keys score zero and are taken off again; the product is exact in f32.
    float padding = half_round(exp_vit(0.0) * float(padded - tokens));
    [[unroll]] for (uint v = 0; v < VECTORS; v++)
        factor[v] = reciprocal(padded > tokens ? half_sub(total[v], padding) : total[v]);
#endif

    [[unroll]] for (uint v = 0; v < VECTORS; v++)
        if (live[v]) publish(v, query_row[v], head, factor[v]);
}
