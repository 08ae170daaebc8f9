@group(0) @binding(0) var<uniform> clip_from_world: mat4x4<f32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
}

@vertex
fn vertex(
    @location(0) position: vec3<f32>,
    @location(1) color: vec4<f32>,
    @location(2) origin: vec3<f32>,
    @location(3) scale: f32,
) -> Corner {
    let world = origin + position * scale;
    return Corner(clip_from_world * vec4<f32>(world, 1.0), color);
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return corner.color;
}
