// ViT attention on matrix units (numerics section 10), as vit.comp, with a warp's 32 queries, their scores and their weights in
// registers; keys come 64 at a time. For devices that spread sums and left operands alike. Sums of exponentials are products
// with a matrix of ones.
#version 460
#pragma variant few WARPS=2 MATRIX_MODEL=0
#pragma variant many WARPS=4 MATRIX_MODEL=0
#pragma variant few_model WARPS=2 MATRIX_MODEL=1
#pragma variant many_model WARPS=4 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(local_size_x = 32 * WARPS) in;

// Rows of K and V; rows of queries hold Q, then attended halves.
#define KEY_STRIDE 9
#define QUERY_STRIDE 5
const uint QUERIES = 64 * KEY_STRIDE;
#define MODEL_BINDING 3
#include "memory.glsl"
TILE_MEMORY(64 * KEY_STRIDE + 32 * WARPS * QUERY_STRIDE)

layout(binding = 0, std430) readonly buffer Qkv { uvec4 qkv_codes[]; };
// Not read: the matrix operations name it.
layout(binding = 1, std430) readonly buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) writeonly buffer Output { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint heads;
    uint tokens;
    uint padded;
    uint flags;  // none
};

#define opaque_zero (flags >> 31)
#include "matrix.glsl"

// Sixteen codes of a token's head as an operand: parts 0 and 1 are Q, 2 and 3 K, 4 and 5 V.
void copy(uint token, uint head, uint part, uint at) {
    uvec4 codes = uvec4(0u);
    if (token < tokens) codes = qkv_codes[(token * heads + head) * 6u + part];
    put_codes(at, codes);
}

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index();
    uint first_query = 32u * WARPS * gl_WorkGroupID.x, head = gl_WorkGroupID.y;
    uint rows = QUERIES + 32u * warp * QUERY_STRIDE;
    UNROLL for (uint i = 0; i < 2; i++)
        copy(first_query + thread, head, i, QUERIES + thread * QUERY_STRIDE + 2u * i);
    group_barrier();
    MatrixA q[2][2];
    MatrixC o[2][2], total[2];
    UNROLL for (uint i = 0; i < 2; i++) {
        total[i] = zero_c();
        UNROLL for (uint j = 0; j < 2; j++) {
            q[i][j] = load_a(rows + 16u * i * QUERY_STRIDE + 2u * j, QUERY_STRIDE);
            o[i][j] = zero_c();
        }
    }
    for (uint block = 0; block < padded; block += 64u) {
        group_barrier();
        UNROLL for (uint i = 0; i < 8 / WARPS; i++) {
            uint key = (thread >> 2) + 8u * WARPS * i, part = thread & 3u;
            copy(block + key, head, 2u + part, key * KEY_STRIDE + 2u * part);
        }
        group_barrier();
        UNROLL for (uint n = 0; n < 4; n++) {
            MatrixB keys[2], values[2];
            UNROLL for (uint k = 0; k < 2; k++) {
                keys[k] = load_b_columns(16u * n * KEY_STRIDE + 2u * k, KEY_STRIDE);
                values[k] = load_b_rows(16u * n * KEY_STRIDE + 4u + 2u * k, KEY_STRIDE);
            }
            UNROLL for (uint i = 0; i < 2; i++) {
                MatrixC s = zero_c();
                UNROLL for (uint k = 0; k < 2; k++) s = multiply(q[i][k], keys[k], s);
                MATRIX_MAP(s, pair_exp_vit);
                total[i] = multiply(as_a(s), ones_b(), total[i]);
                MATRIX_MAP(s, pair_weight);
                MatrixA a = as_a(s);
                UNROLL for (uint j = 0; j < 2; j++) o[i][j] = multiply(a, values[j], o[i][j]);
            }
        }
    }
    // expVit(0) for every key that is padding.
    uint correction = padded > tokens ? pair_rounded(0.083984375 * float(padded - tokens)) : 0u;
    UNROLL for (uint i = 0; i < 2; i++) {
        UNROLL for (uint w = 0; w < MATRIX_WORDS(total[i]); w++)
            set_matrix_word(total[i], w, pair_reciprocal(pair_sub(matrix_word(total[i], w), correction)));
        UNROLL for (uint j = 0; j < 2; j++) {
            MATRIX_ZIP(o[i][j], total[i], pair_mul);
            store_c(o[i][j], rows + 16u * i * QUERY_STRIDE + 2u * j, QUERY_STRIDE);
        }
    }
    group_barrier();
    uint query = first_query + thread, at = QUERIES + thread * QUERY_STRIDE;
    if (query < tokens) {
        UNROLL for (uint i = 0; i < 2; i++)
            out_codes[(query * heads + head) * 2u + i] = pack16(tile_memory[at + 2u * i], tile_memory[at + 2u * i + 1u]);
    }
}
