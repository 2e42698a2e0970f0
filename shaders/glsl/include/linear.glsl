// Elementwise kernels: one invocation an item, the dispatch spread over x and y.
#ifndef LINEAR_GLSL
#define LINEAR_GLSL

layout(local_size_x = 64) in;

// Index of this invocation.
uint linear_index() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
}

#endif
