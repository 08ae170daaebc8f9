// Reading of the maps of the sky. Appended to shadow_frame.wgsl. The software rasteriser
// (src/soft/sky_light.rs) does the same arithmetic in the same order.

// See SkyCover in src/shadows/sky.rs.
const SKY_TEXELS: f32 = 0.25;
const SKY_SLOPE_TEXELS: f32 = 3.0;
const SKY_AWAY_RATE: f32 = 20.0;
const SKY_INNER: f32 = 4.0;
const SKY_OUTER: f32 = 0.266667;
const SKY_FLOOR: f32 = 0.35;
const SKY_SIDES: f32 = 2.0;
const SKY_UNDER: f32 = 0.85;
const SKY_UNDER_RISE: f32 = -0.15;

@group(0) @binding(5) var sky_maps: texture_2d_array<f32>;

// 1 if a texel's depth is not nearer to the sky than this depth, else 0.
fn is_open(texel: vec2<i32>, layer: u32, depth: f32) -> f32 {
    return select(0.0, 1.0, textureLoad(sky_maps, texel, layer, 0).x <= depth);
}

// Of four texels in a row, which are open.
fn open_row(first: vec2<i32>, layer: u32, depth: f32) -> vec4<f32> {
    return vec4<f32>(
        is_open(first, layer, depth),
        is_open(first + vec2<i32>(1, 0), layer, depth),
        is_open(first + vec2<i32>(2, 0), layer, depth),
        is_open(first + vec2<i32>(3, 0), layer, depth),
    );
}

// Cosine of the angle between a normal and the light of a map.
fn sky_facing(layer: u32, normal: vec3<f32>) -> f32 {
    return dot(normal, shadow.sky.maps[layer].depth.xyz) * shadow.sky.depth_units;
}

// Part of the light of a map that reaches a position in a plane with this normal, from four texels around it if they suffice, else
// from 16.
fn map_share(layer: u32, relative: vec3<f32>, plane: vec3<f32>) -> f32 {
    let map = shadow.sky.maps[layer];
    let facing = sky_facing(layer, plane);
    let slope = sqrt(max(1.0 - facing * facing, 0.0));
    let away = clamp(-facing * SKY_AWAY_RATE, 0.0, 1.0);
    let lift = shadow.sky.texel * (SKY_TEXELS + SKY_SLOPE_TEXELS * slope * away);
    let at = relative + plane * lift;
    let texel = vec2<f32>(dot(at, map.column.xyz) + map.column.w, dot(at, map.row.xyz) + map.row.w)
        - 0.5;
    let depth = dot(at, map.depth.xyz) + map.depth.w + BIAS_DEPTH;
    let low = floor(texel);
    let part = texel - low;
    let last = vec2<f32>(shadow.sky.last_texel - 2.0);
    let first = vec2<i32>(clamp(low, vec2<f32>(1.0), last)) - 1;
    let upper_left = is_open(first + vec2<i32>(1, 1), layer, depth);
    let upper_right = is_open(first + vec2<i32>(2, 1), layer, depth);
    let lower_left = is_open(first + vec2<i32>(1, 2), layer, depth);
    let lower_right = is_open(first + vec2<i32>(2, 2), layer, depth);
    let upper = upper_left * (1.0 - part.x) + upper_right * part.x;
    let lower = lower_left * (1.0 - part.x) + lower_right * part.x;
    let inner = (upper * (1.0 - part.y) + lower * part.y) * SKY_INNER;
    if inner >= 1.0 {
        return 1.0;
    }
    let weights = vec4<f32>(1.0 - part.x, 1.0, 1.0, part.x);
    let row0 = dot(open_row(first, layer, depth), weights);
    let row1 = dot(open_row(first + vec2<i32>(0, 1), layer, depth), weights);
    let row2 = dot(open_row(first + vec2<i32>(0, 2), layer, depth), weights);
    let row3 = dot(open_row(first + vec2<i32>(0, 3), layer, depth), weights);
    let sum = row0 * (1.0 - part.y) + row1 + row2 + row3 * part.y;
    return min(max(inner, sum * SKY_OUTER), 1.0);
}

// Part of the sky light that reaches a position on a surface with this normal, in a plane with that one.
fn sky_share(relative: vec3<f32>, normal: vec3<f32>, plane: vec3<f32>) -> f32 {
    let range = length(relative - shadow.sky.center);
    let fade = clamp((range - shadow.sky.fade_start) * shadow.sky.fade_rate, 0.0, 1.0);
    if fade >= 1.0 {
        return 1.0;
    }
    let above = map_share(0u, relative, plane);
    if above >= 1.0 {
        return 1.0;
    }
    var sum = 0.0;
    var weights = 0.0;
    for (var layer = 1u; layer < 7u; layer++) {
        let weight = 1.0 + sky_facing(layer, normal);
        sum += weight * map_share(layer, relative, plane);
        weights += weight;
    }
    let under = SKY_UNDER + SKY_UNDER_RISE * normal.y;
    let sides = min(sum / weights * SKY_SIDES, 1.0) * under;
    let covered = (1.0 - above) * (1.0 - sides);
    return 1.0 - covered * ((1.0 - SKY_FLOOR) * (1.0 - fade));
}

// Emission of a material, for the colour of its surfaces with less sky light.
fn sky_emission(material: u32) -> f32 {
    return emission(material);
}

// The colour of a surface with less sky light. `unlit` is the colour without the sun,
// `shine` the part of it that is drawn as it is.
fn under_sky(
    lit: vec3<f32>,
    unlit: vec3<f32>,
    shine: f32,
    relative: vec3<f32>,
    normal: vec3<f32>,
) -> vec3<f32> {
    let share = sky_share(relative, normal, normal);
    if share >= 1.0 {
        return lit;
    }
    let ambient = frame.ambient * (0.74 + 0.26 * normal.y) * (1.0 - shine);
    return lit - unlit * (ambient / max(ambient + shine, vec3<f32>(1e-6))) * (1.0 - share);
}
