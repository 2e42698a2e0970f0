// Bindings, parameters and tokens of the attention kernels (numerics sections 9 and 10). With WINDOW defined as 1 the
// keys of a query are the 64 tokens of its 8x8 window, otherwise all tokens.
#ifndef ATTENTION_BINDINGS_GLSL
#define ATTENTION_BINDINGS_GLSL

// Rows of 3C codes, head-major: six elements a head (two each of Q, K and V).
layout(binding = 0, std430) readonly buffer Qkv { uvec4 qkv_codes[]; };
layout(binding = 1, std430) writeonly buffer Output { uint out_codes[]; };
#if WINDOW
// [head][natural query][physical key], eight halves an element.
layout(binding = 2, std430) readonly buffer Prior { uvec4 prior_halves[]; };
#endif

layout(push_constant) uniform Push {
    uint heads;
#if WINDOW
    uint phase;
    uint width;
    uint height;
    uint first_line;    // image line at which the bindings start
    uint first_window;  // window row of the dispatch's first workgroup row
#ifdef WITH_FLAGS
    uint flags;
#endif
#else
    uint tokens;
    uint padded;
    uint first_part;    // of the queries that the dispatch's first workgroup column handles
#endif
};

#if WINDOW
// Natural token of physical key p of an 8x8 window, as (x, y) (network section 4.4).
uvec2 untiled(uint p) { return uvec2(((p >> 4) & 1u) * 4u + (p & 3u), (p >> 5) * 4u + ((p >> 2) & 3u)); }

// Origin shift (x, y) of a window phase.
uvec2 phase_shift(uint phase) { return uvec2(phase == 1u || phase == 2u ? 4u : 0u, phase == 1u || phase == 3u ? 4u : 0u); }

// Element of qkv_codes at which a token's row starts, and whether the token lies inside the level. Tokens outside are
// zero rows: they keep their place in the denominator.
struct Token {
    uint row;
    bool inside;
};

Token window_token(ivec2 origin, uvec2 at) {
    ivec2 p = origin + ivec2(at);
    bool inside = p.x >= 0 && p.y >= 0 && p.x < int(width) && p.y < int(height);
    return Token(inside ? (uint(p.y) - first_line) * width + uint(p.x) : 0u, inside);
}
#endif

// Element `part` (Q 0 and 1, K 2 and 3, V 4 and 5) of a token's head.
uvec4 load_codes(uint row, bool inside, uint head, uint part) {
    uvec4 w = qkv_codes[(row * heads + head) * 6u + part];
    return inside ? w : uvec4(0u);
}

#endif
