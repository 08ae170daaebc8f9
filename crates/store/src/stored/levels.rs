use std::collections::HashSet;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{Chunk, ChunkPos, Material, NodePos, downsample};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::committer::PendingLevel;
use super::database::{DATABASE, damaged};
use super::group::{Group, GroupPos};
use super::{StoredWorld, record};

/// Bits of X that a level-1 node needs. The bits above are free, since voxel coordinates end there.
const X_BITS: u32 = 26;

/// Position under which a LOD node is stored, in the same form as a chunk's. The node's level is in
/// X, above the bits that nodes use. `None` for nodes that are not stored: those of level 0, and
/// those beyond the range of voxel coordinates.
pub(super) fn stored_position(node: NodePos) -> Option<ChunkPos> {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    let own = x & ((1 << X_BITS) - 1);
    let is_stored = level > 0 && sign_extended(own) == x;
    is_stored.then(|| ChunkPos::new(i32::from(level) << X_BITS | own, y, z))
}

/// Inverse of [`stored_position`]; `None` if the position belongs to no node.
pub(super) fn node_at_stored_position(position: ChunkPos) -> Option<NodePos> {
    let level = u8::try_from(position.x >> X_BITS).ok()?;
    let chunk = ChunkPos::new(sign_extended(position.x), position.y, position.z);
    (1..=NodePos::MAX_LEVEL).contains(&level).then_some(NodePos { level, chunk })
}

const fn sign_extended(x: i32) -> i32 {
    x << (i32::BITS - X_BITS) >> (i32::BITS - X_BITS)
}

/// All nodes above `chunks`. Their LOD chunks are outdated when the chunks change.
pub(super) fn nodes_above<'a>(chunks: impl Iterator<Item = &'a ChunkPos>) -> HashSet<NodePos> {
    let mut nodes = HashSet::new();
    for &chunk in chunks {
        let mut node = NodePos::from(chunk).parent();
        while nodes.insert(node) && node.level < NodePos::MAX_LEVEL {
            node = node.parent();
        }
    }
    nodes
}

/// A LOD chunk. `is_whole` is false if a chunk below is damaged; its voxels are then air.
struct Derived {
    chunk: Chunk,
    is_whole: bool,
}

impl StoredWorld {
    /// Level of the nodes that [`derive_levels`](Self::derive_levels) makes in one step.
    const STEP_LEVEL: u8 = 3;
    /// Number of steps between two progress reports.
    const STEPS: usize = 16;

    /// Makes all LOD chunks that are not stored yet, and commits them. The top level is the first
    /// at which at most eight nodes cover the world. `each` is called with the number of finished
    /// steps and of all steps.
    ///
    /// # Cost
    /// Reads every chunk that has no stored LOD chunk above it. Making a LOD chunk takes about 0.3
    /// ms, and runs on all cores. Memory: eight chunks per level and core.
    ///
    /// # Errors
    /// Failed writes, and damage to the file as a whole. LOD chunks above a damaged chunk are not
    /// stored.
    pub fn derive_levels(&self, each: &mut dyn FnMut(u64, u64)) -> Result<(), SourceError> {
        self.derive_levels_on(None, each)
    }

    /// Makes all LOD chunks on the threads of `pool`, or on the global pool. See
    /// [`derive_levels`](Self::derive_levels).
    pub(crate) fn derive_levels_on(
        &self,
        pool: Option<&ThreadPool>,
        each: &mut dyn FnMut(u64, u64),
    ) -> Result<(), SourceError> {
        let Some(committer) = &self.committer else {
            return Err(SourceError::ReadOnly { path: self.path().into() });
        };
        self.flush()?;
        let Some(extent) = self.extent() else { return Ok(()) };
        let top = extent.top_level();
        let first = top.min(Self::STEP_LEVEL);
        let mut levels = vec![self.with_committed(|committed| committed.index.nodes(first))];
        for level in first + 1..=top {
            levels.push(levels[0].iter().map(|node| node.ancestor(level)).collect());
        }
        let levels: Vec<Vec<NodePos>> =
            levels.into_iter().map(|level| level.into_iter().collect()).collect();
        let (mut done, total) = (0, levels.iter().map(|level| level.len() as u64).sum());
        for steps in levels.iter().flat_map(|level| level.chunks(Self::STEPS)) {
            let derive =
                || steps.par_iter().try_for_each(|&node| self.derived(node, true).map(drop));
            pool.map_or_else(derive, |pool| pool.install(derive))?;
            committer.check()?;
            done += steps.len() as u64;
            each(done, total);
        }
        self.flush()
    }

    /// The stored LOD chunk of a node; `None` if it is missing, damaged or outdated.
    pub(super) fn stored_level(&self, node: NodePos) -> Option<Chunk> {
        match self.committer.as_ref().map_or(PendingLevel::Unchanged, |it| it.level(node)) {
            PendingLevel::Chunk(chunk) => return Some(chunk),
            PendingLevel::Stale => return None,
            PendingLevel::Unchanged => {}
        }
        let (group, slot) = GroupPos::of(stored_position(node)?);
        let read = self.store.levels(|values| {
            let read = values.read(group, Some(slot), |value| {
                let record = Group::parse(group, value).and_then(|it| it.record(slot).transpose());
                record.and_then(|it| it.map(record::decode).transpose()).transpose()
            });
            Ok(read?.flatten())
        });
        match read {
            Ok(read) => read?
                .map_err(|problem| {
                    self.note(&damaged(self.path(), location_of_node(node), problem));
                })
                .ok(),
            Err(error) => {
                self.note(&error);
                None
            }
        }
    }

    /// The LOD chunk of `node`: the stored one, or one made of the chunks below. A new one is
    /// stored if the world is open for writing and not too much is pending.
    pub(super) fn derive(&self, node: NodePos) -> Result<Chunk, SourceError> {
        self.derived(node, false).map(|it| it.chunk)
    }

    /// The LOD chunk of `node`. With `waits`, a new one is always stored, which may block on the
    /// disk.
    fn derived(&self, node: NodePos, waits: bool) -> Result<Derived, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let whole = |chunk| Ok(Derived { chunk, is_whole: true });
        if node.level == 0 {
            return match self.chunk(node.chunk) {
                Err(SourceError::BadStored { location, .. }) if location != DATABASE => {
                    Ok(Derived { chunk: air(), is_whole: false })
                }
                read => whole(read?),
            };
        }
        // Beyond the range of voxel coordinates there are no chunks below.
        let Some(children) = node.children() else { return whole(air()) };
        // Changes after this epoch may be missing from the chunks that are read below.
        let since = self.committer.as_ref().map(|committer| committer.epoch(node));
        if self.is_air(node) {
            return whole(air());
        }
        if let Some(stored) = self.stored_level(node) {
            return whole(stored);
        }
        let mut is_whole = true;
        let mut chunks = [const { None }; 8];
        for (chunk, child) in chunks.iter_mut().zip(children) {
            let derived = self.derived(child, waits)?;
            is_whole &= derived.is_whole;
            *chunk = Some(derived.chunk);
        }
        let chunks = chunks.each_ref().map(Option::as_ref);
        let chunk = downsample(Chunk::SIDE, chunks, self.materials()).unwrap_or_else(air);
        if let (true, Some(committer), Some(since)) = (is_whole, &self.committer, since) {
            committer.put_level(node, &chunk, since, waits);
        }
        Ok(Derived { chunk, is_whole })
    }
}

/// Text for a LOD node in messages.
pub(super) fn location_of_node(node: NodePos) -> String {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    format!("level {level}, chunk {x},{y},{z}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_positions_are_unique_and_invertible() {
        let mut positions = HashSet::new();
        let far = 1 << (X_BITS - 1);
        for level in 1..=NodePos::MAX_LEVEL {
            for x in [-far, -1, 0, 5, far - 1] {
                for y in [i32::MIN, 0, i32::MAX] {
                    let node = NodePos::new(level, ChunkPos::new(x, y, -7));
                    let position = stored_position(node).unwrap();
                    assert_eq!(node_at_stored_position(position), Some(node));
                    assert!(positions.insert(position));
                }
            }
            for x in [far, -far - 1, i32::MIN, i32::MAX] {
                assert_eq!(stored_position(NodePos::new(level, ChunkPos::new(x, 0, 0))), None);
            }
        }
        assert_eq!(stored_position(NodePos::default()), None);
        for x in [0, -1, i32::MIN, 25 << X_BITS] {
            assert_eq!(node_at_stored_position(ChunkPos::new(x, 0, 0)), None);
        }
    }

    #[test]
    fn nodes_above_include_every_ancestor() {
        let chunks = [ChunkPos::new(5, -3, 0), ChunkPos::new(-1, 9, 70)];
        let nodes = nodes_above(chunks.iter());
        for level in 1..=NodePos::MAX_LEVEL {
            assert!(chunks.iter().all(|&it| nodes.contains(&NodePos::from(it).ancestor(level))));
        }
        assert!(nodes.iter().all(|it| it.level > 0));
    }
}
