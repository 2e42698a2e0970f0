// Helpers of the test shaders.
#ifndef TEST_GLSL
#define TEST_GLSL

// Index of this invocation in a dispatch spread over x and y.
uint linear_index() {
    return gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
}

#endif
