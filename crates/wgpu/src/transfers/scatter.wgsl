// Copies pieces of one buffer to places in another: one workgroup for each piece.

// The bytes to be written, as words.
@group(0) @binding(0) var<storage, read> words: array<u32>;
// First word in the target, first of `words`, and number of words.
@group(0) @binding(1) var<storage, read> pieces: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> written: array<u32>;

@compute @workgroup_size(64)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let piece = pieces[group.x];
    for (var word = lane; word < piece.z; word += 64u) {
        written[piece.x + word] = words[piece.y + word];
    }
}
