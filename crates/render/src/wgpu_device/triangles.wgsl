// Draws triangles of models: vertices of 20 bytes with their own indices. Appended to shader.wgsl,
// whose frame, sky and haze it shares, and to functions for reading maps. The software rasteriser
// (src/soft/triangles.rs) does the same arithmetic in the same order.

// Five words each: position, normal, colour.
@group(1) @binding(0) var<storage, read> vertices: array<u32>;

struct TriangleCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(perspective, centroid) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) normal: vec3<f32>,
}

// Normal from a point of the square that an octahedron unfolds to.
fn unfolded(word: u32) -> vec3<f32> {
    let flat_place = unpack2x16snorm(word);
    let z = 1.0 - abs(flat_place.x) - abs(flat_place.y);
    // The lower half is folded over the edges of the upper half.
    let fold = max(-z, 0.0);
    let x = flat_place.x - select(-fold, fold, flat_place.x >= 0.0);
    let y = flat_place.y - select(-fold, fold, flat_place.y >= 0.0);
    return normalize(vec3<f32>(x, y, z));
}

// Position of a vertex relative to its model's origin, in voxels.
fn local_position(vertex: u32, model: DrawData) -> vec3<f32> {
    let at = vertex * 5u;
    let own = vec3<f32>(
        bitcast<f32>(vertices[at]),
        bitcast<f32>(vertices[at + 1u]),
        bitcast<f32>(vertices[at + 2u]),
    );
    // Triangles have a scale instead of a level. It is negative in textured meshes.
    return own * abs(bitcast<f32>(model.level));
}

// Position of a vertex relative to the camera.
fn relative_position(local: vec3<f32>, model: DrawData) -> vec3<f32> {
    let origin = vec3<i32>(model.origin_x, model.origin_y, model.origin_z) - frame.camera_voxel;
    return (vec3<f32>(origin) + local) - frame.camera_fraction;
}

fn triangle_corner(vertex: u32, model: DrawData) -> TriangleCorner {
    var out: TriangleCorner;
    out.relative = relative_position(local_position(vertex, model), model);
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

// Light on a normal that these shares of the sun and of the sky reach, as in Atmosphere::light.
fn light(normal: vec3<f32>, share: f32, of_sky: f32) -> vec3<f32> {
    let sun = max(dot(normal, frame.sun_direction), 0.0);
    let open_sky = 0.74 + 0.26 * normal.y;
    return frame.ambient * (open_sky * of_sky) + frame.sun * (0.62 * (sun * share));
}

// A vector along the normal of a triangle's plane, on one of its sides.
fn plane_vector(relative: vec3<f32>) -> vec3<f32> {
    return cross(dpdx(relative), dpdy(relative));
}

// A triangle's lit colour. Both sides are lit: the normal is turned to the visible side. Maps are read
// with the normal of the triangle's plane: with the interpolated one, a triangle that is nearly parallel
// to the light would cast shadows on itself.
fn lit_triangle(
    color: vec4<f32>,
    relative: vec3<f32>,
    own_normal: vec3<f32>,
    is_front: bool,
    plane: vec3<f32>,
) -> vec4<f32> {
    let turned = select(-own_normal, own_normal, is_front);
    let normal = turned / max(length(turned), 1e-6);
    let size = length(plane);
    let side = select(-plane, plane, dot(plane, normal) >= 0.0);
    let flat_normal = select(normal, side / size, size > 0.0);
    let of_sky = sky_share(relative, normal, flat_normal);
    let own_light = light(normal, sun_share(relative, flat_normal), of_sky);
    return vec4<f32>(min(color.rgb * own_light, vec3<f32>(1.0)), color.a);
}

@fragment
fn triangle_fragment(
    in: TriangleCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    let plane = plane_vector(in.relative);
    return hazed(lit_triangle(in.color, in.relative, in.normal, is_front, plane), in.relative);
}
