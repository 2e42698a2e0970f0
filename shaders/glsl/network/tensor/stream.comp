// FP8 multiply on matrix units for many k and few rows: every warp takes a part of K for all of its rows, straight from memory, with nothing
// to wait for but its own loads; the parts are added in shared memory. WARPS_K parts, which are at least the contract's partitions, and
// WARPS_M times 16 * MT rows a workgroup.
//
// `norm` is a ViT QKV matrix with the normalisation behind it (numerics section 6): the columns are one head.
#version 460
#pragma variant few WARPS_M=1 WARPS_K=4 MT=3 NT=4 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant many WARPS_M=2 WARPS_K=2 MT=3 NT=4 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant norm WARPS_M=1 WARPS_K=4 MT=2 NT=6 AHEAD=2 WITH_NORM=1 MATRIX_MODEL=0
#pragma variant wide WARPS_M=4 WARPS_K=1 MT=2 NT=8 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant few_model WARPS_M=1 WARPS_K=4 MT=3 NT=4 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant many_model WARPS_M=2 WARPS_K=2 MT=3 NT=4 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant norm_model WARPS_M=1 WARPS_K=4 MT=2 NT=6 AHEAD=2 WITH_NORM=1 MATRIX_MODEL=1
#pragma variant wide_model WARPS_M=4 WARPS_K=1 MT=2 NT=8 AHEAD=2 WITH_NORM=0 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

#define WARPS (WARPS_M * WARPS_K)
layout(local_size_x = 32 * WARPS) in;

#define TILE_ROWS (16 * MT * WARPS_M)
#define MODEL_BINDING 5
#include "memory.glsl"

// The parts' sums: [part][row][channel].
const uint OUT_STRIDE = 2 * NT + 1;
const uint PART = TILE_ROWS * OUT_STRIDE;
TILE_MEMORY(WARPS_K * PART)

layout(binding = 0, std430) readonly restrict buffer Input { uvec4 input_codes[]; };
// Tiles [step of k][n / 16] with rows in the order of direct.glsl, then the scale of every output channel, or the head scales.
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) readonly buffer Skip { uvec4 skip_words[]; };
layout(binding = 3, std430) writeonly buffer OutHalf { uvec4 out_halves[]; };
layout(binding = 4, std430) writeonly buffer OutCode { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint rows;
    uint chunks;  // of K, a multiple of WARPS_K
    uint tiles;   // columns / 16
    uint flags;
};

const uint FLAG_SILU = 1u;
const uint FLAG_SEED_CODE = 2u;
const uint FLAG_SEED_HALF = 4u;
const uint FLAG_OUT_HALF = 8u;
const uint FLAG_OUT_CODE = 16u;

#define opaque_zero (flags >> 31)
#include "matrix.glsl"
#include "direct.glsl"

DirectRow load_chunk(uint first_row, uint chunk) {
    DirectRow row = direct_none();
    UNROLL for (uint h = 0; h < DIRECT_ROWS; h++) {
        uint at = first_row + direct_row(h);
        if (at < rows) direct_load(row, h, (at * chunks + chunk) * DIRECT_PARTS);
    }
    return row;
}

// Eight channels of a row, of all parts.
uvec4 sum_parts(uint at) {
    uvec4 sum = tile_memory[at];
    UNROLL for (uint k = 1; k < WARPS_K; k++) {
        uvec4 more = tile_memory[at + k * PART];
        UNROLL for (uint i = 0; i < 4; i++) sum[i] = pair_add(sum[i], more[i]);
    }
    return sum;
}

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index();
    uint warp_m = warp / WARPS_K, warp_k = warp % WARPS_K;
    uint first_row = TILE_ROWS * gl_WorkGroupID.y, warp_row = first_row + 16u * MT * warp_m;
    uint first_tile = gl_WorkGroupID.x * NT;
    uint own_chunks = chunks / WARPS_K, from = warp_k * own_chunks, end = from + own_chunks;
    uint last_step = 4u * end - 1u;

    MatrixC acc[MT][NT];
    UNROLL for (uint i = 0; i < MT; i++) UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = zero_c();
    DirectRow now[MT], next[MT];
    UNROLL for (uint i = 0; i < MT; i++) now[i] = load_chunk(warp_row + 16u * i, from);
    MatrixB ring[AHEAD * NT];
#define STEP_TILE(step, j) ((min(step, last_step) * tiles + first_tile + (j)) * TILE)
    UNROLL for (uint s = 0; s < AHEAD; s++)
        UNROLL for (uint j = 0; j < NT; j++) ring[s * NT + j] = load_b_weights(STEP_TILE(4u * from + s, j));
    for (uint chunk = from; chunk < end; chunk++) {
        UNROLL for (uint i = 0; i < MT; i++) next[i] = load_chunk(warp_row + 16u * i, min(chunk + 1u, end - 1u));
        UNROLL for (uint s = 0; s < 4; s++) {
            MatrixB b[NT];
            UNROLL for (uint j = 0; j < NT; j++) {
                b[j] = ring[s % AHEAD * NT + j];
                ring[s % AHEAD * NT + j] = load_b_weights(STEP_TILE(4u * chunk + s + AHEAD, j));
            }
            UNROLL for (uint i = 0; i < MT; i++) {
                MatrixA a = direct_a(now[i], s);
                UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = multiply(a, b[j], acc[i][j]);
            }
        }
        UNROLL for (uint i = 0; i < MT; i++) now[i] = next[i];
    }
    UNROLL for (uint i = 0; i < MT; i++)
        UNROLL for (uint j = 0; j < NT; j++)
            store_c(acc[i][j], warp_k * PART + 16u * (MT * warp_m + i) * OUT_STRIDE + 2u * j, OUT_STRIDE);
    group_barrier();
    const uint SCALES_AT = 4u * TILE;
#if WITH_NORM
    // Q, K and V of a row, each an invocation.
    for (uint job = thread; job < 3 * TILE_ROWS; job += 32 * WARPS) {
        uint row = job % TILE_ROWS, part = job / TILE_ROWS;
        if (first_row + row >= rows) continue;
        uint at = row * OUT_STRIDE + 4u * part;
        uint v[16];
        UNROLL for (uint e = 0; e < 4; e++) {
            uvec4 w = sum_parts(at + e);
            UNROLL for (uint i = 0; i < 4; i++) v[4 * e + i] = w[i];
        }
        if (part < 2u) {
            uint factor = cosine_factor_vit(v);
            uint scale = weights[SCALES_AT * chunks * tiles + gl_WorkGroupID.x].x;
            UNROLL for (uint i = 0; i < 16; i++) {
                v[i] = pair_mul(v[i], factor);
                if (part == 0u) v[i] = pair_mul(pair_mul(v[i], pair_of(HALF(5.65625))), scale);
                v[i] = v[i] & ~pair_nans(v[i]);
            }
        }
        uint to = (first_row + row) * tiles + first_tile + 2u * part;
        out_codes[to] = pack16(uvec4(v[0], v[1], v[2], v[3]), uvec4(v[4], v[5], v[6], v[7]));
        out_codes[to + 1u] = pack16(uvec4(v[8], v[9], v[10], v[11]), uvec4(v[12], v[13], v[14], v[15]));
    }
#else
    for (uint job = thread; job < TILE_ROWS * NT; job += 32 * WARPS) {
        uint row = job / NT, part = job % NT;
        if (first_row + row >= rows) continue;
        uint at = (first_row + row) * tiles + first_tile + part;
        uvec4 low = uvec4(0u), high = uvec4(0u);
        bool seeded = (flags & (FLAG_SEED_CODE | FLAG_SEED_HALF)) != 0u;
        if (seeded) {
            if ((flags & FLAG_SEED_CODE) != 0u) unpack16(skip_words[at], low, high);
            else low = skip_words[2u * at], high = skip_words[2u * at + 1u];
            uint scale = SCALES_AT * chunks * tiles + 2u * (first_tile + part);
            uvec4 scale_low = weights[scale], scale_high = weights[scale + 1u];
            UNROLL for (uint i = 0; i < 4; i++) low[i] = pair_mul(low[i], scale_low[i]), high[i] = pair_mul(high[i], scale_high[i]);
        }
        uvec4 sum_low = sum_parts(row * OUT_STRIDE + 2u * part), sum_high = sum_parts(row * OUT_STRIDE + 2u * part + 1u);
        UNROLL for (uint i = 0; i < 4; i++) {
            low[i] = seeded ? pair_add(low[i], sum_low[i]) : sum_low[i];
            high[i] = seeded ? pair_add(high[i], sum_high[i]) : sum_high[i];
        }
        if ((flags & FLAG_SILU) != 0u)
            UNROLL for (uint i = 0; i < 4; i++) low[i] = pair_silu(low[i]), high[i] = pair_silu(high[i]);
        if ((flags & FLAG_OUT_HALF) != 0u) out_halves[2u * at] = low, out_halves[2u * at + 1u] = high;
        if ((flags & FLAG_OUT_CODE) != 0u) out_codes[at] = pack16(low, high);
    }
#endif
}
