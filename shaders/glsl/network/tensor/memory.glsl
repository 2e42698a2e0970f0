// `tile_memory`: a workgroup's shared memory in elements of eight halves. The software model of the matrix units keeps it in
// a buffer, because devices without matrix units may have less of it than the kernels take.
#ifndef TENSOR_MEMORY_GLSL
#define TENSOR_MEMORY_GLSL

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
#else
#define TILE_MEMORY(elements) shared uvec4 tile_memory[elements];
#define group_barrier() barrier()
#define warp_barrier() subgroupBarrier()
#endif

#endif
