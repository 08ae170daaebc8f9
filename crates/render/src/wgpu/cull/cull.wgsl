// Culls meshes and writes the commands that draw the visible ones. The arithmetic is that of
// visibility.rs; cull/twin.rs has a copy of all of it.
//
// No branch depends on uniforms alone: Mesa's lavapipe would insert their values into the shader
// and compile it again in every frame, which takes 0.4 s. Therefore conditions use `select`, `&`
// and `|`, which are no branches.

// Number of meshes that one workgroup processes.
const LANES: u32 = 64u;
// Steps of distance by which commands are sorted, nearest first.
const BINS: u32 = 16u;
const FACE_COUNT: u32 = 6u;
const VERTICES_PER_QUAD: u32 = 4u;
const INDICES_PER_QUAD: u32 = 6u;
// The highest level of detail.
const MAX_LEVEL: u32 = 24u;
// Maximum number of quads in one command.
const PATTERN_QUADS: u32 = 98304u;

const MASK_FACINGS: i32 = 1;
const CULL_FRUSTUM: i32 = 2;
const PARALLEL: i32 = 4;
const PARALLEL_SHIFT: u32 = 8u;

// Tolerance for rounding of a position, per voxel of distance.
const SLACK: f32 = 1e-3;
// Maximum error of the interpolated depth of faces seen nearly edge-on, in voxels of the mesh:
// larger voxels have larger faces.
const SLIVER_VOXELS: f32 = 0.25;
// A mesh with a corner nearer to the camera's plane than this is not tested for occlusion.
const LEAST_W: f32 = 1e-3;
// Maximum reach of a rasterised mesh beyond its box's outline, in pixels.
const GUARD_PIXELS: f32 = 1.0;

struct CullFrame {
    clip_from_relative: mat4x4<f32>,
    planes: array<vec4<f32>, 6>,
    reaches: array<vec4<f32>, 6>,   // x: a unit box's reach, y: slack
    camera_voxel: vec3<i32>,
    flags: i32,
    camera_fraction: vec3<f32>,
    seam: f32,                      // voxels per clip w
    bins_per_octave: f32,
    bins_per_depth: f32,
    first_bin: f32,
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
    // 1 if every command is issued: unused ones must draw nothing then.
    clear_rest: u32,
}

struct Record {
    origin: array<i32, 3>,
    level: u32,
    extent: u32,
    first_quad: u32,
    slot: u32,
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
    quads: atomic<u32>,
    unused: u32,
}

@group(0) @binding(0) var<uniform> frame: CullFrame;
@group(0) @binding(1) var<uniform> levels: Levels;
@group(0) @binding(2) var<storage, read> pyramid: array<f32>;

@group(1) @binding(0) var<uniform> region: Region;
@group(1) @binding(1) var<storage, read> records: array<Record>;
// Whether a mesh was visible at the end of the last frame.
@group(1) @binding(2) var<storage, read_write> seen: array<u32>;
// Bits 0–5: face directions to draw, from 8: bin, from 16: commands.
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
        difference(records[index].origin[0], frame.camera_voxel.x),
        difference(records[index].origin[1], frame.camera_voxel.y),
        difference(records[index].origin[2], frame.camera_voxel.z),
    );
    return low - frame.camera_fraction;
}

// A number that grows with the distance of everything in the box, for tolerances.
fn reach(low: vec3<f32>, extent: f32) -> f32 {
    let size = abs(low);
    return 1.0 + max(size.x, max(size.y, size.z)) + extent;
}

fn in_view(low: vec3<f32>, extent: f32) -> bool {
    let distance = reach(low, extent);
    for (var n = 0u; n < 6u; n++) {
        let plane = frame.planes[n];
        let reaches = frame.reaches[n];
        let along = plane.x * low.x + plane.y * low.y + plane.z * low.z;
        if along + extent * reaches.x + plane.w < -reaches.y * distance {
            return false;
        }
    }
    return true;
}

// Face directions along one axis that can point towards the camera: bit 0 negative, 3 positive.
fn axis_faces(low: i32, camera: i32, extent: u32) -> u32 {
    let between = apart(low, camera);
    let below = extent > 0u || between > 1u;
    let within = extent > 1u && between < extent - 1u;
    let negative = select(within, below, camera < low);
    return u32(negative) | (u32(camera > low) << 3u);
}

fn visible_faces(index: u32) -> u32 {
    let flags = frame.flags;
    let extent = records[index].extent;
    let towards_camera = axis_faces(records[index].origin[0], frame.camera_voxel.x, extent)
        | (axis_faces(records[index].origin[1], frame.camera_voxel.y, extent) << 1u)
        | (axis_faces(records[index].origin[2], frame.camera_voxel.z, extent) << 2u);
    let parallel = (u32(flags) >> PARALLEL_SHIFT) & 63u;
    let faces = select(towards_camera, parallel, (flags & PARALLEL) != 0);
    return select(63u, faces, (flags & MASK_FACINGS) != 0);
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

// Face directions of a mesh that may be visible; none if the mesh is outside the view.
fn visible_parts(index: u32) -> u32 {
    let culls = (frame.flags & CULL_FRUSTUM) != 0;
    let is_out = culls & !in_view(relative(index), f32(records[index].extent));
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

// `scale`: side of the mesh's voxels in units.
fn outline(low: vec3<f32>, extent: f32, scale: f32) -> Outline {
    let m = frame.clip_from_relative;
    let row_w = vec4<f32>(m[0].w, m[1].w, m[2].w, m[3].w);
    let middle_w = dot(row_w, vec4<f32>(low + extent * 0.5, 1.0));
    let farthest_w = middle_w + 0.5 * extent * dot(abs(row_w.xyz), vec3<f32>(1.0));
    // All faces of the mesh lie within the box extended by this margin.
    let seam = frame.seam * max(farthest_w, 0.0);
    let margin = SLIVER_VOXELS * scale + SLACK * reach(low, extent) + seam;
    let corner = m * vec4<f32>(low - margin, 1.0);
    let side = extent + 2.0 * margin;
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
    let scale = f32(1u << min(records[index].level, MAX_LEVEL));
    let out = outline(relative(index), f32(records[index].extent), scale);
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

fn bin_of(index: u32) -> u32 {
    let middle = relative(index) + f32(records[index].extent) * 0.5;
    let m = frame.clip_from_relative;
    let clip = m[0] * middle.x + m[1] * middle.y + m[2] * middle.z + m[3];
    let bin = frame.bins_per_octave * log2(max(clip.w, 1e-3)) + frame.bins_per_depth * clip.z + frame.first_bin;
    return u32(clamp(bin, 0.0, f32(BINS - 1u)));
}

// A run of quads that one command could draw if the pattern were long enough.
struct Run {
    first: u32,
    end: u32,
    // The visible face directions after it.
    rest: u32,
}

// The first run of `visible` face directions. It ends before the next hidden one; face directions
// without quads are neither.
fn next_run(index: u32, visible: u32, hidden: u32) -> Run {
    let part = firstTrailingBit(visible);
    let stop = firstTrailingBit((hidden | (1u << FACE_COUNT)) & (0xffffffffu << part));
    let end = records[index].ends[stop - 1u];
    return Run(part_start(index, part), end, visible & (0xffffffffu << stop));
}

struct Tally {
    commands: u32,
    quads: u32,
}

fn tally(index: u32, parts: u32) -> Tally {
    let hidden = filled_parts(index) & ~parts;
    var out = Tally(0u, 0u);
    var visible = parts;
    while visible != 0u {
        let run = next_run(index, visible, hidden);
        out.quads += run.end - run.first;
        out.commands += (run.end - run.first + PATTERN_QUADS - 1u) / PATTERN_QUADS;
        visible = run.rest;
    }
    return out;
}

// Commands and bin of each mesh of this workgroup: bin << 16 | commands.
var<workgroup> lane_commands: array<u32, 64>;
var<workgroup> lane_quads: array<u32, 64>;

fn commands_of(lane: u32) -> u32 {
    return lane_commands[lane] & 0xffffu;
}

// Stores the face directions of a mesh that one of the lists draws, and adds up its commands,
// meshes and quads.
fn note(index: u32, lane: u32, workgroup: u32, parts: u32, list: u32) {
    var bin = 0u;
    var drawn = Tally(0u, 0u);
    if parts != 0u {
        bin = bin_of(index);
        drawn = tally(index, parts);
    }
    if index < region.records {
        verdicts[index] = (drawn.commands << 16u) | (bin << 8u) | parts;
    }
    lane_commands[lane] = (bin << 16u) | drawn.commands;
    lane_quads[lane] = drawn.quads;
    workgroupBarrier();
    if lane < BINS {
        var count = 0u;
        for (var other = 0u; other < LANES; other++) {
            count += select(0u, commands_of(other), (lane_commands[other] >> 16u) == lane);
        }
        counters[lane * region.workgroups + workgroup] = count;
    } else if lane == BINS {
        var meshes = 0u;
        var quads = 0u;
        for (var other = 0u; other < LANES; other++) {
            meshes += u32(commands_of(other) != 0u);
            quads += lane_quads[other];
        }
        atomicAdd(&totals[list].meshes, meshes);
        atomicAdd(&totals[list].quads, quads);
    }
}

// The first list: meshes that were visible at the end of the last frame and are in view.
@compute @workgroup_size(64)
fn judge_known(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    var parts = 0u;
    if id.x < region.records && seen[id.x] != 0u {
        parts = visible_parts(id.x);
    }
    note(id.x, lane, workgroup.x, parts, 0u);
}

// The second list: meshes that have come into view, tested against the depth of the first list.
// Meshes of the first list are tested too, for the next frame.
@compute @workgroup_size(64)
fn judge_new(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    var parts = 0u;
    if id.x < region.records {
        parts = visible_parts(id.x);
        if parts != 0u && is_hidden(id.x) {
            parts = 0u;
        }
        let is_seen = u32(parts != 0u);
        if seen[id.x] != 0u {
            parts = 0u;
        }
        seen[id.x] = is_seen;
    }
    note(id.x, lane, workgroup.x, parts, 1u);
}

const SCAN_LANES: u32 = 256u;
var<workgroup> scan_sums: array<u32, 256>;

// Converts counts to offsets: each becomes the sum of all counts before it. One workgroup. Each
// lane sums a range, and the lanes' sums are added up in doubling steps.
fn scan(lane: u32) -> u32 {
    let count = region.workgroups * BINS;
    let stretch = (count + SCAN_LANES - 1u) / SCAN_LANES;
    let first = min(lane * stretch, count);
    let end = min(first + stretch, count);
    var sum = 0u;
    for (var n = first; n < end; n++) {
        sum += counters[n];
    }
    scan_sums[lane] = sum;
    workgroupBarrier();
    for (var step = 1u; step < SCAN_LANES; step *= 2u) {
        let before = select(0u, scan_sums[max(lane, step) - step], lane >= step);
        workgroupBarrier();
        scan_sums[lane] += before;
        workgroupBarrier();
    }
    var next = scan_sums[lane] - sum;
    for (var n = first; n < end; n++) {
        let commands_here = counters[n];
        counters[n] = next;
        next += commands_here;
    }
    return scan_sums[SCAN_LANES - 1u];
}

@compute @workgroup_size(256)
fn scan_known(@builtin(local_invocation_index) lane: u32) {
    let total = scan(lane);
    if lane == 0u {
        totals[0].commands = total;
    }
}

@compute @workgroup_size(256)
fn scan_new(@builtin(local_invocation_index) lane: u32) {
    let total = scan(lane);
    if lane == 0u {
        totals[1].commands = total;
    }
}

// Writes the commands of one mesh, starting at `first_command`.
fn write_commands(index: u32, parts: u32, first_command: u32) {
    let hidden = filled_parts(index) & ~parts;
    var next = first_command;
    var visible = parts;
    while visible != 0u {
        let run = next_run(index, visible, hidden);
        var first = run.first;
        while first < run.end && next < region.capacity {
            let count = min(run.end - first, PATTERN_QUADS);
            let base_vertex = (records[index].first_quad + first) * VERTICES_PER_QUAD;
            commands[next] =
                Command(count * INDICES_PER_QUAD, 1u, 0u, base_vertex, records[index].slot);
            first += count;
            next++;
        }
        visible = run.rest;
    }
}

fn emit(index: u32, lane: u32, workgroup: u32, total: u32) {
    var verdict = 0u;
    if index < region.records {
        verdict = verdicts[index];
    }
    let bin = (verdict >> 8u) & 0xffu;
    lane_commands[lane] = (bin << 16u) | (verdict >> 16u);
    workgroupBarrier();
    if (verdict >> 16u) != 0u {
        var next = counters[bin * region.workgroups + workgroup];
        for (var other = 0u; other < lane; other++) {
            next += select(0u, commands_of(other), (lane_commands[other] >> 16u) == bin);
        }
        write_commands(index, verdict & 63u, next);
    }
    let lanes = region.workgroups * LANES;
    let rest = select(region.capacity, total + index, region.clear_rest != 0u);
    for (var next = rest; next < region.capacity; next += lanes) {
        commands[next] = Command(0u, 0u, 0u, 0u, 0u);
    }
}

@compute @workgroup_size(64)
fn emit_known(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    emit(id.x, lane, workgroup.x, totals[0].commands);
}

@compute @workgroup_size(64)
fn emit_new(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    emit(id.x, lane, workgroup.x, totals[1].commands);
}
