// Attention for GPUs that round f32 toward zero on demand, one head and 64 queries a workgroup (numerics sections 9 and 10).
// Keys come in blocks of 64: the scores of a block are one 64 x 64 tile, of which an invocation keeps 8 x 4 until they are
// weights, and the weighted values are added to a 64 x 32 tile of which it keeps 4 x 4.
#version 460
#pragma variant window WINDOW=1
#pragma variant vit WINDOW=0
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_spirv_intrinsics : require

// Groups of sixteen k that are stored at a time. Two need fewer barriers, but leave room for fewer workgroups.
const uint GROUPS = 1;
// Memory holds, one after the other: the operands of the scores; the exponentials, eight halves an element, and
// the queries' factors; the operands of the values.
const uint SCORES_GROUP = 2 * 33 * 16;
const uint SCORES_B = 33 * 16;
const uint FACTORS = 512;
const uint VALUES_B = GROUPS * 512;
shared uvec4 tile_memory[GROUPS * SCORES_GROUP];

#include "attention_pairs.glsl"
#include "f13_rtz.glsl"

#define rtz_zero (heads >> 31)
#define GROUP score_group
#define GROUP_ROWS 8
#define GROUP_COLUMNS 4
#define GROUP_A_SIGNED 1
#define A_STRIDE 16
#define B_STRIDE 16
#define A_MAGNITUDES 256
#define B_MAGNITUDES 256
#include "f13_rtz_group.glsl"
// Weights are not negative.
#define GROUP value_group
#define GROUP_ROWS 4
#define GROUP_COLUMNS 4
#define GROUP_A_SIGNED 0
#define A_STRIDE 16
#define B_STRIDE 8
#define A_MAGNITUDES (GROUPS * 256)
#define B_MAGNITUDES (GROUPS * 128)
#include "f13_rtz_group.glsl"

layout(local_size_x = 128) in;

// Element of the eight exponentials from key 8 * `eighth`, permuted so that neither rows nor row blocks share banks.
uint exponentials_at(uint query, uint eighth) { return query * 8u + (eighth ^ ((query ^ (query >> 3)) & 7u)); }

// The sum of a query's 64 exponentials, in both halves: partial sums over eight keys, then even and odd ones.
uint sum_of(uint query) {
    uint t[4];
    [[unroll]] for (uint j = 0; j < 4; j++) {
        uvec4 low = tile_memory[exponentials_at(query, 2 * j)];
        uvec4 high = tile_memory[exponentials_at(query, 2 * j + 1)];
        [[unroll]] for (uint g = 0; g < 4; g++) {
            uint b = pair_add(low[g], high[g]);
            t[g] = j == 0 ? b : pair_add(t[g], b);
        }
    }
    return pair_across(pair_add(pair_add(pair_add(t[0], t[1]), t[2]), t[3]));
}

void main() {
    uint thread = gl_LocalInvocationIndex;
#if WINDOW
    uint head = gl_WorkGroupID.x % heads;
    origin = ivec2(8u * uvec2(gl_WorkGroupID.x / heads, first_window + gl_WorkGroupID.y)) - ivec2(phase_shift(phase));
    const uint blocks = 1;
#else
    uint head = gl_WorkGroupID.y;
    first_query = 64u * (first_part + gl_WorkGroupID.x);
    uint blocks = padded / 64u;
#endif
    // Invocation i < 64 prepares row i of the score tile, invocation 64 + i column i.
    bool row_side = thread < 64u;
    uint own = thread & 63u;
    Row query = query_at(own);
    // Tile of the scores: a subgroup of 32 covers all rows and sixteen columns. Tile of the values.
    uint score_row = (thread & 31u) >> 2, score_column = (thread >> 5) * 4u + (thread & 3u);
    uint value_row = thread >> 3, value_column = thread & 7u;

    uint values[4][2];
    [[unroll]] for (uint r = 0; r < 4; r++) values[r][0] = 0u, values[r][1] = 0u;
    uint total = 0u;

    for (uint block = 0; block < blocks; block++) {
        uint scores[8][2];
        [[unroll]] for (uint r = 0; r < 8; r++) {
#if WINDOW
            uvec4 w = prior_halves[(head * 64u + 8 * score_row + r) * 8u + (score_column >> 1)];
            uvec2 seeds = (score_column & 1u) == 0u ? w.xy : w.zw;
            scores[r][0] = seeds.x, scores[r][1] = seeds.y;
#else
            scores[r][0] = 0u, scores[r][1] = 0u;
#endif
        }
        Row key = key_at(block, own);
        uvec4 codes[2];
        [[unroll]] for (uint h = 0; h < 2; h++) {
            codes[h] = row_side ? load_codes(query.row, query.inside, head, h) : load_codes(key.row, key.inside, head, 2u + h);
        }
        // Of sixteen keys an invocation prepares four channels of one, of thirty-two eight.
        uint value_codes[4];
        [[unroll]] for (uint s = 0; s < 4 / GROUPS; s++) {
            Row value = key_at(block, 16 * GROUPS * s + thread / (8 / GROUPS));
            uint word = thread % (8 / GROUPS) * GROUPS;
            uvec4 w = load_codes(value.row, value.inside, head, 4u + (word >> 2));
            [[unroll]] for (uint g = 0; g < GROUPS; g++) value_codes[GROUPS * s + g] = w[(word & 3u) + g];
        }
        [[unroll]] for (uint s = 0; s < 2 / GROUPS; s++) {
            barrier();
            [[unroll]] for (uint g = 0; g < GROUPS; g++) {
                uint at = g * SCORES_GROUP + (row_side ? 0u : SCORES_B);
                rtz_store(at, 16u, own, codes[GROUPS * s + g], row_side ? BIAS_A : BIAS_B);
            }
            barrier();
            [[unroll]] for (uint g = 0; g < GROUPS; g++) {
                uint a = g * SCORES_GROUP + 2 * score_row, b = g * SCORES_GROUP + SCORES_B + score_column;
                score_group(a, b, a + 512u, b + 512u, scores);
            }
        }
        barrier();
        [[unroll]] for (uint r = 0; r < 8; r++) {
            uint at = exponentials_at(8 * score_row + r, score_column >> 1), part = 2u * (score_column & 1u);
            [[unroll]] for (uint c = 0; c < 2; c++) {
                scores[r][c] = exponentials(scores[r][c]);
                tile_memory[at][part + c] = scores[r][c];
            }
        }
        barrier();
        if (row_side) {
            uint sum = sum_of(own);
#if WINDOW
            tile_memory[FACTORS + (own >> 2)][own & 3u] = reciprocal_pair(sum);
#else
            total = pair_add(total, sum);
#endif
        }
#if WINDOW
        barrier();
        [[unroll]] for (uint q = 0; q < 2; q++) {
            uvec4 factors = tile_memory[FACTORS + 2 * score_row + q];
            [[unroll]] for (uint r = 0; r < 4; r++) {
                scores[4 * q + r][0] = pair_mul(scores[4 * q + r][0], factors[r]);
                scores[4 * q + r][1] = pair_mul(scores[4 * q + r][1], factors[r]);
            }
        }
#endif
        [[unroll]] for (uint r = 0; r < 8; r++) {
            scores[r][0] = pair_codes(scores[r][0]);
            scores[r][1] = pair_codes(scores[r][1]);
        }
        [[unroll]] for (uint s = 0; s < 4 / GROUPS; s++) {
            barrier();
            if (score_column / (4 * GROUPS) == s) {
                // Weights are neither negative nor NaN; a word holds the codes of two keys.
                [[unroll]] for (uint pair = 0; pair < 2; pair++) {
                    [[unroll]] for (uint q = 0; q < 2; q++) {
                        uvec4 power[2], magnitude[2];
                        [[unroll]] for (uint r = 0; r < 4; r++) {
                            uint m = scores[4 * q + r][pair];
                            vec2 v = unpackHalf2x16(m << 7);
                            magnitude[0][r] = floatBitsToUint(v.x), magnitude[1][r] = floatBitsToUint(v.y);
                            power[0][r] = (m & 0xffffu) != 0u ? rtz_power(m << 23, BIAS_A) : 0u;
                            power[1][r] = (m >> 16) != 0u ? rtz_power(m << 7, BIAS_A) : 0u;
                        }
                        uint at = (score_column % (4 * GROUPS) * 4u + 2 * pair) * 16u + 2 * score_row + q;
                        tile_memory[at] = power[0];
                        tile_memory[at + 16u] = power[1];
                        tile_memory[at + GROUPS * 256] = magnitude[0];
                        tile_memory[at + GROUPS * 256 + 16u] = magnitude[1];
                    }
                }
            }
            [[unroll]] for (uint g = 0; g < GROUPS; g++) {
                uint at = VALUES_B + thread / (8 / GROUPS) * 8u + thread % (8 / GROUPS) * GROUPS + g;
                uvec4 power, magnitude;
                rtz_operands(value_codes[GROUPS * s + g], BIAS_B, power, magnitude);
                tile_memory[at] = power;
                tile_memory[at + GROUPS * 128] = magnitude;
            }
            barrier();
            [[unroll]] for (uint g = 0; g < GROUPS; g++)
                value_group(g * 256 + value_row, VALUES_B + g * 128 + value_column, 0u, 0u, values);
        }
    }

#if !WINDOW
    // Padding keys score zero and are taken off again; the product is exact in f32.
    float padding = unpackHalf2x16(exponentials(0u)).x * float(padded - tokens);
    barrier();
    if (row_side) {
        uint sum = padded > tokens ? pair_sub(total, packHalf2x16(vec2(padding))) : total;
        tile_memory[own >> 2][own & 3u] = reciprocal_pair(sum);
    }
    barrier();
    uvec4 factors = tile_memory[value_row];
#endif
    [[unroll]] for (uint r = 0; r < 4; r++) {
        Row to = query_at(4 * value_row + r);
        uvec2 o = uvec2(values[r][0], values[r][1]);
#if !WINDOW
        o = uvec2(pair_mul(o.x, factors[r]), pair_mul(o.y, factors[r]));
#endif
        if (to.inside) out_codes[(to.row * heads + head) * 8u + value_column] = pair_pack_codes(o.x, o.y);
    }
}
