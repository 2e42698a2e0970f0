// A whole block of 32 channels on matrix units (f13_matrix.glsl; network section 4.1): FFN, QKV with normalisation, window
// attention and projection of WINDOWS 8x8 windows side by side a workgroup, sixteen tokens a subgroup. What passes from one multiply to the
// next stays in registers: an invocation holds, of every sixteen channels and with q its place among four, channels 2q,
// 2q + 1, 2q + 8 and 2q + 9 of two tokens eight apart, and that is how the units want the next operand. Only weights, keys
// and values go through shared memory.
//
// Tokens outside the level are zero rows; zeros stay zeros up to Q, K and V.
//
// `pair` makes 32 hidden channels of the FFN at a time instead of sixteen; `twin` prepares the weights once for two windows.
// Which is the fastest depends on the device: `nrview tune` finds out. With EXACT_MODEL the same runs on plain arithmetic.
//
// Input, Output and Prior are those of attention_bindings.glsl, Input with two elements of codes a token.
#version 460
#pragma variant single WINDOWS=1 PAIR=0
#pragma variant pair WINDOWS=1 PAIR=1
#pragma variant twin WINDOWS=2 PAIR=0
#pragma variant twinpair WINDOWS=2 PAIR=1
#pragma variant model_single EXACT_MODEL WINDOWS=1 PAIR=0
#pragma variant model_pair EXACT_MODEL WINDOWS=1 PAIR=1
#pragma variant model_twin EXACT_MODEL WINDOWS=2 PAIR=0
#pragma variant model_twinpair EXACT_MODEL WINDOWS=2 PAIR=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#ifndef EXACT_MODEL
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

// Records: those of the FFN's matrices; later those of QKV and projection, keys and values. With two windows keys and
// values take the place of QKV.
const uint EXPAND = 0, CONTRACT = 256, QKV = 0;
#if WINDOWS == 1
const uint PROJECT = 192, KEYS = 256, VALUES = 384, RECORDS = 512;
#else
const uint PROJECT = 512, KEYS = 0, VALUES = 128, RECORDS = 576;
#endif
const uint THREADS = 128 * WINDOWS;
#ifdef EXACT_MODEL
const uint RECORD = 2;
#else
const uint RECORD = 5;
#endif
shared uvec4 tile_memory[RECORDS * RECORD];

#define WINDOW 1
#define WITH_FLAGS
#include "attention_matrix.glsl"
#include "cosine_pairs.glsl"

#ifdef EXACT_MODEL
#define GROUP group_of_four
#define GROUP_COLUMNS 4
#include "f13_matrix_model_group.glsl"
#define GROUP group_of_one
#define GROUP_COLUMNS 1
#include "f13_matrix_model_group.glsl"
#define GROUP group_of_two
#define GROUP_COLUMNS 2
#include "f13_matrix_model_group.glsl"
#else
#define GROUP group_of_four
#define GROUP_ROWS 1
#define GROUP_COLUMNS 4
#include "f13_matrix_group.glsl"
#define GROUP group_of_one
#define GROUP_ROWS 1
#define GROUP_COLUMNS 1
#include "f13_matrix_group.glsl"
#define GROUP group_of_two
#define GROUP_ROWS 1
#define GROUP_COLUMNS 2
#include "f13_matrix_group.glsl"
#endif

// Weights [k / 16][n][16 codes].
layout(binding = 3, std430) readonly buffer Expand { uvec4 expand_codes[]; };
layout(binding = 4, std430) readonly buffer Contract { uvec4 contract_codes[]; };
layout(binding = 5, std430) readonly buffer QkvWeight { uvec4 qkv_weight_codes[]; };
layout(binding = 6, std430) readonly buffer Project { uvec4 project_codes[]; };
layout(binding = 7, std430) readonly buffer FfnScale { uint ffn_scale[]; };
layout(binding = 8, std430) readonly buffer AttentionScale { uint attention_scale[]; };
layout(binding = 9, std430) readonly buffer HeadScale { uint head_scale[]; };
// Halves, or with FLAG_SEED_CODE codes.
layout(binding = 10, std430) readonly buffer Skip { uint skip_words[]; };
layout(binding = 11, std430) writeonly buffer OutHalf { uint out_halves[]; };

const uint FLAG_SEED_CODE = 2u;
const uint FLAG_OUT_HALF = 8u;
const uint FLAG_OUT_CODE = 16u;

layout(local_size_x = THREADS) in;

uint zero, place;

// Two codes of a word, the even or the odd pair by this invocation's place, in the low bytes of the halves.
uint two_codes(uint w) {
    uint c = w >> (16u * (place & 1u));
    return (c & 0xffu) | (c & 0xff00u) << 8;
}

// The records of 32 columns.
void load_columns(uint at, out HalfB b[2], out PowerB power_b[2]) {
    [[unroll]] for (uint j = 0; j < 2; j++) matrix_columns((at + 16 * j) * RECORD, b[j], power_b[j]);
}

// Adds a group of sixteen channels times 32 columns.
void add_group(HalfA a, PowerA power_a, uint at, inout uint acc[1][2][4]) {
    HalfB b[2];
    PowerB power_b[2];
    load_columns(at, b, power_b);
    group_of_two(PowerA[1](power_a), power_b, HalfA[1](a), b, zero, acc);
}

// The codes of sixteen channels as operand.
void operand_of(uint v[4], out HalfA a, out PowerA power_a) {
    uint codes[4];
    [[unroll]] for (uint p = 0; p < 4; p++) codes[p] = pair_codes(v[p]);
    matrix_of_codes(codes, a, power_a);
}

// Stores the codes of sixteen channels of both tokens as parts of records `at`.
void store_operand(uint at[2], uint v[4]) {
    [[unroll]] for (uint p = 0; p < 4; p++) {
        uint value, power, to = at[p >> 1] * RECORD + (p & 1u);
        matrix_operands(pair_codes(v[p]) << 8, MATRIX_BIAS_B, value, power);
        tile_memory[to][place] = value;
#ifndef EXACT_MODEL
        tile_memory[to + POWERS][place] = power;
#endif
    }
}

// The factors of both tokens' vectors of 32 channels, in both halves (numerics section 6).
uint[2] cosine_factors(uint v[1][2][4]) {
    uint factors[2];
    [[unroll]] for (uint r = 0; r < 2; r++) {
        uint s[2];
        [[unroll]] for (uint p = 0; p < 2; p++) {
            uint low = v[0][0][2 * r + p], high = v[0][1][2 * r + p];
            s[p] = pair_fma(low, low, pair_mul(high, high));
        }
        uint sum = pair_add(s[0], s[1]);
        sum = pair_add(sum, subgroupShuffleXor(sum, 2u));
        sum = pair_add(sum, subgroupShuffleXor(sum, 1u));
        factors[r] = pair_of(cosine_factor(pair_across(sum)));
    }
    return factors;
}

void clear(out uint v[1][2][4]) {
    [[unroll]] for (uint j = 0; j < 2; j++)
        [[unroll]] for (uint p = 0; p < 4; p++) v[0][j][p] = 0u;
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    // Of two windows the last one may lie outside, without any token.
    uint window = matrix_subgroup() / 4u, column = gl_WorkGroupID.x * WINDOWS + window;
    origin = ivec2(8u * uvec2(column, first_window + gl_WorkGroupID.y)) - ivec2(phase_shift(phase));
    zero = heads >> 31;
    place = gl_SubgroupInvocationID & 3u;
    uint low_token = 16u * (matrix_subgroup() % 4u) + (matrix_lane() >> 2);
    Row token[2] = Row[2](query_at(low_token), query_at(low_token + 8u));

    [[unroll]] for (uint i = thread; i < 256u; i += THREADS) {
        matrix_store((EXPAND + i) * RECORD, expand_codes[i], MATRIX_BIAS_B);
        matrix_store((CONTRACT + i) * RECORD, contract_codes[i], MATRIX_BIAS_B);
    }
    // 192 columns of QKV and 64 of the projection, for later.
    const uint LATER = 256 / THREADS;
    uvec4 later[LATER];
    [[unroll]] for (uint l = 0; l < LATER; l++) {
        uint i = l * THREADS + thread;
        later[l] = i < 192u ? qkv_weight_codes[i] : project_codes[i - 192u];
    }

    HalfA x[2];
    PowerA power_x[2];
    uint ffn[1][2][4];
    [[unroll]] for (uint j = 0; j < 2; j++) {
        uint codes[4];
        [[unroll]] for (uint p = 0; p < 4; p++) {
            Row t = token[p >> 1];
            uint w = qkv_codes[t.row * 2u + j][2u * (p & 1u) + (place >> 1)];
            codes[p] = t.inside ? two_codes(matrix_clean(w)) : 0u;
            uint scale = ffn_scale[8u * j + 4u * (p & 1u) + place], skip = 0u;
            if ((flags & FLAG_SEED_CODE) != 0u) {
                skip = pair_from_codes(two_codes(skip_words[t.row * 8u + 4u * j + 2u * (p & 1u) + (place >> 1)]));
            } else {
                skip = skip_words[t.row * 16u + 8u * j + 4u * (p & 1u) + place];
            }
            ffn[0][j][p] = t.inside ? pair_mul(skip, scale) : 0u;
        }
        matrix_of_codes(codes, x[j], power_x[j]);
    }
    barrier();

    // The FFN, sixteen hidden channels at a time. Loops with a bound that the compiler does not know stay loops: a kernel
    // of straight code would be too long for the instruction cache.
#if PAIR
    [[dont_unroll]] for (uint h = 0; h < 4u + zero; h++) {
        uint hidden[1][2][4];
        clear(hidden);
        [[unroll]] for (uint g = 0; g < 2; g++) add_group(x[g], power_x[g], EXPAND + 128 * g + 32 * h, hidden);
        [[dont_unroll]] for (uint j = 0; j < 2u + zero; j++) {
            HalfA a;
            PowerA power_a;
            [[unroll]] for (uint p = 0; p < 4; p++) hidden[0][0][p] = pair_silu(hidden[0][0][p]);
            operand_of(hidden[0][0], a, power_a);
            // The next sixteen.
            hidden[0][0] = hidden[0][1];
            add_group(a, power_a, CONTRACT + 64 * h + 32 * j, ffn);
        }
    }
#else
    [[dont_unroll]] for (uint h = 0; h < 8u + zero; h++) {
        uint hidden[1][1][4];
        [[unroll]] for (uint p = 0; p < 4; p++) hidden[0][0][p] = 0u;
        [[unroll]] for (uint g = 0; g < 2; g++) {
            HalfB b[1];
            PowerB power_b[1];
            uint at = (EXPAND + 128 * g + 16 * h) * RECORD;
            matrix_columns(at, b[0], power_b[0]);
            group_of_one(PowerA[1](power_x[g]), power_b, HalfA[1](x[g]), b, zero, hidden);
        }
        HalfA a;
        PowerA power_a;
        [[unroll]] for (uint p = 0; p < 4; p++) hidden[0][0][p] = pair_silu(hidden[0][0][p]);
        operand_of(hidden[0][0], a, power_a);
        add_group(a, power_a, CONTRACT + 32 * h, ffn);
    }
#endif
    barrier();
    [[unroll]] for (uint l = 0; l < LATER; l++) {
        uint i = l * THREADS + thread;
        matrix_store((i < 192u ? QKV + i : PROJECT + i - 192u) * RECORD, later[l], MATRIX_BIAS_B);
    }
    [[unroll]] for (uint j = 0; j < 2; j++) operand_of(ffn[0][j], x[j], power_x[j]);
    barrier();

    // Q becomes an operand at once, K and V go to shared memory, keys in their physical order.
    HalfA query[2];
    PowerA power_query[2];
    uint at[2];
    [[unroll]] for (uint r = 0; r < 2; r++) {
        uint t = low_token + 8u * r;
        at[r] = 256u * window + (t >> 5) * 32u + ((t >> 2) & 1u) * 16u + ((t >> 3) & 3u) * 4u + (t & 3u);
    }
#if WINDOWS > 1
    // Q, K and V move up part by part.
    uint parts[3][2][4];
    [[unroll]] for (uint i = 0; i < 3; i++)
        [[unroll]] for (uint j = 0; j < 2; j++)
            [[unroll]] for (uint p = 0; p < 4; p++) parts[i][j][p] = 0u;
#endif
    [[dont_unroll]] for (uint part = 0; part < 3u + zero; part++) {
        uint v[1][2][4];
        clear(v);
        [[unroll]] for (uint g = 0; g < 2; g++) add_group(x[g], power_x[g], QKV + 96 * g + 32 * part, v);
        if (part < 2u) {
            uint factors[2] = cosine_factors(v);
            // The scale of K is one.
            uint scale = part == 0u ? head_scale[0] * 0x10001u : 0x3c003c00u;
            [[unroll]] for (uint j = 0; j < 2; j++)
                [[unroll]] for (uint p = 0; p < 4; p++) v[0][j][p] = pair_mul(pair_mul(v[0][j][p], factors[p >> 1]), scale);
        }
#if WINDOWS > 1
        parts[0] = parts[1];
        parts[1] = parts[2];
        parts[2] = v[0];
    }
    // The weights of QKV have been used.
    barrier();
    [[unroll]] for (uint j = 0; j < 2; j++) {
        operand_of(parts[0][j], query[j], power_query[j]);
        store_operand(uint[2](KEYS + 64 * j + at[0], KEYS + 64 * j + at[1]), parts[1][j]);
        store_operand(uint[2](VALUES + 64 * j + at[0], VALUES + 64 * j + at[1]), parts[2][j]);
    }
#else
        [[unroll]] for (uint j = 0; j < 2; j++) {
            if (part == 0u) {
                operand_of(v[0][j], query[j], power_query[j]);
            } else {
                uint first = (part == 1u ? KEYS : VALUES) + 64 * j;
                store_operand(uint[2](first + at[0], first + at[1]), v[0][j]);
            }
        }
    }
#endif
    uint scores[1][4][4];
    [[unroll]] for (uint j = 0; j < 4; j++)
        [[unroll]] for (uint p = 0; p < 4; p++)
            scores[0][j][p] = prior_halves[(low_token + 4u * (p & 2u)) * 8u + 2u * j + (p & 1u)][place];
    barrier();

    [[dont_unroll]] for (uint g = 0; g < 2u + zero; g++) {
        HalfB b[4];
        PowerB power_b[4];
        [[unroll]] for (uint j = 0; j < 4; j++) {
            matrix_columns((256 * window + KEYS + 64 * g + 16 * j) * RECORD, b[j], power_b[j]);
        }
        group_of_four(PowerA[1](power_query[0]), power_b, HalfA[1](query[0]), b, zero, scores);
        query[0] = query[1];
        power_query[0] = power_query[1];
    }
    [[unroll]] for (uint j = 0; j < 4; j++)
        [[unroll]] for (uint p = 0; p < 4; p++) scores[0][j][p] = exponentials(scores[0][j][p]);
    [[unroll]] for (uint r = 0; r < 2; r++) {
        uint factor = reciprocal_pair(sum_of(scores, r));
        [[unroll]] for (uint j = 0; j < 4; j++)
            [[unroll]] for (uint p = 0; p < 2; p++) scores[0][j][2 * r + p] = pair_mul(scores[0][j][2 * r + p], factor);
    }
    uint attended[1][2][4];
    clear(attended);
    [[dont_unroll]] for (uint s = 0; s < 4u + zero; s++) {
        HalfA a;
        PowerA power_a;
        operand_of(scores[0][0], a, power_a);
        // The next sixteen keys.
        [[unroll]] for (uint j = 0; j < 3; j++) scores[0][j] = scores[0][j + 1];
        HalfB b[2];
        PowerB power_b[2];
        [[unroll]] for (uint j = 0; j < 2; j++) {
            matrix_rows((256 * window + VALUES + 64 * j + 16 * s) * RECORD, b[j], power_b[j]);
        }
        group_of_two(PowerA[1](power_a), power_b, HalfA[1](a), b, zero, attended);
    }

    [[unroll]] for (uint j = 0; j < 2; j++)
        [[unroll]] for (uint p = 0; p < 4; p++)
            ffn[0][j][p] = pair_mul(ffn[0][j][p], attention_scale[8u * j + 4u * (p & 1u) + place]);
    [[dont_unroll]] for (uint g = 0; g < 2u + zero; g++) {
        HalfA a;
        PowerA power_a;
        operand_of(attended[0][0], a, power_a);
        attended[0][0] = attended[0][1];
        add_group(a, power_a, PROJECT + 32 * g, ffn);
    }
    [[unroll]] for (uint r = 0; r < 2; r++) {
        [[unroll]] for (uint j = 0; j < 2; j++) {
            uint word = word_of_codes(pair_codes(ffn[0][j][2 * r]), pair_codes(ffn[0][j][2 * r + 1]));
            if (!token[r].inside) continue;
            if ((flags & FLAG_OUT_CODE) != 0u) out_codes[token[r].row * 8u + 4u * j + 2u * (place & 1u) + (place >> 1)] = word;
            if ((flags & FLAG_OUT_HALF) != 0u) {
                out_halves[token[r].row * 16u + 8u * j + place] = pair_canonical(ffn[0][j][2 * r]);
                out_halves[token[r].row * 16u + 8u * j + 4u + place] = pair_canonical(ffn[0][j][2 * r + 1]);
            }
        }
    }
}
