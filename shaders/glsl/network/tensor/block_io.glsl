// What the kernels of whole window blocks read and publish (network section 4). Before include: CHANNELS, DENSE, WITH_ENTRY, WITH_HEAD,
// OUT_STRIDE (elements of a row of raw halves), and tile_memory.
#ifndef TENSOR_BLOCK_IO_GLSL
#define TENSOR_BLOCK_IO_GLSL

// Codes of the state, of the encoder skip (merge), of block 0 (blend), or halves of the features.
layout(binding = 0, std430) readonly buffer Input { uvec4 input_words[]; };
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
// Codes of the block, or four halves a pixel of the head.
#if WITH_HEAD
layout(binding = 2, std430) writeonly buffer Output { uvec2 out_halves[]; };
#else
layout(binding = 2, std430) writeonly buffer Output { uvec4 out_codes[]; };
#endif
layout(binding = 3, std430) writeonly buffer Pooled { uvec4 pooled_codes[]; };
// What is upsampled: halves of the projection (merge), codes (blend).
layout(binding = 4, std430) readonly buffer Low { uvec4 low_words[]; };

layout(push_constant) uniform Push {
    uint width;
    uint height;
    uint phase;
    uint first_line;    // image line at which the bindings start
    uint first_window;  // window row of the dispatch's first workgroup row
    uint flags;
    uint low_width;     // of the grid that is upsampled
    uint pool_width;    // of the pooled grid
    uint pool_height;
    uint columns;       // windows in a row of the level
    uint rows;          // rows of windows of the level
};

const uint FLAG_MERGE = 1u;
const uint FLAG_POOL = 2u;

#define opaque_zero (flags >> 31)
#include "matrix.glsl"
#include "tokens.glsl"

// Where the block's weights lie. W1 and W2: [expert][step of k][n / 16] tiles; QKV: [head][step of k][6]; the others [step of
// k][n / 16].
const uint KT = STEPS(CHANNELS);
const uint NC = CHANNELS / 16;
const uint HEADS = CHANNELS / 32;
const uint W1 = 0;
const uint W2 = W1 + HEADS * KT * 8 * TILE;
const uint W3 = W2 + HEADS * STEPS(128) * 2 * TILE;
const uint FFN_SKIP = W3 + (DENSE ? 0 : KT * NC * TILE);
const uint QKV = FFN_SKIP + NC * TILE;
const uint PROJECT = QKV + HEADS * KT * 6 * TILE;
const uint ATTENTION_SKIP = PROJECT + KT * NC * TILE;
const uint PRIOR = ATTENTION_SKIP + NC * TILE;
const uint SCALES = PRIOR + HEADS * 512;
// Merge scale, or input scale and block 0's, or the adapter; then the head.
const uint EXTRA = SCALES + HEADS;
const uint HEAD_WEIGHT = EXTRA + CHANNELS / 4;

// Sixteen raw halves of the state of a pixel, from channel 16 * part.
void entry(uvec2 pixel, uint part, out uvec4 low, out uvec4 high) {
    uint line = pixel.y - first_line;
    uvec4 own = input_words[(line * width + pixel.x) * (CHANNELS / 16) + part];
    unpack16(own, low, high);
#if WITH_ENTRY == 2
    uvec4 up_low, up_high;
    unpack16(low_words[((line >> 1) * low_width + (pixel.x >> 1)) * 2u + part], up_low, up_high);
    UNROLL for (uint i = 0; i < 4; i++) {
        low[i] = pair_fma(low[i], weights[EXTRA + 4u + 2u * part][i], pair_mul(up_low[i], weights[EXTRA + 2u * part][i]));
        high[i] = pair_fma(high[i], weights[EXTRA + 5u + 2u * part][i], pair_mul(up_high[i], weights[EXTRA + 1u + 2u * part][i]));
    }
#elif WITH_ENTRY == 0
    if ((flags & FLAG_MERGE) != 0u) {
        uint at = ((line >> 1) * low_width + (pixel.x >> 1)) * (CHANNELS / 8) + 2u * part;
        uvec4 projected_low = low_words[at], projected_high = low_words[at + 1u];
        UNROLL for (uint i = 0; i < 4; i++) {
            low[i] = pair_fma(low[i], weights[EXTRA + 2u * part][i], projected_low[i]);
            high[i] = pair_fma(high[i], weights[EXTRA + 2u * part + 1u][i], projected_high[i]);
        }
    }
#endif
}

uvec4 quantise4(uvec4 w) { return uvec4(pair_quantise(w.x), pair_quantise(w.y), pair_quantise(w.z), pair_quantise(w.w)); }

// Codes of rows `thread`, `thread` + `threads`, .. of `count` from `first`, whose raw halves are the rows from element `state`.
void publish_rows(uint thread, uint threads, uint first, uint count, uint state, ivec2 origin) {
#if !WITH_HEAD
    for (uint i = thread; i < count * (CHANNELS / 16); i += threads) {
        uvec2 pixel;
        uint row = first + i / (CHANNELS / 16), part = i % (CHANNELS / 16), at = state + row * OUT_STRIDE + 2u * part;
        if (token_pixel(origin, row, pixel))
            out_codes[((pixel.y - first_line) * width + pixel.x) * (CHANNELS / 16) + part] =
                pack16(tile_memory[at], tile_memory[at + 1u]);
    }
#endif
}

// Pooled pixels of the window (numerics section 11), those whose source begins in rows `first` .. `first + 32 * (1 + both)`; the last
// windows also fill what has no source.
void publish_pooled(uint thread, uint threads, uint window, uint state, ivec2 origin, bool upper, bool lower) {
#if !WITH_HEAD
    ivec2 from = max(origin, ivec2(0)) >> 1, to = (origin + 8) >> 1, middle = (origin + 4) >> 1;
    if (window + 1u == columns) to.x = int(pool_width);
    if (first_window + gl_WorkGroupID.y + 1u == rows) to.y = int(pool_height);
    to = min(to, ivec2(pool_width, pool_height));
    if (!upper) from.y = max(from.y, middle.y);
    if (!lower) to.y = min(to.y, middle.y);
    ivec2 size = max(to - from, ivec2(0));
    uint count = uint(size.x * size.y) * (CHANNELS / 16);
    for (uint i = thread; i < count; i += threads) {
        uint p = i / (CHANNELS / 16), part = i % (CHANNELS / 16);
        ivec2 pooled = from + ivec2(p % uint(size.x), p / uint(size.x));
        ivec2 source = 2 * pooled;
        uvec4 codes = uvec4(0u);
        if (source.x + 1 < int(width) && source.y + 1 < int(height)) {
            uint row = state + tiled(uvec2(source - origin)) * OUT_STRIDE + 2u * part;
            // A pixel's right neighbour is the next row, the one below the fourth.
            uvec4 sums[2];
            UNROLL for (uint h = 0; h < 2; h++) {
                uvec4 a = tile_memory[row + h], b = tile_memory[row + OUT_STRIDE + h];
                uvec4 c = tile_memory[row + 4u * OUT_STRIDE + h], d = tile_memory[row + 5u * OUT_STRIDE + h];
                UNROLL for (uint w = 0; w < 4; w++)
                    sums[h][w] = pair_mul(pair_add(pair_add(a[w], b[w]), pair_add(c[w], d[w])), pair_of(HALF(0.25)));
            }
            codes = pack16(sums[0], sums[1]);
        }
        pooled_codes[((uint(pooled.y) - first_line / 2u) * pool_width + uint(pooled.x)) * (CHANNELS / 16) + part] = codes;
    }
#endif
}

#endif
