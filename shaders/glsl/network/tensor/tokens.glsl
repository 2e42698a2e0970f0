// The tokens of a window (network section 4.4). All rows are in physical order, so that groups of sixteen
// keys are those of the contract. Before include: the push constants width, height, phase, first_line, first_window.
#ifndef TENSOR_TOKENS_GLSL
#define TENSOR_TOKENS_GLSL

// Natural position (x, y) of physical token p of an 8x8 window.
uvec2 untiled(uint p) { return uvec2(((p >> 4) & 1u) * 4u + (p & 3u), (p >> 5) * 4u + ((p >> 2) & 3u)); }

// Physical token at a position.
uint tiled(uvec2 at) { return (at.y >> 2) * 32u + (at.x >> 2) * 16u + (at.y & 3u) * 4u + (at.x & 3u); }

// First pixel of a window of this workgroup's row of windows; negative where it reaches outside the level.
ivec2 window_origin(uint window) {
    ivec2 shift = ivec2(phase == 1u || phase == 2u ? 4 : 0, phase == 1u || phase == 3u ? 4 : 0);
    return ivec2(8u * uvec2(window, first_window + gl_WorkGroupID.y)) - shift;
}

// A token's pixel, and whether it lies inside the level; tokens outside are zero rows.
bool token_pixel(ivec2 origin, uint row, out uvec2 pixel) {
    ivec2 p = origin + ivec2(untiled(row));
    pixel = uvec2(max(p, ivec2(0)));
    return p.x >= 0 && p.y >= 0 && p.x < int(width) && p.y < int(height);
}

#endif
