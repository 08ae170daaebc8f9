use std::collections::BTreeSet;

use drystone_formats::{Input, MemoryFile};
use drystone_store::{EditedSource, StoredWorld};
use drystone_voxel::NodePos;
use drystone_world::{OpenOptions, open_voxels};
use wasm_bindgen::prelude::*;

/// Reads everything that a page could read from a file, and returns whether the file contains edits
/// of another world. Call it in a worker: damage that panics stops the worker, not the page.
///
/// # Cost
/// Reads and decompresses every chunk, about 50 µs each. Needs twice the file's size in memory.
///
/// # Errors
/// Throws a message if the file cannot be read at all.
#[wasm_bindgen]
pub fn check(name: &str, bytes: Vec<u8>) -> Result<bool, String> {
    let source = open_voxels(Input::Bytes { bytes: &bytes, name }, &OpenOptions::default())
        .map_err(|error| error.to_string())?;
    let is_edits = EditedSource::is_file_of_edits(source.as_ref());
    if is_edits {
        // Later edits are written to the same file.
        let file = MemoryFile::of_bytes(name, bytes, usize::MAX);
        StoredWorld::verify(&file).map_err(|error| error.to_string())?;
    }
    // Errors of single chunks are ignored here; the page reports them when it shows the world.
    let mut level: BTreeSet<NodePos> = BTreeSet::new();
    for position in source.chunk_positions() {
        drop(source.chunk(position));
        level.insert(NodePos::from(position).parent());
    }
    while !level.is_empty() {
        level.iter().for_each(|&node| drop(source.coarse_chunk(node)));
        let is_top = |node: &NodePos| node.level == NodePos::MAX_LEVEL;
        level = level.into_iter().filter(|it| !is_top(it)).map(NodePos::parent).collect();
    }
    Ok(is_edits)
}
