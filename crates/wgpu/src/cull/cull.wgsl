// Decides which meshes are visible; commands.wgsl, which follows in the same module, writes the
// commands that draw them. view.rs has the arithmetic of visible_parts, tests/twin.rs the rest.
//
// No branch depends on uniforms alone: Mesa's lavapipe would insert their values into the shader
// and compile it again in every frame, which takes 0.4 s. Therefore conditions use `select`, `&`
// and `|`, which are no branches.

const FACE_COUNT: u32 = 6u;

const MASK_BACK_FACES: i32 = 1;
const CULL_FRUSTUM: i32 = 2;
const PARALLEL: i32 = 4;
const PARALLEL_SHIFT: u32 = 8u;

// Tolerance for rounding of a position, per voxel of distance.
const SLACK: f32 = 1e-3;
// A mesh with a corner nearer to the camera's plane than this is not tested for occlusion.
const LEAST_W: f32 = 1e-3;
// Maximum reach of a rasterised mesh beyond its box's outline, in pixels.
const GUARD_PIXELS: f32 = 1.0;

struct CullView {
    clip_from_relative: mat4x4<f32>,
    planes: array<vec4<f32>, 6>,
    reaches: array<vec4<f32>, 6>,   // x: a unit box's reach, y: slack
    camera_voxel: vec3<i32>,
    flags: i32,
    camera_fraction: vec3<f32>,
    seam: f32,                      // units per clip w
    bins_per_octave: f32,
    bins_per_depth: f32,
    first_bin: f32,
    // 1 if every command is issued: unused ones must draw nothing then.
    clear_rest: u32,
}

struct Levels {
    picture: vec4<u32>,             // width, height, levels
    levels: array<vec4<u32>, 16>,   // first texel, width, height
}

struct Region {
    records: u32,
    workgroups: u32,
    // Capacity of the command buffer.
    capacity: u32,
    // Maximum number of elements in one command.
    pattern_elements: u32,
    indices_per_element: u32,
    vertices_per_element: u32,
}

struct Record {
    // The lowest corner of the box is origin + low.
    origin: array<i32, 3>,
    low: array<f32, 3>,
    size: array<f32, 3>,
    // Maximum reach of interpolated depths in front of the box.
    margin: f32,
    first_element: u32,
    slot: u32,
    // Parts that are drawn for any position of the camera.
    always: u32,
    ends: array<u32, 6>,
}

struct Command {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: u32,
    first_instance: u32,
}

// Results of one of the two lists.
struct Totals {
    commands: u32,
    meshes: atomic<u32>,
    elements: atomic<u32>,
    unused: u32,
}

@group(0) @binding(0) var<uniform> view: CullView;
@group(0) @binding(1) var<uniform> levels: Levels;
@group(0) @binding(2) var<storage, read> pyramid: array<f32>;

@group(1) @binding(0) var<uniform> region: Region;
@group(1) @binding(1) var<storage, read> records: array<Record>;
// Whether a mesh was visible at the end of the last view.
@group(1) @binding(2) var<storage, read_write> seen: array<u32>;
// Bits 0–5: parts to draw, from 8: bin, from 16: commands.
@group(1) @binding(3) var<storage, read_write> verdicts: array<u32>;
// Number of commands by bin and workgroup; later the offset of each bin of each workgroup.
@group(1) @binding(4) var<storage, read_write> counters: array<u32>;
@group(1) @binding(5) var<storage, read_write> totals: array<Totals, 2>;
@group(1) @binding(6) var<storage, read_write> commands: array<Command>;

// Difference of two coordinates without overflow: it can need 33 bits.
fn difference(low: i32, camera: i32) -> f32 {
    let is_above = low >= camera;
    let size = f32(apart(low, camera));
    return select(-size, size, is_above);
}

fn apart(low: i32, camera: i32) -> u32 {
    let above = bitcast<u32>(low) - bitcast<u32>(camera);
    return select(0u - above, above, low >= camera);
}

fn relative(index: u32) -> vec3<f32> {
    let low = vec3<f32>(
        difference(records[index].origin[0], view.camera_voxel.x),
        difference(records[index].origin[1], view.camera_voxel.y),
        difference(records[index].origin[2], view.camera_voxel.z),
    );
    let own = vec3<f32>(records[index].low[0], records[index].low[1], records[index].low[2]);
    return (low - view.camera_fraction) + own;
}

fn size_of(index: u32) -> vec3<f32> {
    return vec3<f32>(records[index].size[0], records[index].size[1], records[index].size[2]);
}

fn longest(size: vec3<f32>) -> f32 {
    return max(size.x, max(size.y, size.z));
}

// A number that grows with the distance of everything in the box, for tolerances.
fn reach(low: vec3<f32>, extent: f32) -> f32 {
    return 1.0 + longest(abs(low)) + extent;
}

fn in_view(low: vec3<f32>, size: vec3<f32>) -> bool {
    let extent = longest(size);
    let distance = reach(low, extent);
    // The box is the cube of its longest side, less this.
    let short = extent - size;
    for (var n = 0u; n < 6u; n++) {
        let plane = view.planes[n];
        let reaches = view.reaches[n];
        let along = plane.x * low.x + plane.y * low.y + plane.z * low.z;
        let normal = max(plane.xyz, vec3<f32>(0.0));
        let missing = normal.x * short.x + normal.y * short.y + normal.z * short.z;
        if along + extent * reaches.x + plane.w - missing < -reaches.y * distance {
            return false;
        }
    }
    return true;
}

// Face directions along one axis that can point towards the camera: bit 0 negative, 3 positive.
fn axis_faces(low: i32, camera: i32, extent: u32) -> u32 {
    let is_negative_seen = camera < low || apart(low, camera) < extent;
    return u32(is_negative_seen) | (u32(camera >= low) << 3u);
}

fn visible_faces(index: u32) -> u32 {
    let flags = view.flags;
    let size = vec3<u32>(size_of(index));
    let towards_camera = axis_faces(records[index].origin[0], view.camera_voxel.x, size.x)
        | (axis_faces(records[index].origin[1], view.camera_voxel.y, size.y) << 1u)
        | (axis_faces(records[index].origin[2], view.camera_voxel.z, size.z) << 2u);
    let parallel = (u32(flags) >> PARALLEL_SHIFT) & 63u;
    let faces = select(towards_camera, parallel, (flags & PARALLEL) != 0);
    return select(63u, faces, (flags & MASK_BACK_FACES) != 0) | records[index].always;
}

fn part_start(index: u32, part: u32) -> u32 {
    return select(records[index].ends[max(part, 1u) - 1u], 0u, part == 0u);
}

fn filled_parts(index: u32) -> u32 {
    var bits = 0u;
    for (var part = 0u; part < FACE_COUNT; part++) {
        bits |= u32(records[index].ends[part] > part_start(index, part)) << part;
    }
    return bits;
}

// Parts of a mesh that may be visible; none if the mesh is outside the view.
fn visible_parts(index: u32) -> u32 {
    let culls = (view.flags & CULL_FRUSTUM) != 0;
    let is_out = culls & !in_view(relative(index), size_of(index));
    return select(visible_faces(index) & filled_parts(index), 0u, is_out);
}

// A box in the picture: its outline in ndc and its nearest depth.
struct Outline {
    least: vec2<f32>,
    most: vec2<f32>,
    nearest: f32,
    // Whether the whole box is in front of the camera.
    is_whole: bool,
}

fn outline(low: vec3<f32>, size: vec3<f32>, own_margin: f32) -> Outline {
    let m = view.clip_from_relative;
    let row_w = vec4<f32>(m[0].w, m[1].w, m[2].w, m[3].w);
    let middle_w = dot(row_w, vec4<f32>(low + size * 0.5, 1.0));
    let farthest_w = middle_w + 0.5 * dot(abs(row_w.xyz), size);
    // All faces of the mesh lie within the box extended by this margin.
    let seam = view.seam * max(farthest_w, 0.0);
    let margin = own_margin + SLACK * reach(low, longest(size)) + seam;
    let corner = m * vec4<f32>(low - margin, 1.0);
    let side = size + 2.0 * margin;
    var out: Outline;
    out.least = vec2<f32>(1e30);
    out.most = vec2<f32>(-1e30);
    out.nearest = -1e30;
    out.is_whole = true;
    for (var bits = 0u; bits < 8u; bits++) {
        let on = vec3<f32>((vec3<u32>(bits) >> vec3<u32>(0u, 1u, 2u)) & vec3<u32>(1u)) * side;
        let clip = corner + m[0] * on.x + m[1] * on.y + m[2] * on.z;
        out.is_whole = out.is_whole && clip.w >= LEAST_W;
        let ndc = clip.xyz / max(clip.w, LEAST_W);
        out.least = min(out.least, ndc.xy);
        out.most = max(out.most, ndc.xy);
        out.nearest = max(out.nearest, ndc.z);
    }
    return out;
}

// Whether every depth in the rectangle of pixels, corners included, is nearer than `nearest`.
fn covers(low: vec2<u32>, high: vec2<u32>, nearest: f32) -> bool {
    var shift = 1u;
    loop {
        let span = (high >> vec2<u32>(shift)) - (low >> vec2<u32>(shift));
        if (shift >= levels.picture.z) | ((span.x <= 3u) & (span.y <= 3u)) {
            break;
        }
        shift++;
    }
    let level = levels.levels[shift - 1u];
    let first = low >> vec2<u32>(shift);
    let last = high >> vec2<u32>(shift);
    for (var y = first.y; y <= last.y; y++) {
        for (var x = first.x; x <= last.x; x++) {
            if pyramid[level.x + y * level.y + x] <= nearest {
                return false;
            }
        }
    }
    return true;
}

// Whether all visible parts of a mesh are hidden behind the depths of the pyramid.
fn is_hidden(index: u32) -> bool {
    let out = outline(relative(index), size_of(index), records[index].margin);
    if !out.is_whole {
        return false;
    }
    let size = vec2<f32>(levels.picture.xy);
    let least = vec2<f32>(out.least.x, -out.most.y);
    let most = vec2<f32>(out.most.x, -out.least.y);
    let low = floor((least * 0.5 + 0.5) * size - GUARD_PIXELS);
    let high = floor((most * 0.5 + 0.5) * size + GUARD_PIXELS);
    if any(high < vec2<f32>(0.0)) || any(low >= size) {
        return false;
    }
    let from_pixel = vec2<u32>(max(low, vec2<f32>(0.0)));
    let to_pixel = vec2<u32>(min(high, size - 1.0));
    return covers(from_pixel, to_pixel, out.nearest);
}
