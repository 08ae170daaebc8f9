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

@vertex
fn triangle_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> TriangleCorner {
    let at = vertex * 5u;
    let place = draws[slot];
    let own = vec3<f32>(
        bitcast<f32>(vertices[at]),
        bitcast<f32>(vertices[at + 1u]),
        bitcast<f32>(vertices[at + 2u]),
    );
    // Where quads have a level, triangles have a scale.
    let local = own * bitcast<f32>(place.level);
    let origin = vec3<i32>(place.origin_x, place.origin_y, place.origin_z) - frame.eye_voxel.xyz;
    var out: TriangleCorner;
    out.relative = (vec3<f32>(origin) + local) - frame.eye_fraction.xyz;
    out.position = to_clip(out.relative);
    out.color = unpack4x8unorm(vertices[at + 4u]);
    out.normal = unfolded(vertices[at + 3u]);
    return out;
}

// The light on a normal, as Atmosphere::light has it.
fn light(normal: vec3<f32>) -> vec3<f32> {
    let sun = max(dot(normal, frame.sun_direction.xyz), 0.0);
    let open_sky = 0.74 + 0.26 * normal.y;
    return frame.ambient.rgb * open_sky + frame.sun.rgb * (0.62 * sun);
}

@fragment
fn triangle_fragment(
    in: TriangleCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    // Both sides are lit: the normal is turned to the side that is seen.
    let turned = select(-in.normal, in.normal, is_front);
    let normal = turned / max(length(turned), 1e-6);
    var corner: Corner;
    corner.color = vec4<f32>(min(in.color.rgb * light(normal), vec3<f32>(1.0)), in.color.a);
    corner.relative = in.relative;
    return hazed(corner.color, corner.relative);
}
