// How the device spreads weight and accumulator tiles over a subgroup: every invocation writes which elements it holds, told by their
// values.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require

layout(local_size_x = 32) in;

// The halves 0, 1, .. 255.
layout(binding = 0, std430) readonly buffer Numbers { uvec4 numbers[]; };
// Eight positions of every invocation: in a weight tile by columns, in an accumulator by rows, in a left
// operand by rows. Then how many elements each has.
layout(binding = 1, std430) writeonly buffer Result { uint results[]; };

void main() {
    coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a;
    coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseB> b;
    coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> c;
    coopMatLoad(b, numbers, 0, 2, gl_CooperativeMatrixLayoutColumnMajor);
    coopMatLoad(c, numbers, 0, 2, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(a, numbers, 0, 2, gl_CooperativeMatrixLayoutRowMajor);
    uint lane = gl_SubgroupInvocationID;
    for (uint i = 0; i < min(8u, uint(b.length())); i++) results[lane * 8u + i] = uint(b[i]);
    for (uint i = 0; i < min(8u, uint(c.length())); i++) results[256u + lane * 8u + i] = uint(c[i]);
    for (uint i = 0; i < min(8u, uint(a.length())); i++) results[512u + lane * 8u + i] = uint(a[i]);
    if (lane == 0u) results[768] = uint(b.length()), results[769] = uint(c.length()), results[770] = uint(a.length());
}
