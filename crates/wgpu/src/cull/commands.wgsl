// Writes the commands that draw the visible meshes, near ones first, in three stages: judge each
// mesh, scan the numbers of commands, emit the commands. It follows cull.wgsl in the same module.

// Number of meshes that one workgroup processes.
const LANES: u32 = 64u;
// Steps of distance by which commands are sorted, nearest first.
const BINS: u32 = 16u;

fn bin_of(index: u32) -> u32 {
    let middle = relative(index) + size_of(index) * 0.5;
    let m = view.clip_from_relative;
    let clip = m[0] * middle.x + m[1] * middle.y + m[2] * middle.z + m[3];
    let bin = view.bins_per_octave * log2(max(clip.w, 1e-3)) + view.bins_per_depth * clip.z + view.first_bin;
    return u32(clamp(bin, 0.0, f32(BINS - 1u)));
}

// A run of elements that one command could draw if the pattern were long enough.
struct Run {
    first: u32,
    end: u32,
    // The visible parts after it.
    rest: u32,
}

// The first run of `visible` parts. It ends before the next hidden one; parts without elements are
// neither.
fn next_run(index: u32, visible: u32, hidden: u32) -> Run {
    let part = firstTrailingBit(visible);
    let stop = firstTrailingBit((hidden | (1u << FACE_COUNT)) & (0xffffffffu << part));
    let end = records[index].ends[stop - 1u];
    return Run(part_start(index, part), end, visible & (0xffffffffu << stop));
}

struct Tally {
    commands: u32,
    elements: u32,
}

fn tally(index: u32, parts: u32) -> Tally {
    let hidden = filled_parts(index) & ~parts;
    var out = Tally(0u, 0u);
    var visible = parts;
    while visible != 0u {
        let run = next_run(index, visible, hidden);
        out.elements += run.end - run.first;
        out.commands += (run.end - run.first + region.pattern_elements - 1u) / region.pattern_elements;
        visible = run.rest;
    }
    return out;
}

// Commands and bin of each mesh of this workgroup: bin << 16 | commands.
var<workgroup> lane_commands: array<u32, 64>;
var<workgroup> lane_elements: array<u32, 64>;

fn commands_of(lane: u32) -> u32 {
    return lane_commands[lane] & 0xffffu;
}

// Stores the parts of a mesh that one of the lists draws, and adds up its commands, meshes and
// elements.
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
    lane_elements[lane] = drawn.elements;
    workgroupBarrier();
    if lane < BINS {
        var count = 0u;
        for (var other = 0u; other < LANES; other++) {
            count += select(0u, commands_of(other), (lane_commands[other] >> 16u) == lane);
        }
        counters[lane * region.workgroups + workgroup] = count;
    } else if lane == BINS {
        var meshes = 0u;
        var elements = 0u;
        for (var other = 0u; other < LANES; other++) {
            meshes += u32(commands_of(other) != 0u);
            elements += lane_elements[other];
        }
        atomicAdd(&totals[list].meshes, meshes);
        atomicAdd(&totals[list].elements, elements);
    }
}

// One list of all meshes in view.
@compute @workgroup_size(64)
fn judge_all(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    var parts = 0u;
    if id.x < region.records {
        parts = visible_parts(id.x);
    }
    note(id.x, lane, workgroup.x, parts, 0u);
}

// The first of two lists: meshes that were visible at the end of the last frame and are in view.
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

// The second of two lists: meshes that have come into view, tested against the depth of the first list.
// Meshes of the first list are tested too, for the next view.
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
            let count = min(run.end - first, region.pattern_elements);
            let base_vertex = (records[index].first_element + first) * region.vertices_per_element;
            let index_count = count * region.indices_per_element;
            commands[next] = Command(index_count, 1u, 0u, base_vertex, records[index].slot);
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
    let rest = select(region.capacity, total + index, view.clear_rest != 0u);
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
