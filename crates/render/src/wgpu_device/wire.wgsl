// Lines along the edges of quads. Appended to shader.wgsl. The software rasteriser
// (src/soft/wire.rs) does the same arithmetic in the same order.

// Number of seam moves in a pixel; see Frame::SEAM_PIXELS.
const SEAM_PARTS: f32 = 128.0;

struct WiredCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(flat) kind: u32,
    @location(3) @interpolate(flat) bounds: u32,
}

// Position and size of a quad, in voxels of its mesh: its low ends along width and height, counted
// from the camera's voxel, modulo 128, and its lengths minus one. For a fine quad, those of the voxels
// that it touches.
fn quad_bounds(words: vec2<u32>, data: DrawData) -> u32 {
    let level = min(data.level, MAX_LEVEL);
    let origin = vec3<i32>(data.origin_x, data.origin_y, data.origin_z) >> vec3<u32>(level);
    let steps = origin - (frame.camera_voxel >> vec3<u32>(level));
    let shift = select(0u, 4u, quad_is_fine(words));
    let position = quad_position(words);
    let first = position >> vec3<u32>(shift);
    let low = (first + vec3<u32>(steps)) & vec3<u32>(127u);
    let normal_axis = quad_normal_axis(words);
    let u = (normal_axis + 1u) % 3u;
    let v = (normal_axis + 2u) % 3u;
    let ends = vec2<u32>(position[u], position[v]) + quad_size(words) - vec2<u32>(1u);
    let lengths = (ends >> vec2<u32>(shift)) - vec2<u32>(first[u], first[v]);
    return low[u] | (low[v] << 7u) | (lengths.x << 14u) | (lengths.y << 20u);
}

fn wired_corner(words: vec2<u32>, number: u32, data: DrawData, seam: f32) -> WiredCorner {
    let at = moved_corner(words, number, data, seam);
    let color = faded_colors(words, data).lit;
    let kind = pixel_kind(words, data);
    return WiredCorner(at.position, color, at.relative, kind, quad_bounds(words, data));
}

@vertex
fn wired_opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> WiredCorner {
    return wired_corner(quads[vertex / 4u], vertex % 4u, draws[slot], frame.seam);
}

@vertex
fn wired_blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> WiredCorner {
    return wired_corner(quads[vertex / 4u], vertex % 4u, draws[slot], 0.0);
}

@vertex
fn wired_cube_vertex(@builtin(vertex_index) vertex: u32) -> WiredCorner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    var out = wired_corner(face.words, vertex % 4u, data, frame.seam);
    out.color = quad_colors(face.words, data).lit;
    out.position = select(OUTSIDE, out.position, face.is_there);
    return out;
}

// Part of a pixel that is covered by the lines along its quad's edges.
fn wire(in: WiredCorner) -> f32 {
    let normal_axis = (in.kind & 7u) % 3u;
    let u = (normal_axis + 1u) % 3u;
    let v = (normal_axis + 2u) % 3u;
    // The same parity rule as in `darkness`.
    let level = (in.kind >> 11u) & 31u;
    let camera_within = frame.camera_voxel & vec3<i32>((1 << level) - 1);
    let per_unit = bitcast<f32>((127u - level) << 23u);
    let at = (in.relative + frame.camera_fraction + vec3<f32>(camera_within)) * per_unit;
    let low = vec2<f32>((vec2<u32>(in.bounds) >> vec2<u32>(0u, 7u)) & vec2<u32>(127u));
    let size = vec2<f32>((vec2<u32>(in.bounds) >> vec2<u32>(14u, 20u)) & vec2<u32>(63u)) + 1.0;
    let from_low = vec2<f32>(at[u], at[v]) - low;
    // A position slightly below the quad must not count as above it.
    let within = from_low - 128.0 * floor(from_low * 0.0078125 + 0.25);
    // Voxels that a pixel spans along width and height; see seam_stretch.
    let sight = select(in.relative, frame.ray_forward, frame.is_parallel > 0.0);
    let squares = sight * sight;
    let off_plane = max(squares[normal_axis], 1e-6);
    let stretch = min(sqrt(1.0 + vec2<f32>(squares[u], squares[v]) / off_plane), vec2<f32>(frame.seam_stretch_max));
    let pixel = stretch * (frame.seam * SEAM_PARTS * to_clip(in.relative).w * per_unit);
    let edges = min(within, size - within) / pixel;
    let line = clamp(frame.wire_pixels - min(edges.x, edges.y), 0.0, 1.0);
    // Fade lines of quads of few pixels, which would be covered by them.
    let sides = size / pixel;
    return 0.85 * line * clamp(min(sides.x, sides.y) * 0.125, 0.0, 1.0);
}

// Colour of a pixel with ambient occlusion, lines and haze.
fn wired_color(in: WiredCorner) -> vec4<f32> {
    let light = occlusion_light(in.kind, in.relative);
    let line = wire(in);
    let opacity = in.color.a + (1.0 - in.color.a) * line;
    return hazed(vec4<f32>(in.color.rgb * light * (1.0 - line), opacity), in.relative);
}

@fragment
fn wired_fragment(in: WiredCorner) -> @location(0) vec4<f32> {
    return wired_color(in);
}
