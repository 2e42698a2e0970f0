// A whole window block in one dispatch, as block.comp, for at most 64 channels: a warp keeps 32 rows from the block's input to its
// output, two warps a window. A product's sums become the next one's left operand in registers; only K and V pass between the warps.
//
// For devices that spread sums and left operands alike. Sums over a row (squares, exponentials) are products with a matrix of
// ones, so their rounding differs from the contract's tree; both halves of a word are the same one.
#version 460
#pragma variant c32 CHANNELS=32 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant first CHANNELS=32 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant last CHANNELS=32 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=0
#pragma variant c64 CHANNELS=64 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c32_model CHANNELS=32 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant first_model CHANNELS=32 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant last_model CHANNELS=32 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=1
#pragma variant c64_model CHANNELS=64 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(local_size_x = 64) in;

#define AHEAD 2
#define DENSE (CHANNELS == 32)
// Column tiles of the state.
#define NT (CHANNELS / 16)

const uint STATE_STRIDE = CHANNELS / 8 + 1;
#define OUT_STRIDE STATE_STRIDE
// Rows of K and V.
const uint KEYS = 64 * STATE_STRIDE;
#define KEY_STRIDE 9
#define MODEL_BINDING 5
#include "memory.glsl"
TILE_MEMORY(64 * STATE_STRIDE + 64 * KEY_STRIDE)

#include "block_io.glsl"

#include "head.glsl"

// The warp's rows of the state: values of codes, or raw halves where they seed the FFN, or the features.
void load_rows(uint lane, uint first, ivec2 origin) {
#if WITH_ENTRY == 1
    const uint PARTS = 1;
#else
    const uint PARTS = CHANNELS / 16;
#endif
    for (uint i = lane; i < 32u * PARTS; i += 32u) {
        uvec2 pixel;
        uint row = first + i / PARTS, part = i % PARTS;
        uvec4 low = uvec4(0u), high = uvec4(0u);
        if (token_pixel(origin, row, pixel)) {
#if WITH_ENTRY == 1
            uint at = ((pixel.y - first_line) * width + pixel.x) * 2u;
            low = input_words[at], high = input_words[at + 1u];
#else
            entry(pixel, part, low, high);
#endif
        }
#if !DENSE
        if ((flags & FLAG_MERGE) != 0u) low = quantise4(low), high = quantise4(high);
#endif
        tile_memory[row * STATE_STRIDE + 2u * part] = low;
        tile_memory[row * STATE_STRIDE + 2u * part + 1u] = high;
    }
}

void main() {
    uint warp = warp_index(), lane = lane_index(), first = 32u * warp;
    ivec2 origin = window_origin(gl_WorkGroupID.x);
    uint state = first * STATE_STRIDE;
    load_rows(lane, first, origin);
    warp_barrier();

    // Seeds: the scaled skip.
    MatrixC acc[2][NT];
#if WITH_ENTRY == 1
    UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = zero_c();
#define ADAPTER_TILE(kt, j) (EXTRA + (j) * TILE)
    MULTIPLY_TILES(acc, 2, NT, 1, state, STATE_STRIDE, ADAPTER_TILE)
    warp_barrier();
#else
    UNROLL for (uint i = 0; i < 2; i++)
        UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = load_c(state + 16u * i * STATE_STRIDE + 2u * j, STATE_STRIDE);
#endif
    UNROLL for (uint j = 0; j < NT; j++) {
        MatrixC scale = load_c_weights(FFN_SKIP + j * TILE);
        UNROLL for (uint i = 0; i < 2; i++) {
#if DENSE
            MatrixC x = acc[i][j];
            MATRIX_MAP(x, pair_quantise);
            store_c(x, state + 16u * i * STATE_STRIDE + 2u * j, STATE_STRIDE);
#endif
            MATRIX_ZIP(acc[i][j], scale, pair_mul);
        }
    }
#if DENSE
    warp_barrier();
#endif

    for (uint expert = 0; expert < HEADS; expert++) {
#if !DENSE
        MatrixC narrow[2][2];
        UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 2; j++) narrow[i][j] = zero_c();
#endif
        UNROLL for (uint part = 0; part < 2; part++) {
            MatrixC hidden[2][4];
            UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 4; j++) hidden[i][j] = zero_c();
#define HIDDEN_TILE(kt, j) (W1 + ((expert * KT + (kt)) * 8u + 4u * part + (j)) * TILE)
            MULTIPLY_TILES(hidden, 2, 4, KT, state, STATE_STRIDE, HIDDEN_TILE)
            UNROLL for (uint k = 0; k < 4; k++) {
                MatrixB b[2];
                UNROLL for (uint j = 0; j < 2; j++) b[j] = load_b_weights(W2 + ((expert * 8u + 4u * part + k) * 2u + j) * TILE);
                UNROLL for (uint i = 0; i < 2; i++) {
                    MATRIX_MAP(hidden[i][k], pair_silu_quantise);
                    MatrixA a = as_a(hidden[i][k]);
#if DENSE
                    UNROLL for (uint j = 0; j < 2; j++) acc[i][j] = multiply(a, b[j], acc[i][j]);
#else
                    UNROLL for (uint j = 0; j < 2; j++) narrow[i][j] = multiply(a, b[j], narrow[i][j]);
#endif
                }
            }
        }
#if !DENSE
        UNROLL for (uint k = 0; k < 2; k++) {
            MatrixA a[2];
            UNROLL for (uint i = 0; i < 2; i++) {
                MATRIX_MAP(narrow[i][k], pair_quantise);
                a[i] = as_a(narrow[i][k]);
            }
            UNROLL for (uint j = 0; j < NT; j++) {
                MatrixB b = load_b_weights(W3 + ((2u * expert + k) * NC + j) * TILE);
                UNROLL for (uint i = 0; i < 2; i++) acc[i][j] = multiply(a[i], b, acc[i][j]);
            }
        }
#endif
    }

    // The FFN's result takes the place of the state; scaled it seeds the projection.
    warp_barrier();
    UNROLL for (uint j = 0; j < NT; j++) {
        MatrixC scale = load_c_weights(ATTENTION_SKIP + j * TILE);
        UNROLL for (uint i = 0; i < 2; i++) {
            MatrixC y = acc[i][j];
            MATRIX_MAP(y, pair_quantise);
            store_c(y, state + 16u * i * STATE_STRIDE + 2u * j, STATE_STRIDE);
#if !DENSE
            acc[i][j] = y;
#endif
            MATRIX_ZIP(acc[i][j], scale, pair_mul);
        }
    }
    warp_barrier();

    for (uint head = 0; head < HEADS; head++) {
        MatrixC qkv[2][6];
        UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 6; j++) qkv[i][j] = zero_c();
#define QKV_TILE(kt, j) (QKV + ((head * KT + (kt)) * 6u + (j)) * TILE)
        MULTIPLY_TILES(qkv, 2, 6, KT, state, STATE_STRIDE, QKV_TILE)
        uint scale = weights[SCALES + head].x;
        MatrixA q[2][2];
        // The keys of the head before have been read.
        if (head > 0u) group_barrier();
        UNROLL for (uint i = 0; i < 2; i++) head_operands(qkv[i], scale, KEYS + (first + 16u * i) * KEY_STRIDE, q[i]);
        group_barrier();
        UNROLL for (uint i = 0; i < 2; i++) {
            MatrixC o[2];
            head_attend(q[i], PRIOR + (head * 4u + 2u * warp + i) * 4u * TILE, KEYS, o);
            UNROLL for (uint k = 0; k < 2; k++) {
                MATRIX_MAP(o[k], pair_round);
                MatrixA a = as_a(o[k]);
                UNROLL for (uint j = 0; j < NT; j++)
                    acc[i][j] = multiply(a, load_b_weights(PROJECT + ((2u * head + k) * NC + j) * TILE), acc[i][j]);
            }
        }
    }

#if WITH_HEAD
    UNROLL for (uint i = 0; i < 2; i++) {
        MatrixC out_tile = zero_c();
        UNROLL for (uint k = 0; k < 2; k++)
            out_tile = multiply(as_a(acc[i][k]), load_b_weights(HEAD_WEIGHT + k * TILE), out_tile);
        store_c(out_tile, state + 16u * i * STATE_STRIDE, STATE_STRIDE);
    }
    warp_barrier();
    uvec2 pixel;
    if (token_pixel(origin, first + lane, pixel))
        out_halves[(pixel.y - first_line) * width + pixel.x] = tile_memory[state + lane * STATE_STRIDE].xy;
#else
    // Raw halves through the state rows.
    UNROLL for (uint j = 0; j < NT; j++)
        UNROLL for (uint i = 0; i < 2; i++) store_c(acc[i][j], state + 16u * i * STATE_STRIDE + 2u * j, STATE_STRIDE);
    warp_barrier();
    publish_rows(lane, 32u, first, 32u, 0u, origin);
    // A warp's rows are the upper or the lower half of the window.
    if ((flags & FLAG_POOL) != 0u) publish_pooled(lane, 32u, gl_WorkGroupID.x, 0u, origin, warp == 0u, warp == 1u);
#endif
}
