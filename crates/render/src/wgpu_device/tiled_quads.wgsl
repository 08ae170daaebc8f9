// Quads and cubes with textures. Appended to shadowed_quads.wgsl and tiles.wgsl.

struct TiledCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(flat) details: vec4<u32>,
    // See quad_tile.
    @location(3) @interpolate(flat) tile: u32,
}

fn tiled_corner(words: vec2<u32>, plain: ShadowedCorner) -> TiledCorner {
    let tile = quad_tile(words);
    return TiledCorner(plain.position, plain.color, plain.relative, plain.details, tile);
}

@vertex
fn tiled_opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> TiledCorner {
    let words = quads[vertex / 4u];
    let colors = styled_colors(words, draws[slot]);
    let plain = shadowed_corner(words, vertex % 4u, draws[slot], frame.seam, colors);
    return tiled_corner(words, plain);
}

@vertex
fn tiled_blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> TiledCorner {
    let words = quads[vertex / 4u];
    let colors = styled_colors(words, draws[slot]);
    return tiled_corner(words, shadowed_corner(words, vertex % 4u, draws[slot], 0.0, colors));
}

@vertex
fn tiled_cube_vertex(@builtin(vertex_index) vertex: u32) -> TiledCorner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    let colors = quad_colors(face.words, data);
    let plain = shadowed_corner(face.words, vertex % 4u, data, frame.seam, colors);
    var out = tiled_corner(face.words, plain);
    out.position = select(OUTSIDE, out.position, face.is_there);
    return out;
}

@fragment
fn tiled_fragment(in: TiledCorner) -> @location(0) vec4<f32> {
    let plain = ShadowedCorner(in.position, in.color, in.relative, in.details);
    let texel = tile_color(in.tile, in.relative);
    let color = shadowed_color(plain);
    return finished_color(plain, vec4<f32>(color.rgb * texel, color.a));
}
