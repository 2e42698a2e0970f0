// False colours (network::metrics::heat): black over violet, red and orange to pale yellow, at equal steps.
#ifndef VIEW_COLORS_GLSL
#define VIEW_COLORS_GLSL

vec3 heat(float value) {
    const vec3 STOPS[6] = vec3[](vec3(0, 0, 4), vec3(66, 10, 104), vec3(147, 38, 103), vec3(221, 81, 58), vec3(252, 165, 10),
                                 vec3(252, 255, 164));
    float at = clamp(value, 0.0, 1.0) * 5.0;
    uint low = min(uint(at), 4u);
    return mix(STOPS[low], STOPS[low + 1u], at - float(low)) / 255.0;
}

// A colour of the wheel: hue by the direction of v (right is red, down is yellow-green), brightness by its length up to 1.
// Mirrored by overlay::legend.
vec3 wheel(vec2 v) {
    float strength = min(length(v), 1.0);
    float turn = strength > 0.0 ? atan(v.y, v.x) / 6.28318530718 : 0.0;
    vec3 k = fract(vec3(turn) + vec3(0.0, 2.0 / 3.0, 1.0 / 3.0)) * 6.0;
    return strength * clamp(abs(k - 3.0) - 1.0, 0.0, 1.0);
}

#endif
