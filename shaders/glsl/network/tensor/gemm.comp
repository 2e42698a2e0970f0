// FP8 multiply on matrix units (numerics section 3): TILE_ROWS rows and TILE_COLUMNS columns a workgroup, codes in.
//
// Rows come 16 * CHUNK k at a time: codes go as operands (halves, or with FLOAT8 as they are) to one of two shared buffers, while the
// other is multiplied. Weight tiles come straight from memory. A partition's sum is added to the total with half adds, or with one
// partition a workgroup layer left as halves [partition][row][channel] for gemm_join.
//
// `norm` is a ViT QKV matrix with the normalisation behind it (numerics section 6): TILE_COLUMNS are one head.
#version 460
#pragma variant tall TILE_ROWS=128 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant wide TILE_ROWS=64 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant narrow TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant thin TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=2 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant half TILE_ROWS=64 TILE_COLUMNS=32 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant norm TILE_ROWS=64 TILE_COLUMNS=96 WARPS=4 CHUNK=4 WITH_NORM=1 MATRIX_MODEL=0
#pragma variant tall_model TILE_ROWS=128 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant wide_model TILE_ROWS=64 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant narrow_model TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant thin_model TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=2 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant half_model TILE_ROWS=64 TILE_COLUMNS=32 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant norm_model TILE_ROWS=64 TILE_COLUMNS=96 WARPS=4 CHUNK=4 WITH_NORM=1 MATRIX_MODEL=1
#pragma variant tall_float8 FLOAT8=1 TILE_ROWS=128 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant wide_float8 FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant narrow_float8 FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant thin_float8 FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=2 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant half_float8 FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=32 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=0
#pragma variant norm_float8 FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=96 WARPS=4 CHUNK=4 WITH_NORM=1 MATRIX_MODEL=0
#pragma variant tall_float8_model FLOAT8=1 TILE_ROWS=128 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant wide_float8_model FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=128 WARPS=8 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant narrow_float8_model FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant thin_float8_model FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=64 WARPS=4 CHUNK=2 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant half_float8_model FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=32 WARPS=4 CHUNK=4 WITH_NORM=0 MATRIX_MODEL=1
#pragma variant norm_float8_model FLOAT8=1 TILE_ROWS=64 TILE_COLUMNS=96 WARPS=4 CHUNK=4 WITH_NORM=1 MATRIX_MODEL=1
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

#define WARPS_M 2
#define WARPS_N (WARPS / WARPS_M)
#define MT (TILE_ROWS / 16 / WARPS_M)
#define NT (TILE_COLUMNS / 16 / WARPS_N)

#define MODEL_BINDING 5
#include "memory.glsl"

// Steps of k of a chunk; elements of a buffer's row and of an output row.
#define CHUNK_STEPS STEPS(16 * CHUNK)
#define BUFFER_STRIDE (OPERAND * CHUNK + 1)
const uint OUT_STRIDE = TILE_COLUMNS / 8 + 1;
const uint BUFFERS = 2 * TILE_ROWS * BUFFER_STRIDE, OUT = TILE_ROWS * OUT_STRIDE;
// Nothing is stored as codes from accumulators.
#define STAGES 0u
TILE_MEMORY(BUFFERS > OUT ? BUFFERS : OUT)

layout(binding = 0, std430) readonly buffer Input { uvec4 input_codes[]; };
// Tiles [step of k][n / 16], then the scale of every output tile, or the head scales.
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) readonly buffer Skip { uvec4 skip_words[]; };
layout(binding = 3, std430) writeonly buffer OutHalf { uvec4 out_halves[]; };
layout(binding = 4, std430) writeonly buffer OutCode { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint rows;
    uint chunks;     // of K
    uint tiles;      // columns / 16
    uint part_chunks;  // of a partition of K
    uint flags;
};

const uint FLAG_SILU = 1u;
const uint FLAG_SEED_CODE = 2u;
const uint FLAG_SEED_HALF = 4u;
const uint FLAG_OUT_HALF = 8u;
const uint FLAG_OUT_CODE = 16u;
const uint FLAG_LAYERS = 32u;  // one partition a workgroup layer

#define opaque_zero (flags >> 31)
#include "matrix.glsl"
#include "rows.glsl"

void main() {
    uint thread = gl_LocalInvocationIndex, warp = warp_index();
    uint warp_m = warp / WARPS_N, warp_n = warp % WARPS_N;
    uint first_row = TILE_ROWS * gl_WorkGroupID.y;
    uint first_tile = gl_WorkGroupID.x * (TILE_COLUMNS / 16);
    uint own_tile = first_tile + warp_n * NT;
    uint own_out = 16u * MT * warp_m * OUT_STRIDE + 2u * warp_n * NT;
    bool layers = (flags & FLAG_LAYERS) != 0u;

    MatrixC acc[MT][NT], total[MT][NT];
    UNROLL for (uint i = 0; i < MT; i++) UNROLL for (uint j = 0; j < NT; j++) acc[i][j] = zero_c();
    if ((flags & (FLAG_SEED_CODE | FLAG_SEED_HALF)) != 0u && (!layers || gl_WorkGroupID.z == 0u)) {
        const uint PARTS = TILE_COLUMNS / 16;
        for (uint i = thread; i < TILE_ROWS * PARTS; i += 32 * WARPS) {
            uint row = i / PARTS, part = i % PARTS;
            uvec4 low = uvec4(0u), high = uvec4(0u);
            if (first_row + row < rows) {
                uint at = (first_row + row) * tiles + first_tile + part;
                if ((flags & FLAG_SEED_CODE) != 0u) unpack16(skip_words[at], low, high);
                else low = skip_words[2u * at], high = skip_words[2u * at + 1u];
            }
            tile_memory[row * OUT_STRIDE + 2u * part] = low;
            tile_memory[row * OUT_STRIDE + 2u * part + 1u] = high;
        }
        group_barrier();
        UNROLL for (uint j = 0; j < NT; j++) {
            MatrixC scale = load_c_weights(CHUNK_STEPS * chunks * tiles * TILE + (own_tile + j) * TILE);
            UNROLL for (uint i = 0; i < MT; i++) {
                acc[i][j] = load_c(own_out + 16u * i * OUT_STRIDE + 2u * j, OUT_STRIDE);
                MATRIX_ZIP(acc[i][j], scale, pair_mul);
            }
        }
        group_barrier();
    }

    uint from = layers ? gl_WorkGroupID.z * part_chunks : 0u, end = layers ? from + part_chunks : chunks;
    bool first_part = true;
    RowCodes codes = load_rows(thread, first_row, from, chunks, rows);
    store_rows(thread, 0u, codes);
#define FIRST_TILE(kt, j) (((CHUNK_STEPS * from + (kt)) * tiles + own_tile + (j)) * TILE)
    PREFETCH_TILES(ring, NT, CHUNK_STEPS, FIRST_TILE)
    group_barrier();
    for (uint chunk = from; chunk < end; chunk++) {
        uint buffer_at = (chunk - from & 1u) * TILE_ROWS * BUFFER_STRIDE;
        if (chunk + 1u < end) codes = load_rows(thread, first_row, chunk + 1u, chunks, rows);
#define WEIGHT_TILE(kt, j) (((CHUNK_STEPS * chunk + (kt)) * tiles + own_tile + (j)) * TILE)
        MULTIPLY_PREFETCHED(ring, acc, MT, NT, CHUNK_STEPS, buffer_at + 16u * MT * warp_m * BUFFER_STRIDE, BUFFER_STRIDE, WEIGHT_TILE)
        if (chunk + 1u < end) {
#define NEXT_TILE(kt, j) WEIGHT_TILE(CHUNK_STEPS + (kt), j)
            FILL_RING(ring, NT, CHUNK_STEPS, NEXT_TILE)
            store_rows(thread, (chunk + 1u - from & 1u) * TILE_ROWS * BUFFER_STRIDE, codes);
        }
        group_barrier();
        if (part_chunks < chunks && !layers && (chunk + 1u) % part_chunks == 0u) {
            UNROLL for (uint i = 0; i < MT; i++) {
                UNROLL for (uint j = 0; j < NT; j++) {
                    if (first_part) total[i][j] = acc[i][j];
                    else MATRIX_ZIP(total[i][j], acc[i][j], pair_add);
                    acc[i][j] = chunk + 1u == end ? total[i][j] : zero_c();
                }
            }
            first_part = false;
        }
    }

    UNROLL for (uint i = 0; i < MT; i++) {
        UNROLL for (uint j = 0; j < NT; j++) {
            if ((flags & FLAG_SILU) != 0u) MATRIX_MAP(acc[i][j], pair_silu);
            store_c(acc[i][j], own_out + 16u * i * OUT_STRIDE + 2u * j, OUT_STRIDE);
        }
    }
    group_barrier();
#if WITH_NORM
    // Q and K of 64 rows, one each an invocation; V of half a row.
    for (uint job = thread; job < 192u; job += 32 * WARPS) {
        uint row = job & 63u, part = job >> 6;
        if (first_row + row >= rows) continue;
        uint at = row * OUT_STRIDE + 4u * part;
        uint v[16];
        UNROLL for (uint e = 0; e < 4; e++) {
            uvec4 w = tile_memory[at + e];
            UNROLL for (uint i = 0; i < 4; i++) v[4 * e + i] = w[i];
        }
        if (part < 2u) {
            uint factor = cosine_factor_vit(v);
            uint scale = weights[CHUNK_STEPS * chunks * tiles * TILE + gl_WorkGroupID.x].x;
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
    const uint PARTS = TILE_COLUMNS / 16;
    uint layer = layers ? gl_WorkGroupID.z * rows : 0u;
    for (uint i = thread; i < TILE_ROWS * PARTS; i += 32 * WARPS) {
        uint row = i / PARTS, part = i % PARTS;
        if (first_row + row >= rows) continue;
        uvec4 low = tile_memory[row * OUT_STRIDE + 2u * part], high = tile_memory[row * OUT_STRIDE + 2u * part + 1u];
        uint at = (layer + first_row + row) * tiles + first_tile + part;
        if ((flags & FLAG_OUT_HALF) != 0u) out_halves[2u * at] = low, out_halves[2u * at + 1u] = high;
        if ((flags & FLAG_OUT_CODE) != 0u) out_codes[at] = pack16(low, high);
    }
#endif
}
