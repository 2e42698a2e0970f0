// ViT attention on matrix units (numerics section 10): one head and 64 queries a workgroup, sixteen queries a warp, keys 64 at
// a time.
#version 460
#pragma variant device WARPS=4 MATRIX_MODEL=0
#pragma variant model WARPS=4 MATRIX_MODEL=1
#pragma variant float8 FLOAT8=1 WARPS=4 MATRIX_MODEL=0
#pragma variant float8_model FLOAT8=1 WARPS=4 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#if FLOAT8
#extension GL_EXT_float_e4m3 : require
#endif
#endif

layout(local_size_x = 128) in;

// Rows of keys hold K and V; rows of queries hold Q, then scores, weights and sums.
#define STRIDE 9
const uint QUERIES = 64 * STRIDE;
const uint WORK = 2 * 64 * STRIDE;
#define MODEL_BINDING 3
#include "memory.glsl"
TILE_MEMORY(3 * 64 * STRIDE)
// Nothing is stored as codes but what four invocations hold.
#define STAGES WORK

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
#include "softmax.glsl"

// Sixteen codes of a token's head as an operand: parts 0 and 1 are Q, 2 and 3 K, 4 and 5 V.
void copy(uint token, uint head, uint part, uint at) {
    uvec4 codes = uvec4(0u);
    if (token < tokens) codes = qkv_codes[(token * heads + head) * 6u + part];
    put_codes(at, codes);
}

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index(), lane = lane_index();
    uint first_query = 64u * gl_WorkGroupID.x, head = gl_WorkGroupID.y;
    copy(first_query + (thread >> 1), head, thread & 1u, QUERIES + (thread >> 1) * STRIDE + OPERAND * (thread & 1u));
    uint rows = WORK + 16u * warp * STRIDE;
    MatrixC o[2];
    o[0] = zero_c(), o[1] = zero_c();
    // Of the rows 8 * pass + lane / 4 of the warp's sixteen.
    uint totals[2];
    totals[0] = 0u, totals[1] = 0u;
    uint lanes = gl_SubgroupInvocationID & ~3u, part = lane & 3u;
    for (uint block = 0; block < padded; block += 64u) {
        group_barrier();
        UNROLL for (uint i = 0; i < 2; i++) {
            uint key = (thread >> 2) + 32u * i;
            copy(block + key, head, 2u + part, key * STRIDE + OPERAND * part);
        }
        group_barrier();
        MatrixC s[4];
        UNROLL for (uint j = 0; j < 4; j++) s[j] = zero_c();
        UNROLL for (uint kt = 0; kt < STEPS(32); kt++) {
            MatrixA a = load_a(QUERIES + 16u * warp * STRIDE + 2u * kt, STRIDE);
            UNROLL for (uint j = 0; j < 4; j++) {
                MatrixB b = load_b_columns(16u * j * STRIDE + 2u * kt, STRIDE);
                s[j] = multiply(a, b, s[j]);
            }
        }
        UNROLL for (uint j = 0; j < 4; j++) {
            MATRIX_MAP(s[j], pair_exp_vit);
            store_c(s[j], rows + 2u * j, STRIDE);
        }
        warp_barrier();
        UNROLL for (uint pass = 0; pass < 2; pass++) {
            uint at = rows + (8u * pass + (lane >> 2)) * STRIDE, t = 0u, e[8];
            UNROLL for (uint j = 0; j < 8; j++) e[j] = tile_memory[at + j][part];
            store_weights(at, part, e);
            UNROLL for (uint j = 0; j < 4; j++) {
                uint b = pair_add(e[2 * j], e[2 * j + 1]);
                t = j == 0 ? b : pair_add(t, b);
            }
            uint sum = subgroupShuffle(t, lanes);
            UNROLL for (uint i = 1; i < 4; i++) sum = pair_add(sum, subgroupShuffle(t, lanes + i));
            totals[pass] = pair_add(totals[pass], pair_across(sum));
        }
        warp_barrier();
        UNROLL for (uint kt = 0; kt < STEPS(64); kt++) {
            MatrixA a = load_a(rows + 2u * kt, STRIDE);
            UNROLL for (uint j = 0; j < 2; j++) {
                MatrixB b = load_b_rows(K_TILE * kt * STRIDE + 2u * OPERAND + OPERAND * j, STRIDE);
                o[j] = multiply(a, b, o[j]);
            }
        }
    }
    // The sums go through the rows of weights.
    warp_barrier();
    UNROLL for (uint j = 0; j < 2; j++) store_c(o[j], rows + 2u * j, STRIDE);
    // expVit(0) for every key that is padding.
    float padding = 0.083984375 * float(padded - tokens);
    uint correction = pair_rounded(padding);
    warp_barrier();
    UNROLL for (uint pass = 0; pass < 2; pass++) {
        uint row = 8u * pass + (lane >> 2);
        uint query = first_query + 16u * warp + row, at = rows + row * STRIDE;
        uint total = padded > tokens ? pair_sub(totals[pass], correction) : totals[pass];
        uint factor = pair_reciprocal(total);
        if (part < 2u && query < tokens) {
            uvec4 low = tile_memory[at + 2u * part], high = tile_memory[at + 2u * part + 1u];
            UNROLL for (uint i = 0; i < 4; i++) low[i] = pair_mul(low[i], factor), high[i] = pair_mul(high[i], factor);
            out_codes[(query * heads + head) * 2u + part] = pack16(low, high);
        }
    }
}
