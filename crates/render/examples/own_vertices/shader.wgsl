// Vertices and per-draw data are two vertex buffers: the first advances by vertex, the second by
// instance, starting at the command's first instance.

struct Camera {
    clip_from_world: mat4x4<f32>,
}

@group(0) @binding(0) var<uniform> camera: Camera;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vertex(
    @location(0) position: vec3<f32>,
    @location(1) color: vec4<f32>,
    @location(2) origin: vec3<f32>,
    @location(3) scale: f32,
) -> Corner {
    let world = origin + position * scale;
    return Corner(camera.clip_from_world * vec4<f32>(world, 1.0), color.rgb);
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(corner.color, 1.0);
}
