// Prepended: QUAD_WGSL of drystone-wgpu.
@group(0) @binding(0) var<uniform> clip_from_world: mat4x4<f32>;
@group(1) @binding(0) var<storage, read> quads: array<vec2<u32>>;
// Origin and scale of each chunk.
@group(1) @binding(1) var<storage, read> chunks: array<vec4<f32>>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

@vertex
fn vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) slot: u32) -> Corner {
    let quad = quads[vertex / 4u];
    let chunk = chunks[slot];
    let world = chunk.xyz + quad_corner(quad, vertex % 4u).position * chunk.w;
    // By merge key: `Block as u32`.
    var colors = array(
        vec3<f32>(), vec3(0.45, 0.43, 0.42), vec3(0.36, 0.55, 0.25), vec3(0.82, 0.76, 0.55),
    );
    let light = 0.6 + 0.4 * dot(quad_normal(quad), normalize(vec3(0.5, 1.0, 0.3)));
    return Corner(clip_from_world * vec4(world, 1.0), colors[quad_material(quad)] * light);
}

@fragment
fn fragment(corner: Corner) -> @location(0) vec4<f32> {
    return vec4(corner.color, 1.0);
}
