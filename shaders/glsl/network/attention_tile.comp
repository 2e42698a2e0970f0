// Attention for GPUs, one head and 64 queries a workgroup (numerics sections 9 and 10). Keys come in blocks of 64: the
// scores of a block are one 64 x 64 tile, its exponentials pass through shared memory, and the weighted values are added
// to a 64 x 32 tile of which an invocation keeps 4 x 4.
#version 460
#pragma variant window WINDOW=1
#pragma variant vit WINDOW=0
#extension GL_EXT_control_flow_attributes : require

#define TILE_ROWS 64
#define TILE_COLUMNS 64
#define THREADS 128
// After the operands: the exponentials, eight halves an element, elements of a row permuted so that invocations that read
// one row each use different banks.
#define EXPONENTIALS OPERANDS
#define TILE_MEMORY (OPERANDS + 512)

#include "attention.glsl"
#include "f13_tile.glsl"
#define GROUP score_group
#define GROUP_ROWS 8
#define GROUP_COLUMNS 4
#include "f13_tile_group.glsl"
#define GROUP value_group
#define GROUP_ROWS 4
#define GROUP_COLUMNS 4
#include "f13_tile_group.glsl"

layout(local_size_x = THREADS) in;

// Row of qkv_codes of a query or key, and whether it is a token.
struct Row {
    uint row;
    bool inside;
};

#if WINDOW
ivec2 origin;

Row query_at(uint i) {
    Token t = window_token(origin, uvec2(i & 7u, i >> 3));
    return Row(t.row, t.inside);
}

Row key_at(uint block, uint p) {
    Token t = window_token(origin, untiled(p));
    return Row(t.row, t.inside);
}
#else
uint first_query;

Row query_at(uint i) {
    uint t = first_query + i;
    return Row(t < tokens ? t : 0u, t < tokens);
}

Row key_at(uint block, uint p) {
    uint t = 64u * block + p;
    return Row(t < tokens ? t : 0u, t < tokens);
}
#endif

uint exponential_at(uint query, uint key) { return EXPONENTIALS + query * 8 + ((key >> 3) ^ (query & 7u)); }

// The sixteen exponentials of a query from key 16 * j.
void load_exponentials(uint query, uint j, out float e[16]) {
    [[unroll]] for (uint h = 0; h < 2; h++) {
        uvec4 w = tile_memory[exponential_at(query, 16 * j + 8 * h)];
        [[unroll]] for (uint i = 0; i < 4; i++) {
            e[8 * h + 2 * i] = half_to_f32(w[i] & 0xffffu);
            e[8 * h + 2 * i + 1] = half_to_f32(w[i] >> 16);
        }
    }
}

// The sum of a query's 64 exponentials of the block.
float total_of(uint query) {
    float t[8];
    [[unroll]] for (uint j = 0; j < 4; j++) {
        float e[16];
        load_exponentials(query, j, e);
        [[unroll]] for (uint g = 0; g < 8; g++) {
            float b = half_add(e[g], e[g + 8]);
            t[g] = j == 0 ? b : half_add(t[g], b);
        }
    }
    return sum64(t);
}

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
    // Invocation i < 64 prepares row i of the tiles, invocation 64 + i column i.
    bool row_side = thread < 64u;
    uint own = thread & 63u;
    Row query = query_at(own);
    // Tile of the scores, tile of the values.
    uint score_row = thread / 16 * 2, score_column = thread % 16;
    uint value_row = thread / 8, value_column = thread % 8;

    float values[4][4];
    [[unroll]] for (uint r = 0; r < 4; r++) [[unroll]] for (uint c = 0; c < 4; c++) values[r][c] = 0.0;
    float total = 0.0, factor = 1.0;

    for (uint block = 0; block < blocks; block++) {
        float scores[8][4];
        [[unroll]] for (uint r = 0; r < 8; r++) {
#if WINDOW
            uvec4 w = prior_halves[(head * 64u + 4 * score_row + r) * 8u + (score_column >> 1)];
            uvec2 seeds = (score_column & 1u) == 0u ? w.xy : w.zw;
            vec4 s = vec4(half_unpack(seeds.x), half_unpack(seeds.y));
#else
            vec4 s = vec4(0.0);
#endif
            [[unroll]] for (uint c = 0; c < 4; c++) scores[r][c] = s[c];
        }
        Row key = key_at(block, own);
        for (uint h = 0; h < 2; h++) {
            barrier();
            if (row_side)
                tile_store_a(own, load_codes(query.row, query.inside, head, h));
            else
                tile_store_b(own, load_codes(key.row, key.inside, head, 2u + h));
            barrier();
            score_group(score_row, score_column, scores);
        }
        [[unroll]] for (uint r = 0; r < 8; r++) {
            float e[4];
            [[unroll]] for (uint c = 0; c < 4; c++) {
#if WINDOW
                e[c] = exp_window(scores[r][c]);
#else
                e[c] = exp_vit(scores[r][c]);
#endif
            }
            uint at = exponential_at(4 * score_row + r, 4 * score_column);
            uint half_element = (score_column & 1u) * 2u;
            tile_memory[at][half_element] = half_pack(e[0], e[1]);
            tile_memory[at][half_element + 1u] = half_pack(e[2], e[3]);
        }
        barrier();
        if (row_side) {
            float sum = total_of(own);
#if WINDOW
            factor = reciprocal(sum);
#else
            total = half_add(total, sum);
#endif
        }
        for (uint j = 0; j < 4; j++) {
            barrier();
            if (row_side) {
                float e[16];
                load_exponentials(own, j, e);
                uvec4 codes;
                [[unroll]] for (uint i = 0; i < 4; i++) {
#if WINDOW
                    codes[i] = e4m3_pack(half_mul(e[4 * i], factor), half_mul(e[4 * i + 1], factor),
                                         half_mul(e[4 * i + 2], factor), half_mul(e[4 * i + 3], factor));
#else
                    codes[i] = e4m3_pack(e[4 * i], e[4 * i + 1], e[4 * i + 2], e[4 * i + 3]);
#endif
                }
                tile_store_a(own, codes);
            } else {
                // Sixteen keys of 32 channels: eight channels of one key each.
                uint k = own >> 2, eighth = own & 3u;
                Row value = key_at(block, 16 * j + k);
                uvec4 w = load_codes(value.row, value.inside, head, 4u + (eighth >> 1));
                uvec2 words = (eighth & 1u) == 0u ? w.xy : w.zw;
                tile_store_b_quad(k, 2 * eighth, words.x);
                tile_store_b_quad(k, 2 * eighth + 1, words.y);
            }
            barrier();
            value_group(value_row, value_column, values);
        }
    }

#if !WINDOW
    // Padding keys score zero and are taken off again; the product is exact in f32.
    float padding = half_round(exp_vit(0.0) * float(padded - tokens));
    barrier();
    if (row_side)
        tile_memory[own >> 2][own & 3u] = floatBitsToUint(reciprocal(padded > tokens ? half_sub(total, padding) : total));
    barrier();
    vec4 factors = uintBitsToFloat(tile_memory[value_row]);
#endif
    [[unroll]] for (uint r = 0; r < 4; r++) {
        Row to = query_at(4 * value_row + r);
        vec4 o = vec4(values[r][0], values[r][1], values[r][2], values[r][3]);
#if !WINDOW
        o = vec4(half_mul(o.x, factors[r]), half_mul(o.y, factors[r]), half_mul(o.z, factors[r]),
                 half_mul(o.w, factors[r]));
#endif
        if (to.inside) out_codes[(to.row * heads + head) * 8u + value_column] = e4m3_pack(o.x, o.y, o.z, o.w);
    }
}
