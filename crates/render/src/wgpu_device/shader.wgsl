// Draws quads from a storage buffer: 8 bytes each, four corners; or cubes of 8 bytes, three quads
// each. Appended to QUAD_WGSL of drystone-mesh, which decodes them. The software rasteriser
// (src/soft/) does the same arithmetic in the same order.

// The fields are explained in src/frame.rs.
struct Frame {
    clip_from_relative: mat4x4<f32>,
    camera_voxel: vec3<i32>,
    far_fade: f32,
    camera_fraction: vec3<f32>,
    occlusion_loss: f32,
    ray_forward: vec3<f32>,
    sun_disc_cos: f32,
    ray_right: vec3<f32>,
    haze_start: f32,
    ray_up: vec3<f32>,
    haze_rate: f32,
    zenith: vec3<f32>,
    haze_density: f32,
    horizon: vec3<f32>,
    seam: f32,
    ground: vec3<f32>,
    is_parallel: f32,
    sun_direction: vec3<f32>,
    wire_pixels: f32,
    sun: vec3<f32>,
    seam_stretch_max: f32,
    ambient: vec3<f32>,
    level_tint: f32,
    face_light: array<vec3<f32>, 6>,
    glow: vec3<f32>,
    unlit_light: f32,
}

struct DrawData {
    origin_x: i32,
    origin_y: i32,
    origin_z: i32,
    // A voxel of the mesh is 2^level units long.
    level: u32,
}

// The fields are explained in src/material_look.rs.
struct Material {
    faces: array<u32, 6>,
    emission: f32,
    // Offset of the record of its textures; 0 for none.
    record: u32,
}

// The highest level.
const MAX_LEVEL: u32 = 24u;

// See Frame::TINTS.
const TINT_RED: u32 = 0x7fe302ffu;
const TINT_GREEN: u32 = 0x4f36edc3u;
const TINT_BLUE: u32 = 0x1fefe303u;

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> materials: array<Material>;
@group(1) @binding(0) var<storage, read> quads: array<vec2<u32>>;
@group(1) @binding(1) var<storage, read> draws: array<DrawData>;

// Values that vary within a face are computed where a pixel's samples are covered (`centroid`):
// positions outside of the face would have the ambient occlusion of another voxel.
struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
}

struct ShadedCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
    @location(1) @interpolate(perspective, centroid) relative: vec3<f32>,
    @location(2) @interpolate(flat) kind: u32,
}

// The corner's position relative to the camera, before the seam is closed.
struct CornerPosition {
    relative: vec3<f32>,
    // Direction of the corner along u and v: −1 or 1.
    outward: vec3<f32>,
    normal: vec3<f32>,
}

// Side of the mesh's voxels in units.
fn voxel_scale(level: u32) -> f32 {
    return f32(1u << min(level, MAX_LEVEL));
}

fn corner_position(words: vec2<u32>, number: u32, data: DrawData) -> CornerPosition {
    let corner = quad_corner(words, number);
    let local = corner.position * voxel_scale(data.level);
    let origin = vec3<i32>(data.origin_x, data.origin_y, data.origin_z) - frame.camera_voxel;
    var out: CornerPosition;
    out.relative = (vec3<f32>(origin) + local) - frame.camera_fraction;
    out.normal = quad_axis(quad_normal_axis(words));
    out.outward = corner.outward;
    return out;
}

fn to_clip(relative: vec3<f32>) -> vec4<f32> {
    let m = frame.clip_from_relative;
    return m[0] * relative.x + m[1] * relative.y + m[2] * relative.z + m[3];
}

// Factor of a corner's move along each axis of its face, compared to a face seen straight on, so
// that the edge moves equally far in the picture. It is 1 / sin of the angle between the face and
// the plane through the camera and the edge that moves (see Frame::SEAM_PIXELS).
fn seam_stretch(at: CornerPosition) -> vec3<f32> {
    let sight = select(at.relative, frame.ray_forward, frame.is_parallel > 0.0);
    let squares = sight * sight;
    // A face seen edge-on is invisible: any number except zero is correct.
    let off_plane = max(dot(squares, at.normal), 1e-6);
    return min(sqrt(1.0 + squares / off_plane), vec3<f32>(frame.seam_stretch_max));
}

// The hue of a level; see Frame::TINTS.
fn level_tint(level: u32) -> vec3<f32> {
    let hues = vec3<u32>(TINT_RED, TINT_GREEN, TINT_BLUE) >> vec3<u32>((level & 7u) * 4u);
    return vec3<f32>(hues & vec3<u32>(15u)) / 15.0;
}

// Part of a material's colour that is drawn as it is.
fn emission(material: u32) -> f32 {
    if material < arrayLength(&materials) {
        return materials[material].emission;
    }
    return 0.0;
}

// Light on a face direction that the sun does not reach.
fn ambient_light(face: u32) -> vec3<f32> {
    let rise = select(0.0, 1.0, face == 4u) - select(0.0, 1.0, face == 1u);
    return frame.ambient * (0.74 + 0.26 * rise);
}

// Colours of a surface, in sunlight and without.
struct Colors {
    lit: vec4<f32>,
    unlit: vec3<f32>,
}

// Colours of a face direction of a quad's material.
fn face_colors(words: vec2<u32>, face: u32, level: u32) -> Colors {
    let material = quad_material(words);
    // Materials that are not in the table must be visible: magenta.
    var color = vec4<f32>(1.0, 0.0, 1.0, 1.0);
    var shine = 0.0;
    if material < arrayLength(&materials) {
        color = unpack4x8unorm(materials[material].faces[face]);
        shine = materials[material].emission;
    }
    let tinted = mix(color.rgb, level_tint(level), frame.level_tint);
    let lit = tinted * mix(frame.face_light[face], vec3<f32>(1.0), shine);
    let unlit = tinted * mix(ambient_light(face), vec3<f32>(1.0), shine);
    return Colors(vec4<f32>(min(lit, vec3<f32>(1.0)), color.a), min(unlit, vec3<f32>(1.0)));
}

// Units that a pixel spans at a position relative to the camera, on a face seen straight on. The
// seam moves edges by one part in 128.
fn pixel_units(relative: vec3<f32>) -> f32 {
    return frame.seam * 128.0 * to_clip(relative).w;
}

// How far the contrast of faces has faded where a pixel spans so many units: 0 to 1; see
// Frame::FADE_UNITS.
fn far_fade(pixel: f32) -> f32 {
    let t = clamp((pixel - 0.25) / 0.75, 0.0, 1.0);
    return frame.far_fade * (t * t * (3.0 - 2.0 * t));
}

// Position of a quad's middle relative to the camera.
fn quad_middle(words: vec2<u32>, data: DrawData) -> vec3<f32> {
    let axis = quad_normal_axis(words);
    let size = vec2<f32>(quad_size(words));
    let across = quad_axis((axis + 1u) % 3u) * size.x + quad_axis((axis + 2u) % 3u) * size.y;
    let rise = quad_axis(axis) * select(0.0, 1.0, quad_face(words) >= 3u);
    let scale = voxel_scale(data.level) * quad_cell(words);
    let local = (vec3<f32>(quad_position(words)) + 0.5 * across + rise) * scale;
    let origin = vec3<i32>(data.origin_x, data.origin_y, data.origin_z) - frame.camera_voxel;
    return (vec3<f32>(origin) + local) - frame.camera_fraction;
}

// A quad's colours.
fn quad_colors(words: vec2<u32>, data: DrawData) -> Colors {
    return face_colors(words, min(quad_face(words), 5u), data.level);
}

// A quad's colours as shaded surfaces show them. Far from the camera, the mean with the faces that
// meet the quad across its width and its height; see Frame::FADE_UNITS. All corners compute the same
// colours.
fn faded_colors(words: vec2<u32>, data: DrawData) -> Colors {
    let own = quad_colors(words, data);
    if frame.far_fade == 0.0 || own.lit.a < 1.0 {
        return own;
    }
    let middle = quad_middle(words, data);
    let pixel = pixel_units(middle);
    let fade = far_fade(pixel);
    if fade == 0.0 {
        return own;
    }
    let size = vec2<f32>(quad_size(words)) * quad_cell(words);
    let part_long = clamp((size * voxel_scale(data.level) / pixel - 3.0) / 5.0, vec2<f32>(0.0), vec2<f32>(1.0));
    let strength = fade * (1.0 - part_long * part_long * (3.0 - 2.0 * part_long));
    let normal_axis = quad_normal_axis(words);
    let u = (normal_axis + 1u) % 3u;
    let v = (normal_axis + 2u) % 3u;
    let sight = select(middle, frame.ray_forward, frame.is_parallel > 0.0);
    let areas = abs(sight);
    let steps = select(select(vec2<f32>(1.0), vec2<f32>(1.25), vec2<u32>(u, v) == vec2<u32>(1u)), vec2<f32>(0.75), normal_axis == 1u);
    let part = vec2<f32>(quad_steps(words)) / 3.0;
    let weights = strength * steps * part * vec2<f32>(areas[u], areas[v]) / size;
    let shares = weights / max(areas[normal_axis] + weights.x + weights.y, 1e-6);
    let beside_u = face_colors(words, u + select(0u, 3u, sight[u] < 0.0), data.level);
    let beside_v = face_colors(words, v + select(0u, 3u, sight[v] < 0.0), data.level);
    let own_share = 1.0 - shares.x - shares.y;
    let lit = own.lit * own_share + beside_u.lit * shares.x + beside_v.lit * shares.y;
    let unlit = own.unlit * own_share + beside_u.unlit * shares.x + beside_v.unlit * shares.y;
    return Colors(vec4<f32>(lit.rgb, own.lit.a), unlit);
}

fn corner(vertex: u32, slot: u32, seam: f32) -> Corner {
    let words = quads[vertex / 4u];
    let at = moved_corner(words, vertex % 4u, draws[slot], seam);
    return Corner(at.position, quad_colors(words, draws[slot]).lit, at.relative);
}

// A corner after the seam is closed.
struct MovedCorner {
    position: vec4<f32>,
    relative: vec3<f32>,
}

fn moved_corner(words: vec2<u32>, number: u32, data: DrawData, seam: f32) -> MovedCorner {
    let at = corner_position(words, number, data);
    let unmoved = to_clip(at.relative);
    let relative = at.relative + at.outward * seam_stretch(at) * (seam * unmoved.w);
    return MovedCorner(to_clip(relative), relative);
}

@vertex
fn opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> Corner {
    return corner(vertex, slot, frame.seam);
}

// Blended quads must not overlap their neighbours, because overlaps would show twice.
@vertex
fn blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> Corner {
    return corner(vertex, slot, 0.0);
}

// A quad's second word with the data that a pixel needs to find its position in the quad, except
// for whole voxels. It contains whether the quad lies at an odd position, counted in voxels of the
// mesh from the camera's voxel. It also contains whether the quad is longer than a voxel along its
// width and its height. The mesh's level and the material's emission replace the material.
fn pixel_kind(words: vec2<u32>, data: DrawData) -> u32 {
    let level = min(data.level, MAX_LEVEL);
    let origin = vec3<i32>(data.origin_x, data.origin_y, data.origin_z) >> vec3<u32>(level);
    let steps = origin - (frame.camera_voxel >> vec3<u32>(level));
    let odd = (quad_position(words) ^ vec3<u32>(steps)) & vec3<u32>(1u);
    let normal_axis = quad_normal_axis(words);
    let odd_u = odd[(normal_axis + 1u) % 3u];
    let odd_v = odd[(normal_axis + 2u) % 3u];
    let size = quad_size(words);
    let long_u = select(0u, 1u, size.x > 1u);
    let long_v = select(0u, 1u, size.y > 1u);
    let shines = u32(emission(quad_material(words)) * 255.0 + 0.5);
    // Fine quads have no ambient occlusion.
    let face_and_corners = words.y & select(0x7ffu, 7u, quad_is_fine(words));
    let own = face_and_corners | (level << 11u) | (shines << 16u);
    let parts = own | (odd_u << 27u) | (odd_v << 28u);
    return parts | (long_u << 29u) | (long_v << 30u);
}

fn shaded_corner(vertex: u32, slot: u32, seam: f32) -> ShadedCorner {
    let words = quads[vertex / 4u];
    let at = moved_corner(words, vertex % 4u, draws[slot], seam);
    let color = faded_colors(words, draws[slot]).lit;
    return ShadedCorner(at.position, color, at.relative, pixel_kind(words, draws[slot]));
}

@vertex
fn shaded_opaque_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadedCorner {
    return shaded_corner(vertex, slot, frame.seam);
}

@vertex
fn shaded_blended_vertex(
    @builtin(vertex_index) vertex: u32,
    @builtin(instance_index) slot: u32,
) -> ShadedCorner {
    return shaded_corner(vertex, slot, 0.0);
}

// For the axis of the vertex, the face of the cube that can point towards the camera, as a quad; or
// nothing if that face is hidden.
fn cube_face(vertex: u32, entry: vec2<u32>, data: DrawData) -> CubeFace {
    let normal_axis = vertex / 4u % 3u;
    let origin = vec3<i32>(data.origin_x, data.origin_y, data.origin_z) - frame.camera_voxel;
    let low = vec3<f32>(vec3<u32>(entry.x, entry.x >> 6u, entry.x >> 12u) & vec3<u32>(63u));
    let local = (low + vec3<f32>(0.5)) * voxel_scale(data.level);
    let middle = (vec3<f32>(origin) + local) - frame.camera_fraction;
    let sight = select(middle, frame.ray_forward, frame.is_parallel > 0.0);
    let face = normal_axis + select(0u, 3u, sight[normal_axis] < 0.0);
    let words = vec2<u32>(entry.x & 0x3ffffu, face | ((entry.y & 0xffffu) << 11u));
    return CubeFace(words, ((entry.x >> (18u + face)) & 1u) != 0u);
}

struct CubeFace {
    words: vec2<u32>,
    is_there: bool,
}

// Nearer than the near plane: no part of it is in the picture.
const OUTSIDE: vec4<f32> = vec4<f32>(0.0, 0.0, 2.0, 1.0);

fn cube_data(entry: vec2<u32>) -> DrawData {
    return draws[(entry.x >> 24u) | ((entry.y >> 16u) << 8u)];
}

@vertex
fn cube_vertex(@builtin(vertex_index) vertex: u32) -> Corner {
    let entry = quads[vertex / 12u];
    let data = cube_data(entry);
    let face = cube_face(vertex, entry, data);
    let at = moved_corner(face.words, vertex % 4u, data, frame.seam);
    // Cubes are not merged, so the length of a step is unknown: they do not fade.
    let color = quad_colors(face.words, data).lit;
    return Corner(select(OUTSIDE, at.position, face.is_there), color, at.relative);
}

// Colour of the sky in a direction of unit length, without the sun's disc. Haze fades to it.
fn sky(direction: vec3<f32>) -> vec3<f32> {
    let low = 1.0 - clamp(direction.y / 0.6, 0.0, 1.0);
    let low2 = low * low;
    let towards = max(dot(direction, frame.sun_direction), 0.0);
    let towards2 = towards * towards;
    let towards4 = towards2 * towards2;
    let towards16 = towards4 * towards4 * towards4 * towards4;
    let above = mix(frame.zenith, frame.horizon, low2) + frame.glow * (low2 * low2 * towards2);
    let deep = clamp(-direction.y / 0.25, 0.0, 1.0);
    let base = mix(above, frame.ground, deep * deep * (3.0 - 2.0 * deep));
    return base + frame.sun * (0.22 * towards16 * towards16);
}

// Darkness of a pixel, in levels of ambient occlusion, at a position relative to the camera's unit.
fn darkness(kind: u32, units: vec3<f32>) -> f32 {
    let normal_axis = (kind & 7u) % 3u;
    // In voxels of the mesh, relative to the camera's voxel.
    let level = (kind >> 11u) & 31u;
    let camera_within = frame.camera_voxel & vec3<i32>((1 << level) - 1);
    let at = (units + vec3<f32>(camera_within)) * bitcast<f32>((127u - level) << 23u);
    let on_face = vec2<f32>(at[(normal_axis + 1u) % 3u], at[(normal_axis + 2u) % 3u]);
    let from_low = on_face - vec2<f32>((vec2<u32>(kind) >> vec2<u32>(27u, 28u)) & vec2<u32>(1u));
    // In every other voxel: a position slightly below the quad must not count as its end.
    let sharp =
        clamp(from_low - 2.0 * floor(from_low * 0.5 + 0.25), vec2<f32>(0.0), vec2<f32>(1.0));
    // Far voxels have the mean of their corners.
    var within = sharp;
    if frame.far_fade != 0.0 {
        within = mix(sharp, vec2<f32>(0.5), far_fade(pixel_units(units - frame.camera_fraction)));
    }
    let levels = vec4<f32>((vec4<u32>(kind) >> vec4<u32>(3u, 5u, 7u, 9u)) & vec4<u32>(3u));
    // A negative face swaps the two middle corners. An edge longer than a voxel has the ambient
    // occlusion of its low end.
    let is_unit = vec2<f32>((vec2<u32>(~kind) >> vec2<u32>(29u, 30u)) & vec2<u32>(1u));
    let along = select(levels.zy, levels.yz, (kind & 7u) >= 3u) - levels.x;
    let both = (levels.w - levels.x - along.x - along.y) * (is_unit.x * is_unit.y);
    let rise = along * is_unit;
    return levels.x + rise.x * within.x + (rise.y + both * within.x) * within.y;
}

// Part of the light that ambient occlusion leaves at a position relative to the camera. The material's
// emission is not darkened.
fn occlusion_light(kind: u32, relative: vec3<f32>) -> f32 {
    let shaded = 1.0 - f32((kind >> 16u) & 255u) / 255.0;
    return 1.0 - darkness(kind, relative + frame.camera_fraction) * frame.occlusion_loss * shaded;
}

@fragment
fn surface_fragment(in: Corner) -> @location(0) vec4<f32> {
    return hazed(in.color, in.relative);
}

@fragment
fn shaded_fragment(in: ShadedCorner) -> @location(0) vec4<f32> {
    let light = occlusion_light(in.kind, in.relative);
    return hazed(vec4<f32>(in.color.rgb * light, in.color.a), in.relative);
}

// A colour as seen through haze.
fn hazed(lit: vec4<f32>, relative: vec3<f32>) -> vec4<f32> {
    let distance = length(relative);
    let t = clamp((distance - frame.haze_start) * frame.haze_rate, 0.0, 1.0);
    let haze = frame.haze_density * (t * t * (3.0 - 2.0 * t));
    let color = mix(lit.rgb, sky(relative / max(distance, 1e-6)), haze);
    return vec4<f32>(color, lit.a);
}

struct SkyCorner {
    @builtin(position) position: vec4<f32>,
    @location(0) ray: vec3<f32>,
}

// One triangle over the whole picture at the far plane.
@vertex
fn sky_vertex(@builtin(vertex_index) vertex: u32) -> SkyCorner {
    let x = select(-1.0, 3.0, vertex == 1u);
    let y = select(-1.0, 3.0, vertex == 2u);
    var out: SkyCorner;
    out.position = vec4<f32>(x, y, 0.0, 1.0);
    out.ray = frame.ray_forward + frame.ray_right * x + frame.ray_up * y;
    return out;
}

@fragment
fn sky_fragment(in: SkyCorner) -> @location(0) vec4<f32> {
    let direction = normalize(in.ray);
    let towards = dot(direction, frame.sun_direction);
    let rim = frame.sun_disc_cos;
    let disc = smoothstep(rim, mix(rim, 1.0, 0.25), towards);
    // A low sun gives little light, but its disc is bright, until it disappears.
    let strength = max(frame.sun.r, max(frame.sun.g, frame.sun.b)) / 0.05;
    let sun = frame.sun / (0.05 * max(strength, 1.0));
    return vec4<f32>(mix(sky(direction), sun, disc * min(strength, 1.0)), 1.0);
}
