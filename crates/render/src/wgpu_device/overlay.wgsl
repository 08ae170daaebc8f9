// Draws overlays: triangles in pixel coordinates with a texture. Colours are as shown on screen,
// with premultiplied opacity.

// 2 / width and 2 / height of the picture.
@group(0) @binding(0) var<uniform> scale: vec4<f32>;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var between: sampler;

struct Corner {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) color: vec4<f32>,
}

@vertex
fn overlay_vertex(
    @location(0) at: vec2<f32>,
    @location(1) uv: vec2<f32>,
    @location(2) color: vec4<f32>,
) -> Corner {
    let position = vec2<f32>(at.x * scale.x - 1.0, 1.0 - at.y * scale.y);
    return Corner(vec4<f32>(position, 0.0, 1.0), uv, color);
}

@fragment
fn overlay_fragment(corner: Corner) -> @location(0) vec4<f32> {
    return corner.color * textureSample(image, between, corner.uv);
}
