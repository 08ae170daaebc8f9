use std::collections::{HashMap, HashSet};

use drystone_voxel::{Chunk, ChunkPos};

use crate::NodePos;

/// What was changed and is not the source's: of level 0 what was set, above what follows from
/// it.
#[derive(Default)]
pub(super) struct Edits {
    chunks: HashMap<NodePos, Edited>,
    /// How often anything was changed, ever.
    revision: u64,
}

struct Edited {
    chunk: Chunk,
    /// The revision in which it was changed last.
    revision: u64,
}

impl Edits {
    pub(super) fn get(&self, node: NodePos) -> Option<&Chunk> {
        self.chunks.get(&node).map(|edited| &edited.chunk)
    }

    /// A node's chunk, to be changed: it was `made` unless it is here already. `None` if neither.
    pub(super) fn change(&mut self, node: NodePos, made: Option<Chunk>) -> Option<&mut Chunk> {
        self.revision += 1;
        let revision = self.revision;
        let edited = match made {
            Some(chunk) => self.chunks.entry(node).or_insert(Edited { chunk, revision }),
            None => self.chunks.get_mut(&node)?,
        };
        edited.revision = revision;
        Some(&mut edited.chunk)
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
    /// asked for, all larger chunks that only follow from such.
    pub(super) fn take_saved(
        &mut self,
        positions: impl IntoIterator<Item = ChunkPos>,
        revision: u64,
        with_larger: bool,
    ) -> Vec<(NodePos, Chunk)> {
        let mut taken = Vec::new();
        for node in positions.into_iter().map(NodePos::from) {
            if self.chunks.get(&node).is_some_and(|it| it.revision <= revision) {
                taken.extend(self.chunks.remove(&node).map(|it| (node, it.chunk)));
            }
        }
        if with_larger && !taken.is_empty() {
            let larger = self.above_nothing();
            taken.extend(
                larger.into_iter().filter_map(|it| Some((it, self.chunks.remove(&it)?.chunk))),
            );
        }
        taken
    }

    /// The nodes of larger voxels below which nothing is any more.
    fn above_nothing(&self) -> Vec<NodePos> {
        let top = self.chunks.keys().map(|node| node.level).max().unwrap_or(0);
        let mut above = HashSet::new();
        for &lowest in self.chunks.keys().filter(|node| node.level == 0) {
            let mut node = lowest;
            while node.level < top {
                node = node.parent();
                if !above.insert(node) {
                    break;
                }
            }
        }
        let larger = self.chunks.keys().filter(|node| node.level > 0 && !above.contains(node));
        larger.copied().collect()
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
