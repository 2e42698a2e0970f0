// QKV, normalisation and window attention of one head of a 512-channel block (numerics sections 6 and 9), WINDOWS neighbouring windows a
// workgroup and 32 rows a warp. Rows come straight from memory into left operands; sums become operands in registers, as in
// `strip`. Only keys and values pass through shared memory.
#version 460
#pragma variant device WINDOWS=1 AHEAD=2 MATRIX_MODEL=0
#pragma variant model WINDOWS=1 AHEAD=2 MATRIX_MODEL=1
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#if !MATRIX_MODEL
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#endif

layout(local_size_x = 64 * WINDOWS) in;

// Keys and values of a window's 64 rows; what is attended of a warp's 32 rows.
#define KEY_STRIDE 9
#define OUT_STRIDE 5
#define WINDOW_KEYS (64 * KEY_STRIDE)
#define OUT (WINDOWS * WINDOW_KEYS)
#define MODEL_BINDING 3
#include "memory.glsl"
TILE_MEMORY(OUT + WINDOWS * 64 * OUT_STRIDE)

layout(binding = 0, std430) readonly restrict buffer Input { uvec4 input_codes[]; };
layout(binding = 1, std430) readonly restrict buffer Weights { uvec4 weights[]; };
layout(binding = 2, std430) writeonly restrict buffer Output { uvec4 out_codes[]; };

layout(push_constant) uniform Push {
    uint width;
    uint height;
    uint phase;
    uint first_line;    // image line at which the bindings start
    uint first_window;  // window row of the dispatch's first workgroup row
    uint flags;         // none
};

#define opaque_zero (flags >> 31)
#include "matrix.glsl"
#include "direct.glsl"
#include "head.glsl"
#include "tokens.glsl"

const uint HEADS = 16, CHUNKS = 8, STEPS_K = 32;
// [head][step of k][6] tiles with rows in the order of direct.glsl, priors, scales.
const uint PRIOR = HEADS * STEPS_K * 6 * TILE;
const uint SCALES = PRIOR + HEADS * 512;
const uint OUTSIDE = ~0u;

// Where the first channels of a token are.
uint token_element(ivec2 origin, uint token) {
    uvec2 pixel;
    return token_pixel(origin, token, pixel) ? ((pixel.y - first_line) * width + pixel.x) * 32u : OUTSIDE;
}

void main() {
    uint warp = warp_index(), lane = lane_index(), first = 32u * (warp & 1u);
    uint keys = (warp >> 1) * WINDOW_KEYS, head = gl_WorkGroupID.z;
    ivec2 origin = window_origin(WINDOWS * gl_WorkGroupID.x + (warp >> 1));
    uint element[2][DIRECT_ROWS];
    UNROLL for (uint i = 0; i < 2; i++)
        UNROLL for (uint h = 0; h < DIRECT_ROWS; h++) element[i][h] = token_element(origin, first + 16u * i + direct_row(h));

    MatrixC qkv[2][6];
    UNROLL for (uint i = 0; i < 2; i++) UNROLL for (uint j = 0; j < 6; j++) qkv[i][j] = zero_c();
    DirectRow now[2], next[2];
#define LOAD_CHUNK(to, chunk)                                                                         \
    UNROLL for (uint i = 0; i < 2; i++) {                                                             \
        to[i] = direct_none();                                                                        \
        UNROLL for (uint h = 0; h < DIRECT_ROWS; h++)                                                 \
            if (element[i][h] != OUTSIDE) direct_load(to[i], h, element[i][h] + DIRECT_PARTS * (chunk)); \
    }
    LOAD_CHUNK(now, 0u)
    MatrixB ring[AHEAD * 6];
#define QKV_TILE(kt, j) (((head * STEPS_K + min(kt, STEPS_K - 1u)) * 6u + (j)) * TILE)
    UNROLL for (uint s = 0; s < AHEAD; s++)
        UNROLL for (uint j = 0; j < 6; j++) ring[s * 6 + j] = load_b_weights(QKV_TILE(s, j));
    // A bound that the compiler does not know keeps it a loop.
    uint chunks = CHUNKS + opaque_zero;
    for (uint chunk = 0; chunk < chunks; chunk++) {
        LOAD_CHUNK(next, min(chunk + 1u, CHUNKS - 1u))
        UNROLL for (uint s = 0; s < 4; s++) {
            MatrixB b[6];
            UNROLL for (uint j = 0; j < 6; j++) {
                b[j] = ring[s % AHEAD * 6 + j];
                ring[s % AHEAD * 6 + j] = load_b_weights(QKV_TILE(4u * chunk + s + AHEAD, j));
            }
            UNROLL for (uint i = 0; i < 2; i++) {
                MatrixA a = direct_a(now[i], s);
                UNROLL for (uint j = 0; j < 6; j++) qkv[i][j] = multiply(a, b[j], qkv[i][j]);
            }
        }
        UNROLL for (uint i = 0; i < 2; i++) now[i] = next[i];
    }

    uint scale = weights[SCALES + head].x;
    MatrixA q[2][2];
    UNROLL for (uint i = 0; i < 2; i++) head_operands(qkv[i], scale, keys + (first + 16u * i) * KEY_STRIDE, q[i]);
    group_barrier();
    uint out_at = OUT + 32u * warp * OUT_STRIDE;
    UNROLL for (uint i = 0; i < 2; i++) {
        MatrixC o[2];
        head_attend(q[i], PRIOR + (head * 4u + 2u * (warp & 1u) + i) * 4u * TILE, keys, o);
        UNROLL for (uint j = 0; j < 2; j++) store_c(o[j], out_at + 16u * i * OUT_STRIDE + 2u * j, OUT_STRIDE);
    }
    warp_barrier();
    UNROLL for (uint i = 0; i < 2; i++) {
        uint row = 16u * i + (lane >> 1), part = lane & 1u;
        uint to = token_element(origin, first + row), at = out_at + row * OUT_STRIDE + 2u * part;
        if (to != OUTSIDE) out_codes[to + 2u * head + part] = pack16(tile_memory[at], tile_memory[at + 1u]);
    }
}
