// Quads and cubes with shadows. Appended to shader.wgsl, wire.wgsl and shadow.wgsl.

struct ShadowedCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(flat) kind: u32,
    @location(3) @interpolate(flat) bounds: u32,
    // The colour where the sun does not reach.
    @location(4) @interpolate(flat) unlit: vec3<f32>,
}

// Outward normal of a face direction.
fn face_normal(face: u32) -> vec3<f32> {
    return quad_axis(face % 3u) * select(-1.0, 1.0, face >= 3u);
}

fn shadowed_corner_of(words: vec2<u32>, number: u32, data: DrawData, seam: f32) -> ShadowedCorner {
    let lit = wired_corner(words, number, data, seam);
    var out: ShadowedCorner;
    out.position = lit.position;
    out.color = lit.color;
    out.relative = lit.relative;
    out.kind = lit.kind;
    out.bounds = lit.bounds;
    out.unlit = surface_color(words, data, false).rgb;
    return out;
}

@vertex
fn shadowed_opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadowedCorner {
    return shadowed_corner_of(quads[vertex / 4u], vertex % 4u, draws[slot], frame.seam);
}

@vertex
fn shadowed_blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadowedCorner {
    return shadowed_corner_of(quads[vertex / 4u], vertex % 4u, draws[slot], 0.0);
}

@vertex
fn shadowed_cube_vertex(@builtin(vertex_index) vertex: u32) -> ShadowedCorner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    var out = shadowed_corner_of(face.words, vertex % 4u, data, frame.seam);
    out.color = face_color(face.words, quad_face(face.words), data.level, true);
    out.unlit = face_color(face.words, quad_face(face.words), data.level, false).rgb;
    out.position = select(OUTSIDE, out.position, face.is_there);
    return out;
}

// The colour of a pixel with shadows, without ambient occlusion.
fn shadowed_color(in: ShadowedCorner) -> vec4<f32> {
    let share = sun_share(in.relative, face_normal(min(in.kind & 7u, 5u)));
    return vec4<f32>(in.unlit * (1.0 - share) + in.color.rgb * share, in.color.a);
}

@fragment
fn shadowed_fragment(in: ShadowedCorner) -> @location(0) vec4<f32> {
    let lit = shadowed_color(in);
    var light = 1.0;
    // Most quads have no ambient occlusion.
    if (in.kind & 0x7f8u) != 0u {
        light = occlusion_light(in.kind, in.relative);
    }
    return hazed(vec4<f32>(lit.rgb * light, lit.a), in.relative);
}

@fragment
fn shadowed_wired_fragment(in: ShadowedCorner) -> @location(0) vec4<f32> {
    let color = shadowed_color(in);
    return wired_color(WiredCorner(in.position, color, in.relative, in.kind, in.bounds));
}
