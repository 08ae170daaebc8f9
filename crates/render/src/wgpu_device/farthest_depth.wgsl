// Computes the farthest depth of each pixel's samples (the least: depth is reversed), for culling.
// What is behind it is hidden at all samples of the pixel.

@group(0) @binding(0) var depths: texture_depth_multisampled_2d;

// One triangle over the whole picture.
@vertex
fn whole_picture(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    let x = select(-1.0, 3.0, vertex == 1u);
    let y = select(-1.0, 3.0, vertex == 2u);
    return vec4<f32>(x, y, 0.0, 1.0);
}

@fragment
fn farthest_depth(@builtin(position) position: vec4<f32>) -> @builtin(frag_depth) f32 {
    let pixel = vec2<i32>(position.xy);
    var farthest = 1.0;
    for (var n = 0; n < i32(textureNumSamples(depths)); n++) {
        farthest = min(farthest, textureLoad(depths, pixel, n));
    }
    return farthest;
}
