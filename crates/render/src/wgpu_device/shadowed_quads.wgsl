// Quads and cubes with shadows, sky light or textures. Appended to shader.wgsl, wire.wgsl and the
// functions for reading maps.

// Work that pixels need: QuadStyle in src/frame.rs, as a number. Each pipeline has one.
override quad_style: u32 = 0u;
const SHADED: u32 = 1u;
const WIRED: u32 = 2u;

struct ShadowedCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    // The colour where the sun does not reach and the emission, in 16 bits each; then kind and bounds,
    // which are those of WiredCorner as far as the style needs them. Software drivers copy each location of
    // each corner, so there is only one.
    @location(2) @interpolate(flat) details: vec4<u32>,
}

// A quad's colours in the pipeline's style.
fn styled_colors(words: vec2<u32>, data: DrawData) -> Colors {
    if quad_style >= SHADED {
        return faded_colors(words, data);
    }
    return quad_colors(words, data);
}

// Outward normal of a face direction.
fn face_normal(face: u32) -> vec3<f32> {
    return quad_axis(face % 3u) * select(-1.0, 1.0, face >= 3u);
}

fn shadowed_corner(
    words: vec2<u32>,
    number: u32,
    data: DrawData,
    seam: f32,
    colors: Colors,
) -> ShadowedCorner {
    let at = moved_corner(words, number, data, seam);
    var kind = words.y & 7u;
    if quad_style >= SHADED {
        kind = pixel_kind(words, data);
    }
    var bounds = 0u;
    if quad_style == WIRED {
        bounds = quad_bounds(words, data);
    }
    let blue_and_shine = vec2<f32>(colors.unlit.b, sky_emission(quad_material(words)));
    let unlit = vec2<u32>(pack2x16unorm(colors.unlit.rg), pack2x16unorm(blue_and_shine));
    return ShadowedCorner(at.position, colors.lit, at.relative, vec4<u32>(unlit, kind, bounds));
}

@vertex
fn shadowed_opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadowedCorner {
    let words = quads[vertex / 4u];
    let colors = styled_colors(words, draws[slot]);
    return shadowed_corner(words, vertex % 4u, draws[slot], frame.seam, colors);
}

@vertex
fn shadowed_blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadowedCorner {
    let words = quads[vertex / 4u];
    let colors = styled_colors(words, draws[slot]);
    return shadowed_corner(words, vertex % 4u, draws[slot], 0.0, colors);
}

@vertex
fn shadowed_cube_vertex(@builtin(vertex_index) vertex: u32) -> ShadowedCorner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    let colors = quad_colors(face.words, data);
    var out = shadowed_corner(face.words, vertex % 4u, data, frame.seam, colors);
    out.position = select(OUTSIDE, out.position, face.is_there);
    return out;
}

// Colour of a pixel in light, without ambient occlusion.
fn shadowed_color(in: ShadowedCorner) -> vec4<f32> {
    let kind = in.details.z;
    let normal = face_normal(min(kind & 7u, 5u));
    let share = sun_share(in.relative, normal);
    let blue_and_shine = unpack2x16unorm(in.details.y);
    let unlit = vec3<f32>(unpack2x16unorm(in.details.x), blue_and_shine.x);
    let lit = unlit * (1.0 - share) + in.color.rgb * share;
    let seen = under_sky(lit, unlit, blue_and_shine.y, in.relative, normal);
    return vec4<f32>(seen, in.color.a);
}

// Colour of a pixel with ambient occlusion, lines and haze.
fn finished_color(in: ShadowedCorner, color: vec4<f32>) -> vec4<f32> {
    let kind = in.details.z;
    if quad_style == WIRED {
        return wired_color(WiredCorner(in.position, color, in.relative, kind, in.details.w));
    }
    var light = 1.0;
    // Most quads have no ambient occlusion.
    if quad_style == SHADED && (kind & 0x7f8u) != 0u {
        light = occlusion_light(kind, in.relative);
    }
    return hazed(vec4<f32>(color.rgb * light, color.a), in.relative);
}

@fragment
fn shadowed_fragment(in: ShadowedCorner) -> @location(0) vec4<f32> {
    return finished_color(in, shadowed_color(in));
}
