// Tokens of a window, and attention within it (numerics section 9, network section 4.4).
//
// All rows are in physical order, so that groups of sixteen keys are those of the contract. Before include: WARPS (4 or 8),
// WORK (first element of the work rows), WORK_STRIDE (elements of a row, at least 13), ATTENDED (element of a work row where what
// is attended goes, 0 or at least 12), and the push constants width, height, phase, first_line, first_window.
#ifndef TENSOR_WINDOW_GLSL
#define TENSOR_WINDOW_GLSL

#include "matrix.glsl"

const uint THREADS = 32 * WARPS;
// Warps that share sixteen rows in attention.
#define SHARING (WARPS / 4)
#define SCORE_TILES (4 / SHARING)
#define VALUE_TILES (2 / SHARING)

#include "tokens.glsl"

uint work_row(uint row) { return WORK + row * WORK_STRIDE; }

// Q and K of work rows (elements 0..3 and 4..7), raw, to normalised operands. V (elements 8..11) is an operand already, or with
// FLOAT8 raw as well.
void normalise_rows(uint thread, uint scale) {
    for (uint job = thread; job < (FLOAT8 != 0 ? 192u : 128u); job += THREADS) {
        uint at = work_row(job & 63u) + 4u * (job >> 6);
        uint v[16];
        UNROLL for (uint e = 0; e < 4; e++) {
            uvec4 w = tile_memory[at + e];
            UNROLL for (uint i = 0; i < 4; i++) v[4 * e + i] = w[i];
        }
#if FLOAT8
        uint factor = cosine_factor(v);
        UNROLL for (uint i = 0; i < 16; i++) {
            if (job < 128u) v[i] = pair_mul(v[i], factor);
            if (job < 64u) v[i] = pair_mul(v[i], scale);
        }
        UNROLL for (uint e = 0; e < 2; e++)
            tile_memory[at + e] = pack16(uvec4(v[8 * e], v[8 * e + 1], v[8 * e + 2], v[8 * e + 3]),
                                         uvec4(v[8 * e + 4], v[8 * e + 5], v[8 * e + 6], v[8 * e + 7]));
#else
        uint factor = cosine_factor(v);
        UNROLL for (uint i = 0; i < 16; i++) {
            v[i] = pair_mul(v[i], factor);
            if (job < 64u) v[i] = pair_mul(v[i], scale);
            v[i] = pair_quantise(v[i]);
        }
        UNROLL for (uint e = 0; e < 4; e++) tile_memory[at + e] = uvec4(v[4 * e], v[4 * e + 1], v[4 * e + 2], v[4 * e + 3]);
#endif
    }
}

#include "softmax.glsl"

// Scores in elements 0..7 of work rows to weights. Four invocations a row: each has every fourth pair of keys, which keeps the
// order of the contract's sums.
void softmax_rows(uint warp, uint lane) {
    UNROLL for (uint pass = 0; pass < 8 / WARPS; pass++) {
        uint at = work_row((8 / WARPS) * 8u * warp + 8u * pass + (lane >> 2)), part = lane & 3u;
        uint e[8], t = 0u;
        UNROLL for (uint j = 0; j < 4; j++) {
            e[2 * j] = pair_exp_window(tile_memory[at + 2 * j][part]);
            e[2 * j + 1] = pair_exp_window(tile_memory[at + 2 * j + 1][part]);
            uint b = pair_add(e[2 * j], e[2 * j + 1]);
            t = j == 0 ? b : pair_add(t, b);
        }
        uint first = gl_SubgroupInvocationID & ~3u;
        uint sum = subgroupShuffle(t, first);
        UNROLL for (uint i = 1; i < 4; i++) sum = pair_add(sum, subgroupShuffle(t, first + i));
        uint factor = pair_reciprocal(pair_across(sum));
        UNROLL for (uint j = 0; j < 8; j++) e[j] = pair_mul(e[j], factor);
        store_weights(at, part, e);
    }
}

// Attends with normalised Q, K (elements 0..7) and V (elements 8..11) of the work rows; what is attended ends up as an operand in
// elements ATTENDED.. of the rows. All invocations have passed a barrier since the rows were written, and need one before they read.
// `prior` is the position of the head's prior.
void attend(uint warp, uint lane, uint prior) {
    uint m = warp / SHARING, part = warp % SHARING;
    uint rows = work_row(16u * m);
    MatrixC s[SCORE_TILES];
    UNROLL for (uint j = 0; j < SCORE_TILES; j++)
        s[j] = load_c_weights(prior + (4u * m + part * SCORE_TILES + j) * TILE);
    UNROLL for (uint kt = 0; kt < STEPS(32); kt++) {
        MatrixA a = load_a(rows + 2u * kt, WORK_STRIDE);
        UNROLL for (uint j = 0; j < SCORE_TILES; j++) {
            MatrixB b = load_b_columns(work_row(16u * (part * SCORE_TILES + j)) + 4u + 2u * kt, WORK_STRIDE);
            s[j] = multiply(a, b, s[j]);
        }
    }
    // Scores take the place of Q and K.
    group_barrier();
    UNROLL for (uint j = 0; j < SCORE_TILES; j++) store_c(s[j], rows + 2u * (part * SCORE_TILES + j), WORK_STRIDE);
#if SHARING > 1
    group_barrier();
    softmax_rows(warp, lane);
    group_barrier();
#else
    warp_barrier();
    softmax_rows(warp, lane);
    warp_barrier();
#endif
    MatrixC o[VALUE_TILES];
    UNROLL for (uint j = 0; j < VALUE_TILES; j++) o[j] = zero_c();
    UNROLL for (uint kt = 0; kt < STEPS(64); kt++) {
        MatrixA a = load_a(rows + 2u * kt, WORK_STRIDE);
        UNROLL for (uint j = 0; j < VALUE_TILES; j++) {
            MatrixB b = load_b_rows(work_row(K_TILE * kt) + 8u + OPERAND * (part * VALUE_TILES + j), WORK_STRIDE);
            o[j] = multiply(a, b, o[j]);
        }
    }
#if ATTENDED == 0 && SHARING > 1
    group_barrier();
#elif ATTENDED == 0
    warp_barrier();
#endif
    UNROLL for (uint j = 0; j < VALUE_TILES; j++)
        PUBLISH(o[j], rows + ATTENDED + OPERAND * (part * VALUE_TILES + j), WORK_STRIDE)
}

#endif
