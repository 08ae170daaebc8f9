// Reading of shadow maps. The arithmetic is that of ../../wgpu_device/shadow.wgsl, in the same order.

// The fields are explained in ../../shadows.rs.
struct Cascade {
    vec3 offset;
    float texels_per_unit;
    float radius;
    float texel;
    float depth_rate;
    float last_texel;
};

layout(std140, binding = 1) uniform ShadowFrame {
    vec3 right;
    uint cascade_count;
    vec3 up;
    float fade_start;
    vec3 forward;
    float fade_rate;
    vec3 center;
    float strength;
    Cascade cascades[4];
} shadow;

layout(binding = 0) uniform sampler2DArray shadow_maps;

// See Bias in ../../shadows.rs.
const float SLOPE_TEXELS = 1.5;
const float BIAS_TEXELS = 0.25;
const float BIAS_DEPTH = 2e-6;

// 1 if a texel's depth is not nearer to the sun than this depth, else 0.
float is_lit(ivec2 texel, uint layer, float depth) {
    return texelFetch(shadow_maps, ivec3(texel, int(layer)), 0).x <= depth ? 1.0 : 0.0;
}

// Part of the sun's light that reaches a position on a surface with this normal; 1 on surfaces that
// point away from the sun, which it does not light.
float sun_share(vec3 position, vec3 normal) {
    float facing = dot(normal, frame.sun_direction);
    float range = length(position - shadow.center);
    vec4 ends = vec4(shadow.cascades[0].radius, shadow.cascades[1].radius,
        shadow.cascades[2].radius, shadow.cascades[3].radius);
    uvec4 beyond = uvec4(greaterThanEqual(vec4(range), ends));
    uint layer = beyond.x + beyond.y + beyond.z + beyond.w;
    if (facing <= 0.0 || layer >= shadow.cascade_count) {
        return 1.0;
    }
    Cascade cascade = shadow.cascades[layer];
    float slope = sqrt(max(1.0 - facing * facing, 0.0));
    float lift = cascade.texel * (slope * SLOPE_TEXELS + BIAS_TEXELS);
    vec3 at = position + normal * lift;
    vec2 across_map = vec2(dot(at, shadow.right), -dot(at, shadow.up));
    vec2 texel = across_map * cascade.texels_per_unit + cascade.offset.xy - 0.5;
    float depth = dot(at, shadow.forward) * cascade.depth_rate + cascade.offset.z + BIAS_DEPTH;
    vec2 low = floor(texel);
    vec2 part = texel - low;
    ivec2 first = ivec2(clamp(low, vec2(0.0), vec2(cascade.last_texel - 1.0)));
    float upper_left = is_lit(first, layer, depth);
    float upper_right = is_lit(first + ivec2(1, 0), layer, depth);
    float lower_left = is_lit(first + ivec2(0, 1), layer, depth);
    float lower_right = is_lit(first + ivec2(1, 1), layer, depth);
    float upper = upper_left * (1.0 - part.x) + upper_right * part.x;
    float lower = lower_left * (1.0 - part.x) + lower_right * part.x;
    float lit = upper * (1.0 - part.y) + lower * part.y;
    float fade = clamp((range - shadow.fade_start) * shadow.fade_rate, 0.0, 1.0);
    return 1.0 - (1.0 - lit) * (shadow.strength * (1.0 - fade));
}
