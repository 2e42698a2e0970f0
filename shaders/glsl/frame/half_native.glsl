// The conversions of numerics.glsl under the same names by the device's own instructions, for the native form of the frame
// passes: only for devices on which they were found to give the same bits (network::frame::native).
//
// The including shader defines OPAQUE_ZERO, a zero from its push constants.
//
// A half is held as its 16 bits or as a `float` that is exactly representable as one. NaNs stay NaNs; their bits may differ.
#ifndef FRAME_HALF_NATIVE_GLSL
#define FRAME_HALF_NATIVE_GLSL

const uint SIGN32 = 0x80000000u;
const uint INF32 = 0x7f800000u;

float half_to_f32(uint h) { return unpackHalf2x16(h).x; }
vec2 half_unpack(uint w) { return unpackHalf2x16(w); }
// Some compilers take a conversion there and back for none (the H200's does), hence OPAQUE_ZERO, which they do not know.
float half_round(float v) { return unpackHalf2x16(packHalf2x16(vec2(v, 0.0)) ^ OPAQUE_ZERO).x; }

bool half_nan(float v) { return (floatBitsToUint(v) & ~SIGN32) > INF32; }

// Bits of a held half; a NaN has those of the positive quiet one.
uint half_bits(float v) { return half_nan(v) ? 0x7e00u : packHalf2x16(vec2(v, 0.0)); }

// Two held halves as one word, `lo` in the low half word.
uint half_pack(float lo, float hi) {
    uint w = packHalf2x16(vec2(lo, hi));
    w = half_nan(lo) ? w & 0xffff0000u | 0x7e00u : w;
    return half_nan(hi) ? w & 0xffffu | 0x7e000000u : w;
}

float half_sub(float a, float b) { return half_round(a - b); }
float half_mul(float a, float b) { return half_round(a * b); }

#endif
