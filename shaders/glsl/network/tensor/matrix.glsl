// Matrices shared by 32 invocations, the only operation of the tensor and float8 routes that the exact route does not have: 16 x 16
// x 16 of halves, or with FLOAT8 16 x 16 x 32 of E4M3 codes; sums are halves.
//
// With MATRIX_MODEL 0 they are cooperative matrices of the device. With MATRIX_MODEL 1 a model takes their place, so that tiling, data
// movement and epilogues run on any device: a warp is 32 neighbouring invocations, an accumulator lies in their registers, and
// a right operand is read from memory when it is multiplied. Kernels therefore never keep one of shared memory across a
// barrier. Of halves the model is near to what devices do, of codes it is the F13 step of the contract, twice.
//
// Operands come from `tile_memory` or from `weights`, positions and strides are in elements of eight halves or sixteen codes. A
// weight tile is contiguous. Either way a step of k is two elements of a row, and a weight tile 32. Include after both are declared.
#ifndef MATRIX_GLSL
#define MATRIX_GLSL

#include "pairs.glsl"

#if MATRIX_MODEL
// Compilers for CPUs take long over unrolled loops.
#define UNROLL [[dont_unroll]]
#else
#define UNROLL [[unroll]]
#endif
// Elements of a weight tile or of a vector spread over 16 rows.
const uint TILE = 32u;

#if MATRIX_MODEL
// The sixteen halves or 32 codes of the invocation's row.
struct MatrixA { uint w[8]; };
struct MatrixB { uint at; uint stride; uint kind; };
// Row lane / 2, columns 8 * (lane & 1) and following, two a word.
struct MatrixC { uint w[4]; };

const uint B_WEIGHTS = 0u, B_ROWS = 1u, B_COLUMNS = 2u, B_ONES = 3u;

#if FLOAT8
uint memory_code(uint i) { return tile_memory[i >> 4][(i >> 2) & 3u] >> (8u * (i & 3u)) & 0xffu; }
#endif
float memory_half(uint i) { return half_to_f32(tile_memory[i >> 3][(i >> 1) & 3u] >> (16u * (i & 1u)) & 0xffffu); }
float weight_half(uint i) { return half_to_f32(weights[i >> 3][(i >> 1) & 3u] >> (16u * (i & 1u)) & 0xffffu); }
uint own_row() { return (gl_LocalInvocationIndex & 31u) >> 1; }
uint own_part() { return gl_LocalInvocationIndex & 1u; }

MatrixC zero_c() { return MatrixC(uint[4](0u, 0u, 0u, 0u)); }

MatrixA load_a(uint at, uint stride) {
    uvec4 low = tile_memory[at + own_row() * stride], high = tile_memory[at + own_row() * stride + 1u];
    return MatrixA(uint[8](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w));
}

#if !FLOAT8
// The other half of a row is the neighbour's.
MatrixA as_a(MatrixC c) {
    MatrixA a;
    for (uint i = 0; i < 4; i++) {
        uint other = subgroupShuffleXor(c.w[i], 1u);
        a.w[i] = own_part() == 0u ? c.w[i] : other;
        a.w[4 + i] = own_part() == 0u ? other : c.w[i];
    }
    return a;
}

MatrixB ones_b() { return MatrixB(0u, 0u, B_ONES); }
#endif
MatrixB load_b_weights(uint at) { return MatrixB(at, 2u, B_WEIGHTS); }
MatrixB load_b_rows(uint at, uint stride) { return MatrixB(at, stride, B_ROWS); }
MatrixB load_b_columns(uint at, uint stride) { return MatrixB(at, stride, B_COLUMNS); }

MatrixC load_c(uint at, uint stride) {
    uvec4 w = tile_memory[at + own_row() * stride + own_part()];
    return MatrixC(uint[4](w.x, w.y, w.z, w.w));
}

MatrixC load_c_weights(uint at) {
    uvec4 w = weights[at + own_row() * 2u + own_part()];
    return MatrixC(uint[4](w.x, w.y, w.z, w.w));
}

void store_c(MatrixC c, uint at, uint stride) {
    tile_memory[at + own_row() * stride + own_part()] = uvec4(c.w[0], c.w[1], c.w[2], c.w[3]);
}

#if FLOAT8
#include "f13.glsl"

// Two groups of sixteen products, one after the other (numerics section 2).
MatrixC multiply(MatrixA a, MatrixB b, MatrixC c) {
    float a_value[32], b_value[16];
    int a_exponent[32], b_exponent[16];
    for (uint k = 0; k < 32; k++) f13_decode(a.w[k >> 2], 8u * (k & 3u), a_value[k], a_exponent[k]);
    for (uint i = 0; i < 8; i++) {
        uint n = 8u * own_part() + i;
        float acc = half_to_f32(c.w[i >> 1] >> (16u * (i & 1u)) & 0xffffu);
        for (uint group = 0; group < 2; group++) {
            uvec4 codes = uvec4(0u);
            if (b.kind == B_WEIGHTS) codes = weights[b.at + n * b.stride + group];
            else if (b.kind == B_COLUMNS) codes = tile_memory[b.at + n * b.stride + group];
            int power = f13_power(acc);
            for (uint k = 0; k < 16; k++) {
                uint code = codes[k >> 2] >> (8u * (k & 3u)) & 0xffu;
                if (b.kind == B_ROWS) code = memory_code((b.at + (16u * group + k) * b.stride) * 16u + n);
                f13_decode(code, 0u, b_value[k], b_exponent[k]);
                power = max(power, a_exponent[16u * group + k] + b_exponent[k]);
            }
            float scale = f13_scale(power);
            int sum = f13_term(acc, scale);
            for (uint k = 0; k < 16; k++) sum += f13_term(a_value[16u * group + k] * b_value[k], scale);
            acc = f13_finish(sum, power, acc);
        }
        uint place = 16u * (i & 1u);
        c.w[i >> 1] = (c.w[i >> 1] & (0xffff0000u >> place)) | half_bits(acc) << place;
    }
    return c;
}
#else
// Sixteen products and the accumulator summed in f32, then rounded to half once.
MatrixC multiply(MatrixA a, MatrixB b, MatrixC c) {
    float sums[8];
    for (uint i = 0; i < 8; i++) sums[i] = half_to_f32(c.w[i >> 1] >> (16u * (i & 1u)) & 0xffffu);
    for (uint k = 0; k < 16; k++) {
        float x = half_to_f32(a.w[k >> 1] >> (16u * (k & 1u)) & 0xffffu);
        for (uint i = 0; i < 8; i++) {
            uint n = 8u * own_part() + i;
            float y = 1.0;
            if (b.kind == B_WEIGHTS) {
                y = weight_half((b.at + n * b.stride) * 8u + k);
            } else if (b.kind != B_ONES) {
                uint major = b.kind == B_ROWS ? k : n, minor = b.kind == B_ROWS ? n : k;
                y = memory_half((b.at + major * b.stride) * 8u + minor);
            }
            sums[i] += x * y;
        }
    }
    for (uint i = 0; i < 4; i++) c.w[i] = half_pack(half_round(sums[2 * i]), half_round(sums[2 * i + 1]));
    return c;
}
#endif

#define MATRIX_WORDS(c) 4u
#define matrix_word(c, i) c.w[i]
#define set_matrix_word(c, i, word) c.w[i] = word

#else

#if FLOAT8
#define Operand floate4m3_t
#else
#define Operand float16_t
#endif
#define MatrixA coopmat<Operand, gl_ScopeSubgroup, 16, K_TILE, gl_MatrixUseA>
#define MatrixB coopmat<Operand, gl_ScopeSubgroup, K_TILE, 16, gl_MatrixUseB>
#define MatrixC coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>

#define multiply(a, b, c) coopMatMulAdd(a, b, c)
#define MATRIX_WORDS(c) (uint(c.length()) / 2u)
#define matrix_word(c, i) packFloat2x16(f16vec2(c[2u * (i)], c[2u * (i) + 1u]))
#define set_matrix_word(c, i, word)                      \
    {                                                    \
        f16vec2 set_pair = unpackFloat2x16(word);        \
        c[2u * (i)] = set_pair.x, c[2u * (i) + 1u] = set_pair.y; \
    }

MatrixC zero_c() { return MatrixC(0.0hf); }

MatrixA load_a(uint at, uint stride) {
    MatrixA m;
    coopMatLoad(m, tile_memory, at, stride, gl_CooperativeMatrixLayoutRowMajor);
    return m;
}

#if FLOAT8
// Weight tiles are columns of 32 codes.
MatrixB load_b_weights(uint at) {
    MatrixB m;
    coopMatLoad(m, weights, at, 2, gl_CooperativeMatrixLayoutColumnMajor);
    return m;
}
#else
// A sum as the left operand of another product. Only for devices that spread both alike, which is asked of them.
MatrixA as_a(MatrixC c) {
    MatrixA a;
    UNROLL for (uint i = 0; i < 8; i++) a[i] = c[i];
    return a;
}

MatrixB ones_b() { return MatrixB(1.0hf); }

// Weight tiles lie as the device spreads them over a subgroup: an invocation's eight halves are one element.
MatrixB load_b_weights(uint at) {
    MatrixB m;
    uvec4 w = weights[at + gl_SubgroupInvocationID];
    UNROLL for (uint i = 0; i < 4; i++) set_matrix_word(m, i, w[i]);
    return m;
}
#endif

MatrixB load_b_rows(uint at, uint stride) {
    MatrixB m;
    coopMatLoad(m, tile_memory, at, stride, gl_CooperativeMatrixLayoutRowMajor);
    return m;
}

MatrixB load_b_columns(uint at, uint stride) {
    MatrixB m;
    coopMatLoad(m, tile_memory, at, stride, gl_CooperativeMatrixLayoutColumnMajor);
    return m;
}

MatrixC load_c(uint at, uint stride) {
    MatrixC m;
    coopMatLoad(m, tile_memory, at, stride, gl_CooperativeMatrixLayoutRowMajor);
    return m;
}

MatrixC load_c_weights(uint at) {
    MatrixC m;
#if FLOAT8
    coopMatLoad(m, weights, at, 2, gl_CooperativeMatrixLayoutRowMajor);
#else
    uvec4 w = weights[at + gl_SubgroupInvocationID];
    UNROLL for (uint i = 0; i < 4; i++) set_matrix_word(m, i, w[i]);
#endif
    return m;
}

void store_c(MatrixC c, uint at, uint stride) {
    coopMatStore(c, tile_memory, at, stride, gl_CooperativeMatrixLayoutRowMajor);
}

#endif

// c = function(c), two halves a word.
#define MATRIX_MAP(c, function) \
    UNROLL for (uint map_i = 0; map_i < MATRIX_WORDS(c); map_i++) set_matrix_word(c, map_i, function(matrix_word(c, map_i)))

// c = function(c, d), for accumulators of one distribution.
#define MATRIX_ZIP(c, d, function)                                   \
    UNROLL for (uint map_i = 0; map_i < MATRIX_WORDS(c); map_i++) \
        set_matrix_word(c, map_i, function(matrix_word(c, map_i), matrix_word(d, map_i)))

// Sixteen codes as an operand.
void put_codes(uint at, uvec4 codes) {
#if FLOAT8
    tile_memory[at] = codes;
#else
    uvec4 low, high;
    unpack16(codes, low, high);
    tile_memory[at] = low, tile_memory[at + 1u] = high;
#endif
}

// The codes of sixteen channels of an operand row.
uvec4 get_codes(uint at) {
#if FLOAT8
    return tile_memory[at];
#else
    return pack16(tile_memory[at], tile_memory[at + 1u]);
#endif
}

#if FLOAT8
// Stores an accumulator as an operand: through halves in memory of the warp's own, 32 elements from STAGES on, for no matrix of codes
// is an accumulator. For all invocations of a workgroup at once.
void store_codes(MatrixC c, uint at, uint stride) {
    uint lane = lane_index(), stage = STAGES + 32u * warp_index();
    store_c(c, stage, 2u);
    warp_barrier();
    uvec4 w = tile_memory[stage + lane];
    uint to = at + (lane >> 1) * stride, word = 2u * (lane & 1u);
    tile_memory[to][word] = pack_codes(w.x, w.y);
    tile_memory[to][word + 1u] = pack_codes(w.z, w.w);
    warp_barrier();
}
// Publication as an operand, of the sum itself and of its SiLU.
#define PUBLISH(c, at, stride) store_codes(c, at, stride);
#define PUBLISH_SILU(c, at, stride)     \
    {                                   \
        MATRIX_MAP(c, pair_silu);       \
        store_codes(c, at, stride);     \
    }
#else
#define PUBLISH(c, at, stride)          \
    {                                   \
        MATRIX_MAP(c, pair_quantise);   \
        store_c(c, at, stride);         \
    }
#define PUBLISH_SILU(c, at, stride)     \
    {                                   \
        MATRIX_MAP(c, pair_silu_quantise); \
        store_c(c, at, stride);         \
    }
#endif

// Steps of k by which weight tiles are loaded ahead.
#ifndef AHEAD
#define AHEAD 3
#endif

// Loads the first weight tiles. B_AT(kt, j) is the position of tile j of step kt.
#define FILL_RING(ring, NT_, KT_, B_AT)                                      \
    UNROLL for (uint kt = 0; kt < min(AHEAD, (KT_)); kt++)                   \
        UNROLL for (uint j = 0; j < (NT_); j++) ring[kt % AHEAD * (NT_) + j] = load_b_weights(B_AT(kt, j));

// Declares `ring` and loads the first weight tiles.
#define PREFETCH_TILES(ring, NT_, KT_, B_AT) \
    MatrixB ring[AHEAD * (NT_)];             \
    FILL_RING(ring, NT_, KT_, B_AT)

// acc[MT][NT] += rows of tile_memory from `a_at` (stride `a_stride`) times weight tiles, the first of which are in `ring`.
#define MULTIPLY_PREFETCHED(ring, acc, MT_, NT_, KT_, a_at, a_stride, B_AT)                           \
    UNROLL for (uint kt = 0; kt < (KT_); kt++) {                                                      \
        MatrixB tile_b[NT_];                                                                          \
        UNROLL for (uint j = 0; j < (NT_); j++) {                                                     \
            tile_b[j] = ring[kt % AHEAD * (NT_) + j];                                                 \
            if (kt + AHEAD < (KT_)) ring[kt % AHEAD * (NT_) + j] = load_b_weights(B_AT(kt + AHEAD, j));\
        }                                                                                             \
        UNROLL for (uint i = 0; i < (MT_); i++) {                                                     \
            MatrixA tile_a = load_a((a_at) + 16u * i * (a_stride) + 2u * kt, a_stride);               \
            UNROLL for (uint j = 0; j < (NT_); j++) acc[i][j] = multiply(tile_a, tile_b[j], acc[i][j]);\
        }                                                                                             \
    }

#define MULTIPLY_TILES(acc, MT_, NT_, KT_, a_at, a_stride, B_AT)                                 \
    {                                                                                            \
        PREFETCH_TILES(tile_ring, NT_, KT_, B_AT)                                                \
        MULTIPLY_PREFETCHED(tile_ring, acc, MT_, NT_, KT_, a_at, a_stride, B_AT)                 \
    }

#endif
