// Makes ever coarser pictures of a depth picture: each texel is the farthest depth (the least:
// depth is reversed) of 2 × 2 texels of the level below. Odd sizes round up, and texels outside the
// picture are ignored. So a texel of level n covers exactly the pixels whose coordinates begin with
// its own, n bits shorter.

struct Levels {
    picture: vec4<u32>,             // width, height, levels
    levels: array<vec4<u32>, 16>,   // first texel, width, height
}

// Nearer than any depth: the farthest depth of no texels.
const NOTHING: f32 = 1e30;

@group(0) @binding(0) var<uniform> levels: Levels;
@group(0) @binding(1) var<storage, read_write> pyramid: array<f32>;
// x: the first of the four levels that are made here.
@group(0) @binding(2) var<uniform> base: vec4<u32>;
@group(0) @binding(3) var depth: texture_depth_2d;

// The last level made, for this workgroup's 16 × 16 texels of the level below the first.
var<workgroup> tile: array<f32, 64>;

fn store(level: u32, at: vec2<u32>, value: f32) {
    let level_info = levels.levels[level];
    // One condition, and no branch on the level alone: see cull.wgsl.
    if all(at < level_info.yz) & (level < levels.picture.z) {
        pyramid[level_info.x + at.y * level_info.y + at.x] = value;
    }
}

// Halves the tile's side × side texels three times, level by level.
fn reduce(workgroup: vec2<u32>, lane: vec2<u32>, value: f32) {
    var farthest = value;
    var side = 8u;
    for (var level = 1u; level < 4u; level++) {
        if lane.x < side && lane.y < side {
            tile[lane.y * 8u + lane.x] = farthest;
        }
        workgroupBarrier();
        side /= 2u;
        if lane.x < side && lane.y < side {
            let at = lane.y * 16u + lane.x * 2u;
            farthest = min(min(tile[at], tile[at + 1u]), min(tile[at + 8u], tile[at + 9u]));
            store(base.x + level, workgroup * side + lane, farthest);
        }
        workgroupBarrier();
    }
}

// The first four levels, from the depth buffer.
@compute @workgroup_size(8, 8)
fn from_depth(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) lane: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    var farthest = NOTHING;
    for (var n = 0u; n < 4u; n++) {
        let at = id.xy * 2u + vec2<u32>(n & 1u, n >> 1u);
        if all(at < levels.picture.xy) {
            farthest = min(farthest, textureLoad(depth, at, 0));
        }
    }
    store(base.x, id.xy, farthest);
    reduce(workgroup.xy, lane.xy, farthest);
}

// The next four levels, from the last one made.
@compute @workgroup_size(8, 8)
fn from_level(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_id) lane: vec3<u32>,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    let below = levels.levels[base.x - 1u];
    var farthest = NOTHING;
    for (var n = 0u; n < 4u; n++) {
        let at = id.xy * 2u + vec2<u32>(n & 1u, n >> 1u);
        if all(at < below.yz) {
            farthest = min(farthest, pyramid[below.x + at.y * below.y + at.x]);
        }
    }
    store(base.x, id.xy, farthest);
    reduce(workgroup.xy, lane.xy, farthest);
}
