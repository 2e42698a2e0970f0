// `tile_memory`: a workgroup's shared memory in elements of sixteen bytes, eight halves or sixteen codes, and who is who in it. The
// software model of the matrix units keeps it in a buffer, because devices without matrix units may have less of it than the
// kernels take.
#ifndef TENSOR_MEMORY_GLSL
#define TENSOR_MEMORY_GLSL

#ifndef FLOAT8
#define FLOAT8 0
#endif
// k of one multiplication, and elements that sixteen channels of an operand row take.
#if FLOAT8
#define K_TILE 32
#define OPERAND 1u
#else
#define K_TILE 16
#define OPERAND 2u
#endif
// Steps of so many k.
#define STEPS(k) ((k) / K_TILE)

#if MATRIX_MODEL
// 48 KiB, whatever the kernel takes.
struct Memory { uvec4 words[3072]; };
layout(binding = MODEL_BINDING, std430) coherent buffer Memories { Memory memories[]; };
#define tile_memory memories[(gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x].words
#define TILE_MEMORY(elements)
void group_barrier() {
    memoryBarrierBuffer();
    barrier();
}
#define warp_barrier() group_barrier()
#define warp_index() (gl_LocalInvocationIndex >> 5)
#define lane_index() (gl_LocalInvocationIndex & 31u)
#else
#define TILE_MEMORY(elements) shared uvec4 tile_memory[elements];
#define group_barrier() barrier()
#define warp_barrier() subgroupBarrier()
#define warp_index() gl_SubgroupID
#define lane_index() gl_SubgroupInvocationID
#endif

#endif
