// A whole window block in one dispatch (network section 4): FFN, QKV, normalisation, attention and projection of one 8x8 window
// a workgroup. Nothing between the block's input and its output leaves the chip.
//
// Hidden channels come 128 at a time (an expert's). With C = 256 shared memory holds half of them at a time, so they are stored
// and used in two parts, but for FLOAT8, whose rows are half as long. What an expert or a head contributes to the C outputs is added to accumulators that stay in registers,
// in the order of the contract's K.
//
// WITH_ENTRY says where the state comes from: 0 its codes (or, with FLAG_MERGE, the decoder entry of numerics section 11), 1 the features through
// the adapter (block 0), 2 the post blend (block 70). With WITH_HEAD the output is the head's instead of codes.
#version 460
#pragma variant c32 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant first CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant last CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=0
#pragma variant c64 CHANNELS=64 WARPS=4 WARPS_M=1 QKV_M=1 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c128 CHANNELS=128 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c256 CHANNELS=256 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c32_model CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant first_model CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant last_model CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=1
#pragma variant c64_model CHANNELS=64 WARPS=4 WARPS_M=1 QKV_M=1 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant c128_model CHANNELS=128 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant c256_model CHANNELS=256 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant c32_float8 FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant first_float8 FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant last_float8 FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=0
#pragma variant c64_float8 FLOAT8=1 CHANNELS=64 WARPS=4 WARPS_M=1 QKV_M=1 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c128_float8 FLOAT8=1 CHANNELS=128 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c256_float8 FLOAT8=1 CHANNELS=256 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=0
#pragma variant c32_float8_model FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant first_float8_model FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=1 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant last_float8_model FLOAT8=1 CHANNELS=32 WARPS=4 WARPS_M=2 QKV_M=2 WITH_ENTRY=2 WITH_HEAD=1 MATRIX_MODEL=1
#pragma variant c64_float8_model FLOAT8=1 CHANNELS=64 WARPS=4 WARPS_M=1 QKV_M=1 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant c128_float8_model FLOAT8=1 CHANNELS=128 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
#pragma variant c256_float8_model FLOAT8=1 CHANNELS=256 WARPS=8 WARPS_M=1 QKV_M=2 WITH_ENTRY=0 WITH_HEAD=0 MATRIX_MODEL=1
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

layout(local_size_x = 32 * WARPS) in;

#define DENSE (CHANNELS == 32)
#define WARPS_N (WARPS / WARPS_M)
// Tiles of a warp: rows, and columns of C outputs and of the 128 hidden channels; both of Q,
// K and V of the heads of a pass.
#define MT (4 / WARPS_M)
#define NT (CHANNELS / 16 / WARPS_N)
#define HT (8 / WARPS_N)
#define QKV_N (WARPS / QKV_M)
#define QM (4 / QKV_M)
#define QT 3
#define HEADS_A_PASS (QKV_N / 2)

// Elements of a row of raw halves, of a state row, of a work row; one more than needed for the banks' sake.
const uint OUT_STRIDE = CHANNELS / 8 + 1;
#if FLOAT8
const uint STATE_STRIDE = CHANNELS / 16 + 1;
#else
const uint STATE_STRIDE = OUT_STRIDE;
#endif
#if CHANNELS == 256 && FLOAT8
#define HALVES_OF_HIDDEN 1
#define WORK_STRIDE 13
#define NARROW 8
#define ATTENDED 0
#elif CHANNELS == 256
#define HALVES_OF_HIDDEN 2
#define WORK_STRIDE 13
#define NARROW 8
#define ATTENDED 0
#elif DENSE
#define HALVES_OF_HIDDEN 1
#define WORK_STRIDE 17
#define ATTENDED 12
#else
#define HALVES_OF_HIDDEN 1
#define WORK_STRIDE 21
#define NARROW 16
#define ATTENDED 12
#endif
const uint WORK = 64 * STATE_STRIDE;
const uint STAGES = WORK + 64 * WORK_STRIDE;
#define MODEL_BINDING 5
#include "memory.glsl"
#if FLOAT8
// Rows of raw halves take the place of everything else, before the first operand and behind the last.
const uint OPERANDS = STAGES + 32 * WARPS, RAW = 64 * OUT_STRIDE;
TILE_MEMORY(OPERANDS > RAW ? OPERANDS : RAW)
#else
TILE_MEMORY(STAGES)
#endif

#include "block_io.glsl"
#include "window.glsl"

#if FLOAT8
#include "f24.glsl"

// A weight tile of halves: eight of column c, k = 8 * group and following.
float[8] eight_weights(uint at, uint c, uint group) {
    uvec4 words = weights[at + 2u * c + group];
    float w[8];
    for (uint k = 0; k < 8; k++) w[k] = half_to_f32(words[k >> 1] >> (16u * (k & 1u)) & 0xffffu);
    return w;
}

float[8] eight_halves(uvec4 words) {
    float x[8];
    for (uint k = 0; k < 8; k++) x[k] = half_to_f32(words[k >> 1] >> (16u * (k & 1u)) & 0xffffu);
    return x;
}

// Sixteen raw halves of the adapter (numerics section 4) from the features of a pixel.
void adapt(uvec2 pixel, uint part, out uvec4 low, out uvec4 high) {
    uint at = ((pixel.y - first_line) * width + pixel.x) * 2u;
    float first[8] = eight_halves(input_words[at]), second[8] = eight_halves(input_words[at + 1u]);
    for (uint c = 0; c < 16; c++) {
        uint tile = EXTRA + part * TILE;
        float v = group24(second, eight_weights(tile, c, 1u), group24(first, eight_weights(tile, c, 0u), 0.0));
        uint bits = half_bits(v) << (16u * (c & 1u)), word = (c & 7u) >> 1;
        if (c < 8u) low[word] = (c & 1u) == 0u ? bits : low[word] | bits;
        else high[word] = (c & 1u) == 0u ? bits : high[word] | bits;
    }
}

// The state as codes, of sixteen channels each, and what seeds the FFN into rows of raw halves: the raw state, or from 64 channels on
// the values of its codes.
#define STATE_PARTS (64 * (CHANNELS / 16) / THREADS)
struct StateCodes { uvec4 w[STATE_PARTS]; };

StateCodes load_state(uint thread, ivec2 origin) {
    StateCodes codes;
    for (uint p = 0; p < STATE_PARTS; p++) {
        uint i = thread + THREADS * p, row = i / (CHANNELS / 16), part = i % (CHANNELS / 16);
        uvec2 pixel;
        uvec4 low = uvec4(0u), high = uvec4(0u);
        if (token_pixel(origin, row, pixel)) {
#if WITH_ENTRY == 1
            adapt(pixel, part, low, high);
#else
            entry(pixel, part, low, high);
#endif
        }
        codes.w[p] = pack16(low, high);
#if !DENSE
        unpack16(codes.w[p], low, high);
#endif
        tile_memory[row * OUT_STRIDE + 2u * part] = low;
        tile_memory[row * OUT_STRIDE + 2u * part + 1u] = high;
    }
    return codes;
}

void store_state(uint thread, StateCodes codes) {
    for (uint p = 0; p < STATE_PARTS; p++) {
        uint i = thread + THREADS * p;
        tile_memory[i / (CHANNELS / 16) * STATE_STRIDE + i % (CHANNELS / 16)] = codes.w[p];
    }
}

// Four raw halves of the head (numerics section 4) of a row of raw halves.
uvec2 head_of(uint row) {
    vec4 acc = vec4(0.0);
    for (uint g = 0; g < 4; g++) {
        float x[8] = eight_halves(tile_memory[row * OUT_STRIDE + g]);
        for (uint c = 0; c < 4; c++)
            acc[c] = group24(x, eight_weights(HEAD_WEIGHT + (g >> 1) * TILE, c, g & 1u), acc[c]);
    }
    return uvec2(half_pack(acc.x, acc.y), half_pack(acc.z, acc.w));
}
#else
// The state of the window into the state rows; raw halves also into the work rows where they seed the FFN.
void load_state(uint thread, ivec2 origin) {
#if WITH_ENTRY == 1
    for (uint i = thread; i < 128u; i += THREADS) {
        uvec2 pixel;
        uint row = i >> 1, part = i & 1u;
        bool inside = token_pixel(origin, row, pixel);
        uvec4 w = uvec4(0u);
        if (inside) w = input_words[((pixel.y - first_line) * width + pixel.x) * 2u + part];
        tile_memory[work_row(row) + part] = w;
    }
#else
    for (uint i = thread; i < 64u * (CHANNELS / 16); i += THREADS) {
        uvec2 pixel;
        uint row = i / (CHANNELS / 16), part = i % (CHANNELS / 16);
        uvec4 low = uvec4(0u), high = uvec4(0u);
        if (token_pixel(origin, row, pixel)) entry(pixel, part, low, high);
#if DENSE
        tile_memory[work_row(row) + 2u * part] = low;
        tile_memory[work_row(row) + 2u * part + 1u] = high;
#endif
        uint at = row * STATE_STRIDE + 2u * part;
        // Without a merge the halves are values of codes already.
        tile_memory[at] = quantise4(low);
        tile_memory[at + 1u] = quantise4(high);
    }
#endif
}
#endif

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index(), lane = lane_index();
    uint warp_m = warp / WARPS_N, warp_n = warp % WARPS_N;
    uint qkv_m = warp / QKV_N, qkv_n = warp % QKV_N;
    uint first_tile = warp_n * NT;
    ivec2 origin = window_origin(gl_WorkGroupID.x);
    // State rows and work rows of this warp.
    uint state = 16u * MT * warp_m * STATE_STRIDE, work = work_row(16u * MT * warp_m);

#if FLOAT8
    StateCodes codes = load_state(thread, origin);
#else
    load_state(thread, origin);
#endif
    group_barrier();

    // Seeds: the scaled skip.
    MatrixC acc[MT][NT];
#if WITH_ENTRY == 1 && !FLOAT8
    UNROLL for (uint i = 0; i < MT; i++) UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = zero_c();
#define ADAPTER_TILE(kt, j) (EXTRA + (first_tile + (j)) * TILE)
    MULTIPLY_TILES(acc, MT, NT, 1, work, WORK_STRIDE, ADAPTER_TILE)
#endif
    UNROLL for (uint j = 0; j < NT; j++) {
        MatrixC scale = load_c_weights(FFN_SKIP + (first_tile + j) * TILE);
        UNROLL for (uint i = 0; i < MT; i++) {
#if FLOAT8
            acc[i][j] = load_c(16u * (MT * warp_m + i) * OUT_STRIDE + 2u * (first_tile + j), OUT_STRIDE);
#elif WITH_ENTRY == 1
            MatrixC x = acc[i][j];
            MATRIX_MAP(x, pair_quantise);
            store_c(x, state + 16u * i * STATE_STRIDE + 2u * (first_tile + j), STATE_STRIDE);
#elif DENSE
            acc[i][j] = load_c(work + 16u * i * WORK_STRIDE + 2u * (first_tile + j), WORK_STRIDE);
#else
            acc[i][j] = load_c(state + 16u * i * STATE_STRIDE + 2u * (first_tile + j), STATE_STRIDE);
#endif
            MATRIX_ZIP(acc[i][j], scale, pair_mul);
        }
    }
#if FLOAT8
    group_barrier();
    store_state(thread, codes);
    group_barrier();
#elif DENSE
    // Work rows are about to be overwritten, state rows were perhaps just written.
    group_barrier();
#endif

    for (uint expert = 0; expert < HEADS; expert++) {
        MatrixC hidden[MT][HT];
        UNROLL for (uint i = 0; i < MT; i++) UNROLL for (uint j = 0; j < HT; j++) hidden[i][j] = zero_c();
#define HIDDEN_TILE(kt, j) (W1 + ((expert * KT + (kt)) * 8u + warp_n * HT + (j)) * TILE)
        MULTIPLY_TILES(hidden, MT, HT, KT, state, STATE_STRIDE, HIDDEN_TILE)
#if HALVES_OF_HIDDEN == 1
        UNROLL for (uint i = 0; i < MT; i++)
            UNROLL for (uint j = 0; j < HT; j++)
                PUBLISH_SILU(hidden[i][j], work + 16u * i * WORK_STRIDE + OPERAND * (warp_n * HT + j), WORK_STRIDE)
#else
        UNROLL for (uint i = 0; i < MT; i++) UNROLL for (uint j = 0; j < HT; j++) MATRIX_MAP(hidden[i][j], pair_silu_quantise);
#endif
#if DENSE
#define CONTRACT_TILE(kt, j) (W2 + ((kt) * 2u + first_tile + (j)) * TILE)
        PREFETCH_TILES(contract_ring, NT, STEPS(128), CONTRACT_TILE)
        group_barrier();
        MULTIPLY_PREFETCHED(contract_ring, acc, MT, NT, STEPS(128), work, WORK_STRIDE, CONTRACT_TILE)
#else
        // Sixteen rows and VALUE_TILES column tiles of an expert's 32 outputs a warp.
        MatrixC narrow[1][VALUE_TILES];
        UNROLL for (uint j = 0; j < VALUE_TILES; j++) narrow[0][j] = zero_c();
        uint narrow_rows = work_row(16u * (warp / SHARING)), narrow_tile = warp % SHARING * VALUE_TILES;
        UNROLL for (uint part = 0; part < HALVES_OF_HIDDEN; part++) {
#if HALVES_OF_HIDDEN > 1
            // The part before has been read.
            if (part > 0u) group_barrier();
            if (warp_n * HALVES_OF_HIDDEN / WARPS_N == part) {
                uint column = 2u * (warp_n * HT % (8 / HALVES_OF_HIDDEN));
                UNROLL for (uint i = 0; i < MT; i++)
                    UNROLL for (uint j = 0; j < HT; j++)
                        store_c(hidden[i][j], work + 16u * i * WORK_STRIDE + column + 2u * j, WORK_STRIDE);
            }
#endif
#define PART_STEPS (STEPS(128) / HALVES_OF_HIDDEN)
#define NARROW_TILE(kt, j) (W2 + ((expert * STEPS(128u) + part * PART_STEPS + (kt)) * 2u + narrow_tile + (j)) * TILE)
            PREFETCH_TILES(narrow_ring, VALUE_TILES, PART_STEPS, NARROW_TILE)
            group_barrier();
            MULTIPLY_PREFETCHED(narrow_ring, narrow, 1, VALUE_TILES, PART_STEPS, narrow_rows, WORK_STRIDE, NARROW_TILE)
        }
        UNROLL for (uint j = 0; j < VALUE_TILES; j++)
            PUBLISH(narrow[0][j], narrow_rows + NARROW + OPERAND * (narrow_tile + j), WORK_STRIDE)
#define JOIN_TILE(kt, j) (W3 + ((STEPS(32u) * expert + (kt)) * NC + first_tile + (j)) * TILE)
        PREFETCH_TILES(join_ring, NT, STEPS(32), JOIN_TILE)
        group_barrier();
        MULTIPLY_PREFETCHED(join_ring, acc, MT, NT, STEPS(32), work + NARROW, WORK_STRIDE, JOIN_TILE)
#endif
    }

    // The FFN's result takes the place of the state; scaled it seeds the projection.
#if DENSE
    group_barrier();
#endif
    UNROLL for (uint j = 0; j < NT; j++) {
        MatrixC scale = load_c_weights(ATTENTION_SKIP + (first_tile + j) * TILE);
        UNROLL for (uint i = 0; i < MT; i++) {
#if FLOAT8
            store_codes(acc[i][j], state + 16u * i * STATE_STRIDE + first_tile + j, STATE_STRIDE);
#if !DENSE
            MATRIX_MAP(acc[i][j], pair_quantise);
#endif
#else
            MatrixC y = acc[i][j];
            MATRIX_MAP(y, pair_quantise);
            store_c(y, state + 16u * i * STATE_STRIDE + 2u * (first_tile + j), STATE_STRIDE);
#if !DENSE
            acc[i][j] = y;
#endif
#endif
            MATRIX_ZIP(acc[i][j], scale, pair_mul);
        }
    }
    group_barrier();

    for (uint first_head = 0; first_head < HEADS; first_head += HEADS_A_PASS) {
        MatrixC qkv[QM][QT];
        UNROLL for (uint i = 0; i < QM; i++) UNROLL for (uint j = 0; j < QT; j++) qkv[i][j] = zero_c();
        uint own_head = first_head + qkv_n / 2u, own_tile = 3u * (qkv_n & 1u);
#define QKV_TILE(kt, j) (QKV + ((own_head * KT + (kt)) * 6u + own_tile + (j)) * TILE)
        MULTIPLY_TILES(qkv, QM, QT, KT, 16u * QM * qkv_m * STATE_STRIDE, STATE_STRIDE, QKV_TILE)
        UNROLL for (uint pass = 0; pass < HEADS_A_PASS; pass++) {
            uint head = first_head + pass;
#if ATTENDED == 0
            // The attended halves of the head before have been read.
            group_barrier();
#endif
            if (own_head == head) {
                UNROLL for (uint j = 0; j < QT; j++) {
                    UNROLL for (uint i = 0; i < QM; i++) {
#if !FLOAT8
                        if (own_tile + j >= 4u) MATRIX_MAP(qkv[i][j], pair_quantise);
#endif
                        store_c(qkv[i][j], work_row(16u * (QM * qkv_m + i)) + 2u * (own_tile + j), WORK_STRIDE);
                    }
                }
            }
            group_barrier();
            normalise_rows(thread, weights[SCALES + head].x);
            group_barrier();
            attend(warp, lane, PRIOR + head * 512u);
#define PROJECT_TILE(kt, j) (PROJECT + ((STEPS(32u) * head + (kt)) * NC + first_tile + (j)) * TILE)
            PREFETCH_TILES(project_ring, NT, STEPS(32), PROJECT_TILE)
            group_barrier();
            MULTIPLY_PREFETCHED(project_ring, acc, MT, NT, STEPS(32), work + ATTENDED, WORK_STRIDE, PROJECT_TILE)
        }
    }

    // Raw halves, with halves as operands through the state rows.
#if FLOAT8
    group_barrier();
#endif
    UNROLL for (uint j = 0; j < NT; j++)
        UNROLL for (uint i = 0; i < MT; i++)
            store_c(acc[i][j], 16u * (MT * warp_m + i) * OUT_STRIDE + 2u * (first_tile + j), OUT_STRIDE);
    group_barrier();
#if WITH_HEAD && FLOAT8
    if (thread < 64u) {
        uvec2 pixel;
        if (token_pixel(origin, thread, pixel))
            out_halves[(pixel.y - first_line) * width + pixel.x] = head_of(thread);
    }
#elif WITH_HEAD
    MatrixC head[1][1];
    head[0][0] = zero_c();
#define HEAD_TILE(kt, j) (HEAD_WEIGHT + (kt) * TILE)
    MULTIPLY_TILES(head, 1, 1, 2, 16u * warp * STATE_STRIDE, STATE_STRIDE, HEAD_TILE)
    store_c(head[0][0], work_row(16u * warp), WORK_STRIDE);
    group_barrier();
    if (thread < 64u) {
        uvec2 pixel;
        if (token_pixel(origin, thread, pixel))
            out_halves[(pixel.y - first_line) * width + pixel.x] = tile_memory[work_row(thread)].xy;
    }
#else
    publish_rows(thread, THREADS, 0u, 64u, 0u, origin);
    if ((flags & FLAG_POOL) != 0u) publish_pooled(thread, THREADS, gl_WorkGroupID.x, 0u, origin, true, true);
#endif
}
