// Draws triangles of models: vertices of 20 bytes, pulled by indices of their own. Appended
// to shader.wgsl, whose frame, sky and haze it shares.
// The software rasteriser (src/soft/triangles.rs) does the same sums in the same order.

// Five words each: position, normal, colour.
@group(1) @binding(0) var<storage, read> vertices: array<u32>;

struct TriangleCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec4<f32>,
    @location(1) relative: vec3<f32>,
    @location(2) normal: vec3<f32>,
}

// A point of the square that an octahedron unfolds to.
fn unfolded(word: u32) -> vec3<f32> {
    let flat_place = unpack2x16snorm(word);
    let z = 1.0 - abs(flat_place.x) - abs(flat_place.y);
    // What lies below is folded over the edges of the upper half.
    let fold = max(-z, 0.0);
    let x = flat_place.x - select(-fold, fold, flat_place.x >= 0.0);
    let y = flat_place.y - select(-fold, fold, flat_place.y >= 0.0);
    return normalize(vec3<f32>(x, y, z));
}

// Where a vertex is, in voxels from its model's origin.
fn local_place(vertex: u32, place: DrawData) -> vec3<f32> {
    let at = vertex * 5u;
    let own = vec3<f32>(
        bitcast<f32>(vertices[at]),
        bitcast<f32>(vertices[at + 1u]),
        bitcast<f32>(vertices[at + 2u]),
    );
    // Where quads have a level, triangles have a scale.
    return own * bitcast<f32>(place.level);
}

// The same relative to the eye.
fn relative_place(local: vec3<f32>, place: DrawData) -> vec3<f32> {
    let origin = vec3<i32>(place.origin_x, place.origin_y, place.origin_z) - frame.camera_voxel.xyz;
    return (vec3<f32>(origin) + local) - frame.camera_fraction.xyz;
}

fn triangle_corner(vertex: u32, place: DrawData) -> TriangleCorner {
    var out: TriangleCorner;
    out.relative = relative_place(local_place(vertex, place), place);
    out.position = to_clip(out.relative);
    out.color = unpack4x8unorm(vertices[vertex * 5u + 4u]);
    out.normal = unfolded(vertices[vertex * 5u + 3u]);
    return out;
}

@vertex
fn triangle_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> TriangleCorner {
    return triangle_corner(vertex, draws[slot]);
}

// The light on a normal, as Atmosphere::light has it.
fn light(normal: vec3<f32>) -> vec3<f32> {
    let sun = max(dot(normal, frame.sun_direction.xyz), 0.0);
    let open_sky = 0.74 + 0.26 * normal.y;
    return frame.ambient.rgb * open_sky + frame.sun.rgb * (0.62 * sun);
}

// A triangle's colour in the light that it gets. Both sides are lit: the normal is turned to the
// side that is seen.
fn lit_triangle(color: vec4<f32>, own_normal: vec3<f32>, is_front: bool) -> vec4<f32> {
    let turned = select(-own_normal, own_normal, is_front);
    let normal = turned / max(length(turned), 1e-6);
    return vec4<f32>(min(color.rgb * light(normal), vec3<f32>(1.0)), color.a);
}

@fragment
fn triangle_fragment(
    in: TriangleCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    return hazed(lit_triangle(in.color, in.normal, is_front), in.relative);
}
