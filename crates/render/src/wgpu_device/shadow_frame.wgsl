// Data of the maps of shadows and of the sky. Appended to shader.wgsl.

// The fields are explained in src/shadows.rs and src/shadows/sky.rs.
struct Cascade {
    offset: vec3<f32>,
    texels_per_unit: f32,
    radius: f32,
    texel: f32,
    depth_rate: f32,
    last_texel: f32,
}

struct SkyMap {
    column: vec4<f32>,
    row: vec4<f32>,
    depth: vec4<f32>,
}

struct SkyFrame {
    center: vec3<f32>,
    fade_start: f32,
    fade_rate: f32,
    texel: f32,
    depth_units: f32,
    last_texel: f32,
    maps: array<SkyMap, 7>,
}

struct ShadowFrame {
    right: vec3<f32>,
    cascade_count: u32,
    up: vec3<f32>,
    fade_start: f32,
    forward: vec3<f32>,
    fade_rate: f32,
    center: vec3<f32>,
    strength: f32,
    cascades: array<Cascade, 4>,
    sky: SkyFrame,
}

// Added to depths, against rounding errors of rasterisers; see Bias in src/shadows.rs.
const BIAS_DEPTH: f32 = 2e-6;

@group(0) @binding(3) var<uniform> shadow: ShadowFrame;
