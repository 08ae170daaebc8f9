use drystone_voxel::{Chunk, ChunkPos, NodePos};
use hashbrown::{HashMap, HashSet};

use crate::lod::node_grid::NodeGrid;

/// Edited chunks that are not saved in the source. Chunks of level 0 hold the edits. Chunks of
/// higher levels are stored only if the source makes its own LOD voxels.
#[derive(Default)]
pub(super) struct Edits {
    chunks: HashMap<NodePos, Edited>,
    /// Nodes with edited chunks of level 0 below them.
    above: HashSet<NodePos>,
    /// Number of changes so far.
    pub(super) revision: u64,
    /// Size in memory.
    pub(super) size_bytes: usize,
}

struct Edited {
    chunk: Chunk,
    /// The chunk before its first edit. Stored only if the source makes its own LOD voxels.
    original: Option<Chunk>,
    /// Revision of the last change.
    revision: u64,
}

impl Edited {
    /// Size of the chunks and of the table entry, in bytes. The table is up to half empty.
    fn size_bytes(&self) -> usize {
        let original = self.original.as_ref().map_or(0, Chunk::size_bytes);
        self.chunk.size_bytes() + original + 2 * size_of::<(NodePos, Self)>()
    }
}

/// A chunk after an edit.
pub(super) struct NewChunk {
    pub(super) node: NodePos,
    pub(super) chunk: Chunk,
    /// The chunk before its first edit. Set only if the source makes its own LOD voxels.
    pub(super) original: Option<Chunk>,
}

impl Edits {
    pub(super) fn get(&self, node: NodePos) -> Option<&Chunk> {
        self.chunks.get(&node).map(|edited| &edited.chunk)
    }

    /// Returns an edited chunk as it was before its first edit, if that is stored.
    pub(super) fn original(&self, node: NodePos) -> Option<&Chunk> {
        self.chunks.get(&node)?.original.as_ref()
    }

    /// Whether a node has edited chunks of level 0 below it.
    pub(super) fn is_above_any(&self, node: NodePos) -> bool {
        self.above.contains(&node)
    }

    /// Stores chunks that change together.
    pub(super) fn insert_all(
        &mut self,
        chunks: impl IntoIterator<Item = NewChunk>,
        grid: NodeGrid,
    ) {
        self.revision += 1;
        let revision = self.revision;
        for NewChunk { node, chunk, original } in chunks {
            let edited = Edited { chunk, original, revision };
            self.size_bytes += edited.size_bytes();
            let old = self.chunks.insert(node, edited);
            self.size_bytes -= old.map_or(0, |old| old.size_bytes());
            if node.level == 0 {
                note_above(&mut self.above, node, grid);
            }
        }
    }

    /// Returns the chunks of level 0, sorted by position.
    pub(super) fn lowest(&self) -> Vec<(ChunkPos, Chunk)> {
        let lowest = self.chunks.iter().filter(|(node, _)| node.level == 0);
        let mut chunks: Vec<_> =
            lowest.map(|(node, edited)| (node.chunk, edited.chunk.clone())).collect();
        chunks.sort_unstable_by_key(|&(position, _)| position);
        chunks
    }

    /// Removes the chunks at `positions` that were not changed after `revision`. With
    /// `with_larger`, also removes the LOD chunks without edited chunks below them.
    pub(super) fn take_saved(
        &mut self,
        positions: impl IntoIterator<Item = ChunkPos>,
        revision: u64,
        grid: NodeGrid,
        with_larger: bool,
    ) -> Vec<(NodePos, Chunk)> {
        let mut taken = Vec::new();
        for node in positions.into_iter().map(NodePos::from) {
            if self.chunks.get(&node).is_some_and(|it| it.revision <= revision) {
                taken.extend(self.chunks.remove(&node).map(|it| (node, it)));
            }
        }
        self.above.clear();
        for &node in self.chunks.keys().filter(|node| node.level == 0) {
            note_above(&mut self.above, node, grid);
        }
        if with_larger {
            let is_larger = |node: &NodePos| node.level > 0 && !self.above.contains(node);
            let larger = self.chunks.extract_if(|node, _| is_larger(node));
            taken.extend(larger);
        }
        self.size_bytes -= taken.iter().map(|(_, it)| it.size_bytes()).sum::<usize>();
        taken.into_iter().map(|(node, it)| (node, it.chunk)).collect()
    }

    /// Returns the size in bytes, summed over all chunks, for comparison with the counter.
    #[cfg(test)]
    pub(super) fn counted_bytes(&self) -> usize {
        self.chunks.values().map(Edited::size_bytes).sum()
    }

    /// Number of chunks of all levels.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Number of chunks of level 0.
    pub(super) fn lowest_count(&self) -> usize {
        self.chunks.keys().filter(|node| node.level == 0).count()
    }
}

/// Adds all nodes above a chunk of level 0.
fn note_above(above: &mut HashSet<NodePos>, lowest: NodePos, grid: NodeGrid) {
    if grid.top_level > 0 {
        grid.insert_with_ancestors(above, lowest.parent());
    }
}
