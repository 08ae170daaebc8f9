// Quads and cubes with holes in shadow maps. Appended to tiles.wgsl.

struct CasterCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) relative: vec3<f32>,
    // See quad_tile.
    @location(1) @interpolate(flat) tile: u32,
}

fn caster_corner(words: vec2<u32>, number: u32, data: DrawData) -> CasterCorner {
    let at = moved_corner(words, number, data, frame.seam);
    return CasterCorner(at.position, at.relative, quad_tile(words));
}

@vertex
fn cut_out_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> CasterCorner {
    return caster_corner(quads[vertex / 4u], vertex % 4u, draws[slot]);
}

@vertex
fn cut_out_cube_vertex(@builtin(vertex_index) vertex: u32) -> CasterCorner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    var out = caster_corner(face.words, vertex % 4u, data);
    out.position = select(OUTSIDE, out.position, face.is_there);
    return out;
}

// A map is a picture from the light, so the rule for its holes is that of pictures: the size of its texels
// selects the mipmap, and holes of small texels are closed.
@fragment
fn cut_out_fragment(in: CasterCorner) {
    if has_holes(in.tile) {
        _ = tile_color(in.tile, in.relative);
    }
}
