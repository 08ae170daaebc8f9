use std::collections::HashSet;

use drystone_voxel::{Chunk, ChunkPos, Material, downsample};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::committer::Waiting;
use super::database::{DATABASE, damaged};
use super::group::{Group, GroupPos};
use super::{StoredWorld, record};
use crate::lod::top_level;
use crate::{NodePos, Source, WorldError};

/// The bits of X that a node's place leaves free at level 1: numbers of voxels end there.
const X_BITS: u32 = 26;

/// Under which place a node of larger voxels is kept, as if it were a chunk: its level stands
/// in X, above the bits that are a node's own. `None` for nodes that are not kept: those of
/// level 0, and those beyond the end of voxels' numbers.
pub(super) fn place_of_node(node: NodePos) -> Option<ChunkPos> {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    let own = x & ((1 << X_BITS) - 1);
    let is_kept = level > 0 && sign_extended(own) == x;
    is_kept.then(|| ChunkPos::new(i32::from(level) << X_BITS | own, y, z))
}

/// The node that is kept under a place; `None` where no node is.
pub(super) fn node_of_place(place: ChunkPos) -> Option<NodePos> {
    let level = u8::try_from(place.x >> X_BITS).ok()?;
    let chunk = ChunkPos::new(sign_extended(place.x), place.y, place.z);
    (1..=NodePos::MAX_LEVEL).contains(&level).then_some(NodePos { level, chunk })
}

const fn sign_extended(x: i32) -> i32 {
    x << (i32::BITS - X_BITS) >> (i32::BITS - X_BITS)
}

/// All nodes above `chunks`: what follows from these is no longer true when they change.
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

/// A chunk of larger voxels, and whether it follows from all below: of what is damaged there
/// is nothing in it.
struct Derived {
    chunk: Chunk,
    is_whole: bool,
}

impl StoredWorld {
    /// The level of the nodes that [`derive_levels`](Self::derive_levels) makes at once.
    const STEP_LEVEL: u8 = 3;
    /// So many of them between two reports.
    const STEPS: usize = 16;

    /// Makes the chunks of larger voxels that are not kept yet, up to the level at which at
    /// most eight of them are the whole world, and commits them. `each` is told how many of
    /// how many steps are done.
    ///
    /// # Cost
    /// Reads every chunk that no kept one stands for; some 0.3 ms for each that is made, on
    /// all cores. Memory: eight chunks for each level and core.
    ///
    /// # Errors
    /// What cannot be written, and damage to the file as a whole. What follows from a damaged
    /// chunk is not kept.
    pub fn derive_levels(&self, each: &mut dyn FnMut(u64, u64)) -> Result<(), WorldError> {
        self.derive_levels_on(None, each)
    }

    /// The same on the threads of `pool`; without one, on those that all share.
    pub(crate) fn derive_levels_on(
        &self,
        pool: Option<&ThreadPool>,
        each: &mut dyn FnMut(u64, u64),
    ) -> Result<(), WorldError> {
        let Some(committer) = &self.committer else {
            return Err(WorldError::ReadOnly { path: self.path().into() });
        };
        self.flush()?;
        let Some(extent) = self.extent() else { return Ok(()) };
        let top = top_level(extent);
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

    /// The chunk of larger voxels as it is kept; `None` where it is not, or damaged, or no
    /// longer true.
    pub(super) fn kept_level(&self, node: NodePos) -> Option<Chunk> {
        match self.committer.as_ref().map_or(Waiting::Unknown, |it| it.level(node)) {
            Waiting::Kept(chunk) => return Some(chunk),
            Waiting::Stale => return None,
            Waiting::Unknown => {}
        }
        let (group, slot) = GroupPos::of(place_of_node(node)?);
        let read = self.store.levels(|values| {
            let read = values.ask(group, Some(slot), |value| {
                let record = Group::parse(group, value).and_then(|it| it.record(slot).transpose());
                record.and_then(|it| it.map(record::decode).transpose()).transpose()
            });
            Ok(read?.flatten())
        });
        match read {
            Ok(read) => read?
                .map_err(|problem| self.note(&damaged(self.path(), place_text(node), problem)))
                .ok(),
            Err(error) => {
                self.note(&error);
                None
            }
        }
    }

    /// The chunk of larger voxels at `node`: as it is kept, or else made of those below it,
    /// and then kept where the world may be written and not too much waits for that.
    pub(super) fn derive(&self, node: NodePos) -> Result<Chunk, WorldError> {
        self.derived(node, false).map(|it| it.chunk)
    }

    /// With `waits`, what is made is kept in any case: the disk is waited for.
    fn derived(&self, node: NodePos, waits: bool) -> Result<Derived, WorldError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let whole = |chunk| Ok(Derived { chunk, is_whole: true });
        if node.level == 0 {
            return match self.chunk(node.chunk) {
                Err(WorldError::BadStored { place, .. }) if place != DATABASE => {
                    Ok(Derived { chunk: air(), is_whole: false })
                }
                read => whole(read?),
            };
        }
        // Past the end of the numbers there is nothing below.
        let Some(children) = node.children() else { return whole(air()) };
        // What is put from here on may not be in what is read below.
        let since = self.committer.as_ref().map(|committer| committer.epoch(node));
        if self.is_air(node) {
            return whole(air());
        }
        if let Some(kept) = self.kept_level(node) {
            return whole(kept);
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

/// How a node is named.
pub(super) fn place_text(node: NodePos) -> String {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    format!("level {level}, chunk {x},{y},{z}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_nodes_lead_back_and_are_no_others() {
        let mut places = HashSet::new();
        let far = 1 << (X_BITS - 1);
        for level in 1..=NodePos::MAX_LEVEL {
            for x in [-far, -1, 0, 5, far - 1] {
                for y in [i32::MIN, 0, i32::MAX] {
                    let node = NodePos::new(level, ChunkPos::new(x, y, -7));
                    let place = place_of_node(node).unwrap();
                    assert_eq!(node_of_place(place), Some(node));
                    assert!(places.insert(place));
                }
            }
            for x in [far, -far - 1, i32::MIN, i32::MAX] {
                assert_eq!(place_of_node(NodePos::new(level, ChunkPos::new(x, 0, 0))), None);
            }
        }
        assert_eq!(place_of_node(NodePos::default()), None);
        for x in [0, -1, i32::MIN, 25 << X_BITS] {
            assert_eq!(node_of_place(ChunkPos::new(x, 0, 0)), None);
        }
    }

    #[test]
    fn every_node_above_is_named() {
        let chunks = [ChunkPos::new(5, -3, 0), ChunkPos::new(-1, 9, 70)];
        let nodes = nodes_above(chunks.iter());
        for level in 1..=NodePos::MAX_LEVEL {
            assert!(chunks.iter().all(|&it| nodes.contains(&NodePos::from(it).ancestor(level))));
        }
        assert!(nodes.iter().all(|it| it.level > 0));
    }
}
