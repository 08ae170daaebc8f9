// Reading of maps of shadows and of the sky. The arithmetic is that of ../../wgpu_device/shadow.wgsl and
// ../../wgpu_device/sky_light.wgsl, in the same order.

// The fields are explained in ../../shadows.rs and ../../shadows/sky.rs.
struct Cascade {
    vec3 offset;
    float texels_per_unit;
    float radius;
    float texel;
    float depth_rate;
    float last_texel;
};

struct SkyMap {
    vec4 column;
    vec4 row;
    vec4 depth;
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
    vec3 sky_center;
    float sky_fade_start;
    float sky_fade_rate;
    float sky_texel;
    float sky_depth_units;
    float sky_last_texel;
    SkyMap sky[7];
} shadow;

// Added to depths, against rounding errors of rasterisers; see Bias in ../../shadows.rs.
const float BIAS_DEPTH = 2e-6;

#ifdef SUN_MAPS
layout(binding = 0) uniform sampler2DArray shadow_maps;

// See Bias in ../../shadows.rs.
const float SLOPE_TEXELS = 1.5;
const float BIAS_TEXELS = 0.25;

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
#endif

#ifdef SKY_MAPS
layout(binding = 1) uniform sampler2DArray sky_maps;

// See SkyCover in ../../shadows/sky.rs.
const float SKY_TEXELS = 0.25;
const float SKY_SLOPE_TEXELS = 3.0;
const float SKY_AWAY_RATE = 20.0;
const float SKY_INNER = 4.0;
const float SKY_OUTER = 0.266667;
const float SKY_FLOOR = 0.35;
const float SKY_SIDES = 2.0;
const float SKY_UNDER = 0.85;
const float SKY_UNDER_RISE = -0.15;

// 1 if a texel's depth is not nearer to the sky than this depth, else 0.
float is_open(ivec2 texel, int layer, float depth) {
    return texelFetch(sky_maps, ivec3(texel, layer), 0).x <= depth ? 1.0 : 0.0;
}

// Of four texels in a row, which are open.
vec4 open_row(ivec2 first, int layer, float depth) {
    return vec4(
        is_open(first, layer, depth),
        is_open(first + ivec2(1, 0), layer, depth),
        is_open(first + ivec2(2, 0), layer, depth),
        is_open(first + ivec2(3, 0), layer, depth));
}

// Cosine of the angle between a normal and the light of a map.
float sky_facing(int layer, vec3 normal) {
    return dot(normal, shadow.sky[layer].depth.xyz) * shadow.sky_depth_units;
}

// Part of the light of a map that reaches a position in a plane with this normal, from four texels around it if they suffice, else
// from 16.
float map_share(int layer, vec3 position, vec3 plane) {
    SkyMap map = shadow.sky[layer];
    float facing = sky_facing(layer, plane);
    float slope = sqrt(max(1.0 - facing * facing, 0.0));
    float away = clamp(-facing * SKY_AWAY_RATE, 0.0, 1.0);
    float lift = shadow.sky_texel * (SKY_TEXELS + SKY_SLOPE_TEXELS * slope * away);
    vec3 at = position + plane * lift;
    vec2 texel = vec2(dot(at, map.column.xyz) + map.column.w, dot(at, map.row.xyz) + map.row.w) - 0.5;
    float depth = dot(at, map.depth.xyz) + map.depth.w + BIAS_DEPTH;
    vec2 low = floor(texel);
    vec2 part = texel - low;
    ivec2 first = ivec2(clamp(low, vec2(1.0), vec2(shadow.sky_last_texel - 2.0))) - 1;
    float upper_left = is_open(first + ivec2(1, 1), layer, depth);
    float upper_right = is_open(first + ivec2(2, 1), layer, depth);
    float lower_left = is_open(first + ivec2(1, 2), layer, depth);
    float lower_right = is_open(first + ivec2(2, 2), layer, depth);
    float upper = upper_left * (1.0 - part.x) + upper_right * part.x;
    float lower = lower_left * (1.0 - part.x) + lower_right * part.x;
    float inner = (upper * (1.0 - part.y) + lower * part.y) * SKY_INNER;
    if (inner >= 1.0) {
        return 1.0;
    }
    vec4 weights = vec4(1.0 - part.x, 1.0, 1.0, part.x);
    float row0 = dot(open_row(first, layer, depth), weights);
    float row1 = dot(open_row(first + ivec2(0, 1), layer, depth), weights);
    float row2 = dot(open_row(first + ivec2(0, 2), layer, depth), weights);
    float row3 = dot(open_row(first + ivec2(0, 3), layer, depth), weights);
    float sum = row0 * (1.0 - part.y) + row1 + row2 + row3 * part.y;
    return min(max(inner, sum * SKY_OUTER), 1.0);
}

// Part of the sky light that reaches a position on a surface with this normal, in a plane with that one.
float sky_share(vec3 position, vec3 normal, vec3 plane) {
    float range = length(position - shadow.sky_center);
    float fade = clamp((range - shadow.sky_fade_start) * shadow.sky_fade_rate, 0.0, 1.0);
    if (fade >= 1.0) {
        return 1.0;
    }
    float above = map_share(0, position, plane);
    if (above >= 1.0) {
        return 1.0;
    }
    float sum = 0.0;
    float weights = 0.0;
    for (int layer = 1; layer < 7; layer++) {
        float weight = 1.0 + sky_facing(layer, normal);
        sum += weight * map_share(layer, position, plane);
        weights += weight;
    }
    float under = SKY_UNDER + SKY_UNDER_RISE * normal.y;
    float sides = min(sum / weights * SKY_SIDES, 1.0) * under;
    float covered = (1.0 - above) * (1.0 - sides);
    return 1.0 - covered * ((1.0 - SKY_FLOOR) * (1.0 - fade));
}

// The colour of a surface with less sky light. `unlit` is the colour without the sun,
// `shine` the part of it that is drawn as it is.
vec3 under_sky(vec3 lit, vec3 unlit, float shine, vec3 position, vec3 normal) {
    float share = sky_share(position, normal, normal);
    if (share >= 1.0) {
        return lit;
    }
    vec3 ambient = frame.ambient * (0.74 + 0.26 * normal.y) * (1.0 - shine);
    return lit - unlit * (ambient / max(ambient + shine, vec3(1e-6))) * (1.0 - share);
}
#endif
