use drystone_voxel::{Chunk, ChunkPos};
use hashbrown::{HashMap, HashSet};

use crate::NodePos;

/// What was changed and is not the source's: of level 0 what was set; above, where the source
/// makes larger voxels itself, what follows from it.
#[derive(Default)]
pub(super) struct Edits {
    chunks: HashMap<NodePos, Edited>,
    /// The nodes that have chunks of level 0 below them.
    above: HashSet<NodePos>,
    /// How often anything was changed, ever.
    revision: u64,
    size_bytes: usize,
}

struct Edited {
    chunk: Chunk,
    /// What it was before it was ever edited, where larger voxels do not just follow.
    original: Option<Chunk>,
    /// The revision in which it was changed last.
    revision: u64,
}

impl Edited {
    /// Its memory, and that of its place in the table, which is up to half empty.
    fn size_bytes(&self) -> usize {
        let original = self.original.as_ref().map_or(0, Chunk::size_bytes);
        self.chunk.size_bytes() + original + 2 * size_of::<(NodePos, Self)>()
    }
}

/// A chunk as it is now.
pub(super) struct Put {
    pub(super) node: NodePos,
    pub(super) chunk: Chunk,
    /// What it was before it was ever edited, where larger voxels do not just follow.
    pub(super) original: Option<Chunk>,
}

impl Edits {
    pub(super) fn get(&self, node: NodePos) -> Option<&Chunk> {
        self.chunks.get(&node).map(|edited| &edited.chunk)
    }

    /// What a chunk that is here was before it was ever edited, if that was said.
    pub(super) fn original(&self, node: NodePos) -> Option<&Chunk> {
        self.chunks.get(&node)?.original.as_ref()
    }

    /// Whether anything of level 0 lies below a node.
    pub(super) fn is_above_any(&self, node: NodePos) -> bool {
        self.above.contains(&node)
    }

    /// Chunks that are all changed at once; `top` is the highest level.
    pub(super) fn put_all(&mut self, chunks: impl IntoIterator<Item = Put>, top: u8) {
        self.revision += 1;
        let revision = self.revision;
        for Put { node, chunk, original } in chunks {
            let edited = Edited { chunk, original, revision };
            self.size_bytes += edited.size_bytes();
            let old = self.chunks.insert(node, edited);
            self.size_bytes -= old.map_or(0, |old| old.size_bytes());
            if node.level == 0 {
                note_above(&mut self.above, node, top);
            }
        }
    }

    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// The chunks of level 0, in the order of positions.
    pub(super) fn lowest(&self) -> Vec<(ChunkPos, Chunk)> {
        let lowest = self.chunks.iter().filter(|(node, _)| node.level == 0);
        let mut chunks: Vec<_> =
            lowest.map(|(node, edited)| (node.chunk, edited.chunk.clone())).collect();
        chunks.sort_unstable_by_key(|&(position, _)| position);
        chunks
    }

    /// Takes out those of `positions` that were not changed after `revision`, and, if they are
    /// asked for, all larger chunks that only follow from such; `top` is the highest level.
    pub(super) fn take_saved(
        &mut self,
        positions: impl IntoIterator<Item = ChunkPos>,
        revision: u64,
        top: u8,
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
            note_above(&mut self.above, node, top);
        }
        if with_larger {
            let is_larger = |node: &NodePos| node.level > 0 && !self.above.contains(node);
            let larger = self.chunks.extract_if(|node, _| is_larger(node));
            taken.extend(larger);
        }
        self.size_bytes -= taken.iter().map(|(_, it)| it.size_bytes()).sum::<usize>();
        taken.into_iter().map(|(node, it)| (node, it.chunk)).collect()
    }

    /// Bytes of memory.
    pub(super) const fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The same, counted anew.
    #[cfg(test)]
    pub(super) fn counted_bytes(&self) -> usize {
        self.chunks.values().map(Edited::size_bytes).sum()
    }

    /// Chunks of all levels.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Chunks of level 0.
    pub(super) fn lowest_count(&self) -> usize {
        self.chunks.keys().filter(|node| node.level == 0).count()
    }
}

fn note_above(above: &mut HashSet<NodePos>, lowest: NodePos, top: u8) {
    let mut node = lowest;
    while node.level < top {
        node = node.parent();
        if !above.insert(node) {
            break;
        }
    }
}
