// Decodes quads of 8 bytes (`Quad` in quad.rs). Prepended to shaders that read an
// `array<vec2<u32>>` of them.

// A corner of a quad.
struct QuadCorner {
    // In voxels of the mesh, 0 to 64 each. Multiples of 1/16 for fine quads.
    position: vec3<f32>,
    // Direction from the middle of the quad along its width and its height: −1 or 1, and 0 along
    // the third axis.
    outward: vec3<f32>,
    // Voxels from the quad's low end along its width and its height.
    uv: vec2<f32>,
}

// Unit vector of axis 0, 1 or 2.
fn quad_axis(index: u32) -> vec3<f32> {
    return vec3<f32>(vec3<u32>(index) == vec3<u32>(0u, 1u, 2u));
}

// Face direction, 0 to 5: −X −Y −Z +X +Y +Z.
fn quad_face(quad: vec2<u32>) -> u32 {
    return quad.y & 7u;
}

// Axis that the quad is perpendicular to. The next axis is that of the width, the one after it that
// of the height.
fn quad_normal_axis(quad: vec2<u32>) -> u32 {
    return quad_face(quad) % 3u;
}

// Unit vector that points outwards.
fn quad_normal(quad: vec2<u32>) -> vec3<f32> {
    let axis = quad_axis(quad_normal_axis(quad));
    return select(-axis, axis, quad_face(quad) >= 3u);
}

// Whether the quad is fine: its cells are sixteenths of a voxel.
fn quad_is_fine(quad: vec2<u32>) -> bool {
    return (quad.y >> 31u) != 0u;
}

// Side of the quad's cells in voxels.
fn quad_cell(quad: vec2<u32>) -> f32 {
    return select(1.0, 0.0625, quad_is_fine(quad));
}

// Position of the lowest cell: 0 to 63 each, or to 1,023 for fine quads.
fn quad_position(quad: vec2<u32>) -> vec3<u32> {
    let low = vec3<u32>(quad.x, quad.x >> 6u, quad.x >> 12u) & vec3<u32>(63u);
    let blocks = vec3<u32>(quad.y >> 3u, quad.y >> 7u, quad.y >> 27u) & vec3<u32>(15u);
    return low + select(vec3<u32>(0u), blocks << vec3<u32>(6u), quad_is_fine(quad));
}

// Width and height in cells, 1 to 64.
fn quad_size(quad: vec2<u32>) -> vec2<u32> {
    return (vec2<u32>(quad.x >> 18u, quad.x >> 24u) & vec2<u32>(63u)) + vec2<u32>(1u);
}

// Index of the material.
fn quad_material(quad: vec2<u32>) -> u32 {
    return (quad.y >> 11u) & 0xffffu;
}

// Ambient occlusion of a corner, from 0 (open) to 3 (enclosed). Fine quads have none.
fn quad_occlusion(quad: vec2<u32>, corner: u32) -> u32 {
    return select((quad.y >> (3u + 2u * corner)) & 3u, 0u, quad_is_fine(quad));
}

// Which part of the edges at the ends of width and height ends the surface, in thirds: 0 (it continues
// flat) to 3. Fine quads are parts of shapes, which end there.
fn quad_steps(quad: vec2<u32>) -> vec2<u32> {
    let steps = vec2<u32>(quad.y >> 27u, quad.y >> 29u) & vec2<u32>(3u);
    return select(steps, vec2<u32>(3u), quad_is_fine(quad));
}

// Corner 0 to 3, in the order of the index pattern: `quad_corner(quads[vertex / 4u], vertex % 4u)`.
fn quad_corner(quad: vec2<u32>, corner: u32) -> QuadCorner {
    let is_positive = quad_face(quad) >= 3u;
    let normal_axis = quad_normal_axis(quad);
    let u = quad_axis((normal_axis + 1u) % 3u);
    let v = quad_axis((normal_axis + 2u) % 3u);
    // A negative face swaps its corners, so that one index pattern winds both outwards.
    let along_u = f32(select(corner >> 1u, corner & 1u, is_positive));
    let along_v = f32(select(corner & 1u, corner >> 1u, is_positive));
    let cell = quad_cell(quad);
    let size = vec2<f32>(quad_size(quad)) * cell;
    var out: QuadCorner;
    out.uv = vec2<f32>(along_u * size.x, along_v * size.y);
    out.position = vec3<f32>(quad_position(quad)) * cell + out.uv.x * u + out.uv.y * v
        + select(0.0, cell, is_positive) * quad_axis(normal_axis);
    out.outward = (along_u * 2.0 - 1.0) * u + (along_v * 2.0 - 1.0) * v;
    return out;
}
