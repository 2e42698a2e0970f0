// Attention on matrix units (f13_matrix.glsl), one head and 64 queries a workgroup, sixteen of them a subgroup (numerics
// sections 9 and 10). Keys come in blocks of 64. Scores, exponentials, sums and weights stay in the registers in which the
// matrix units leave the scores (attention_matrix.glsl).
#version 460
#pragma variant window WINDOW=1
#pragma variant vit WINDOW=0
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_bfloat16 : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

// Records: queries and keys of both groups of channels, then values, a record sixteen channels of a key.
const uint QUERIES = 0, KEYS = 128, VALUES = 256;
const uint RECORD = 5;
shared uvec4 tile_memory[384 * RECORD];

#include "attention_matrix.glsl"

#define GROUP score_group
#define GROUP_ROWS 1
#define GROUP_COLUMNS 4
#include "f13_matrix_group.glsl"
#define GROUP value_group
#define GROUP_ROWS 1
#define GROUP_COLUMNS 2
#include "f13_matrix_group.glsl"

layout(local_size_x = 128) in;

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
    uint zero = heads >> 31, own = thread >> 1, half_of = thread & 1u;
    uint place = gl_SubgroupInvocationID & 3u, first_row = 16u * gl_SubgroupID, low_row = first_row + (gl_SubgroupInvocationID >> 2);
    {
        Row query = query_at(own);
        uvec4 codes = load_codes(query.row, query.inside, head, half_of);
        matrix_store((QUERIES + 64 * half_of + own) * RECORD, matrix_cleaned(codes), MATRIX_BIAS_A);
    }

    uint values[1][2][4];
    [[unroll]] for (uint j = 0; j < 2; j++)
        [[unroll]] for (uint p = 0; p < 4; p++) values[0][j][p] = 0u;
    uint total[2] = uint[2](0u, 0u);

    for (uint block = 0; block < blocks; block++) {
        uint scores[1][4][4];
        [[unroll]] for (uint j = 0; j < 4; j++) {
            [[unroll]] for (uint p = 0; p < 4; p++) {
#if WINDOW
                scores[0][j][p] = prior_halves[(head * 64u + low_row + 4u * (p & 2u)) * 8u + 2u * j + (p & 1u)][place];
#else
                scores[0][j][p] = 0u;
#endif
            }
        }
        Row key = key_at(block, own);
        uvec4 key_codes = load_codes(key.row, key.inside, head, 2u + half_of);
        uvec4 value_codes = load_codes(key.row, key.inside, head, 4u + half_of);
#if !WINDOW
        // The block before has been used.
        if (block > 0u) barrier();
#endif
        matrix_store((KEYS + 64 * half_of + own) * RECORD, matrix_cleaned(key_codes), MATRIX_BIAS_B);
        matrix_store((VALUES + 64 * half_of + own) * RECORD, matrix_cleaned(value_codes), MATRIX_BIAS_B);
        barrier();
        // Loops with a bound that the compiler does not know stay loops, which the instruction cache likes.
        [[dont_unroll]] for (uint g = 0; g < 2u + zero; g++) {
            PowerA power_a[1];
            HalfA a[1];
            uint at = (QUERIES + 64 * g + first_row) * RECORD;
            coopMatLoad(a[0], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
            coopMatLoad(power_a[0], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
            PowerB power_b[4];
            HalfB b[4];
            [[unroll]] for (uint j = 0; j < 4; j++) {
                at = (KEYS + 64 * g + 16 * j) * RECORD;
                coopMatLoad(b[j], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
                coopMatLoad(power_b[j], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutColumnMajor);
            }
            score_group(power_a, power_b, a, b, zero, scores);
        }
        [[unroll]] for (uint j = 0; j < 4; j++)
            [[unroll]] for (uint p = 0; p < 4; p++) scores[0][j][p] = exponentials(scores[0][j][p]);
        [[unroll]] for (uint r = 0; r < 2; r++) {
            uint sum = sum_of(scores, r);
#if WINDOW
            uint factor = reciprocal_pair(sum);
            [[unroll]] for (uint j = 0; j < 4; j++)
                [[unroll]] for (uint p = 0; p < 2; p++) scores[0][j][2 * r + p] = pair_mul(scores[0][j][2 * r + p], factor);
#else
            total[r] = pair_add(total[r], sum);
#endif
        }
        [[dont_unroll]] for (uint s = 0; s < 4u + zero; s++) {
            PowerA power_a[1];
            HalfA a[1];
            uint codes[4];
            [[unroll]] for (uint p = 0; p < 4; p++) codes[p] = pair_codes(scores[0][0][p]);
            matrix_of_codes(codes, a[0], power_a[0]);
            // The next sixteen keys.
            [[unroll]] for (uint j = 0; j < 3; j++) scores[0][j] = scores[0][j + 1];
            PowerB power_b[2];
            HalfB b[2];
            [[unroll]] for (uint j = 0; j < 2; j++) {
                uint at = (VALUES + 64 * j + 16 * s) * RECORD;
                coopMatLoad(b[j], tile_memory, at, RECORD, gl_CooperativeMatrixLayoutRowMajor);
                coopMatLoad(power_b[j], tile_memory, at + POWERS, RECORD, gl_CooperativeMatrixLayoutRowMajor);
            }
            value_group(power_a, power_b, a, b, zero, values);
        }
    }

    [[unroll]] for (uint r = 0; r < 2; r++) {
        Row to = query_at(low_row + 8u * r);
#if !WINDOW
        // Padding keys score zero and are taken off again; the product is exact in f32.
        float padding = unpackHalf2x16(exponentials(0u)).x * float(padded - tokens);
        uint factor = reciprocal_pair(padded > tokens ? pair_sub(total[r], packHalf2x16(vec2(padding))) : total[r]);
#endif
        [[unroll]] for (uint j = 0; j < 2; j++) {
            uint codes[2];
            [[unroll]] for (uint p = 0; p < 2; p++) {
                uint o = values[0][j][2 * r + p];
#if !WINDOW
                o = pair_mul(o, factor);
#endif
                codes[p] = pair_codes(o);
            }
            uint word = word_of_codes(codes[0], codes[1]);
            if (to.inside) out_codes[(to.row * heads + head) * 8u + 4u * j + 2u * (place & 1u) + (place >> 1)] = word;
        }
    }
}
