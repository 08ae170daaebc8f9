// Reading of shadow maps. Appended to shadow_frame.wgsl. The software rasteriser (src/soft/sun.rs)
// does the same arithmetic in the same order.

// See Bias in src/shadows.rs.
const SLOPE_TEXELS: f32 = 1.5;
const BIAS_TEXELS: f32 = 0.25;

@group(0) @binding(4) var shadow_maps: texture_2d_array<f32>;

// 1 if a texel's depth is not nearer to the sun than this depth, else 0.
fn is_lit(texel: vec2<i32>, layer: u32, depth: f32) -> f32 {
    return select(0.0, 1.0, textureLoad(shadow_maps, texel, layer, 0).x <= depth);
}

// Part of the sun's light that reaches a position on a surface with this normal; 1 on surfaces that
// point away from the sun, which it does not light.
fn sun_share(relative: vec3<f32>, normal: vec3<f32>) -> f32 {
    let facing = dot(normal, frame.sun_direction);
    let range = length(relative - shadow.center);
    let ends = vec4<f32>(
        shadow.cascades[0].radius,
        shadow.cascades[1].radius,
        shadow.cascades[2].radius,
        shadow.cascades[3].radius,
    );
    let beyond = select(vec4<u32>(0u), vec4<u32>(1u), vec4<f32>(range) >= ends);
    let layer = beyond.x + beyond.y + beyond.z + beyond.w;
    if facing <= 0.0 || layer >= shadow.cascade_count {
        return 1.0;
    }
    let cascade = shadow.cascades[layer];
    let slope = sqrt(max(1.0 - facing * facing, 0.0));
    let lift = cascade.texel * (slope * SLOPE_TEXELS + BIAS_TEXELS);
    let at = relative + normal * lift;
    let across_map = vec2<f32>(dot(at, shadow.right), -dot(at, shadow.up));
    let texel = across_map * cascade.texels_per_unit + cascade.offset.xy - 0.5;
    let depth = dot(at, shadow.forward) * cascade.depth_rate + cascade.offset.z + BIAS_DEPTH;
    let low = floor(texel);
    let part = texel - low;
    let first = vec2<i32>(clamp(low, vec2<f32>(0.0), vec2<f32>(cascade.last_texel - 1.0)));
    let upper_left = is_lit(first, layer, depth);
    let upper_right = is_lit(first + vec2<i32>(1, 0), layer, depth);
    let lower_left = is_lit(first + vec2<i32>(0, 1), layer, depth);
    let lower_right = is_lit(first + vec2<i32>(1, 1), layer, depth);
    let upper = upper_left * (1.0 - part.x) + upper_right * part.x;
    let lower = lower_left * (1.0 - part.x) + lower_right * part.x;
    let lit = upper * (1.0 - part.y) + lower * part.y;
    let fade = clamp((range - shadow.fade_start) * shadow.fade_rate, 0.0, 1.0);
    return 1.0 - (1.0 - lit) * (shadow.strength * (1.0 - fade));
}
