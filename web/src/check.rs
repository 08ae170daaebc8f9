use std::collections::BTreeSet;

use drystone_world::{EditedSource, MemoryFile, NodePos, parse_source};
use wasm_bindgen::prelude::*;

/// Reads all that a page would ever read of a file: damage that stops the program stops it here,
/// where that harms nothing. To be asked in a worker. Whether the file holds edits, which are shown
/// over what they are of.
///
/// # Cost
/// Reads and unpacks every chunk, some 50 µs each, and keeps the file's bytes twice meanwhile.
///
/// # Errors
/// Throws a line to be shown where the file is none that can be read at all.
#[wasm_bindgen]
pub fn check(name: &str, bytes: Vec<u8>) -> Result<bool, String> {
    let source = parse_source(&bytes, name).map_err(|error| error.to_string())?;
    let is_edits = EditedSource::is_file_of_edits(source.as_ref());
    if is_edits {
        // More is written to it.
        let file = MemoryFile::of_bytes(name, bytes, usize::MAX);
        file.verify().map_err(|error| error.to_string())?;
    }
    // What fails in a way that is foreseen is told by whoever shows it.
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
