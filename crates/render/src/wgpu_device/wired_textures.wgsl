// Lines along the edges of triangles with textures. Appended to textures.wgsl and
// wired_triangles.wgsl.

struct WiredTexturedCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(perspective, centroid) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(perspective, centroid) normal: vec3<f32>,
    @location(3) @interpolate(perspective, centroid) uv: vec2<f32>,
    @location(4) @interpolate(perspective, center) center_uv: vec2<f32>,
    @location(5) @interpolate(flat) material: u32,
    @location(6) @interpolate(perspective, centroid) edges: vec3<f32>,
    @location(7) @interpolate(flat) least: f32,
}

@vertex
fn wired_textured_vertex(
    @builtin(vertex_index) number: u32,
    @builtin(instance_index) instance: u32,
) -> WiredTexturedCorner {
    let plain = wired_corner(number, wired_draws[instance]);
    let own = corner_of(plain.vertex, draws[wired_draws[instance].slot]);
    var out: WiredTexturedCorner;
    out.position = plain.corner.position;
    out.color = own.color;
    out.relative = plain.corner.relative;
    out.normal = plain.corner.normal;
    out.uv = own.uv;
    out.center_uv = own.uv;
    out.material = own.material;
    out.edges = plain.edges;
    out.least = plain.least;
    return out;
}

@fragment
fn wired_textured_fragment(
    in: WiredTexturedCorner,
    @builtin(front_facing) is_front: bool,
) -> @location(0) vec4<f32> {
    let lit =
        lit_surface(in.material, in.color, in.relative, in.normal, is_front, in.uv, in.center_uv);
    return hazed(under_line(lit, in.edges, in.least, in.relative), in.relative);
}
