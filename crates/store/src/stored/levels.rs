use drystone_formats::{Source, SourceError};
use drystone_voxel::{Chunk, Material, NodePos, downsample};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::committer::PendingLevel;
use super::database::{DATABASE, damaged};
use super::group::{Group, GroupPos};
use super::nodes::{location_of_node, stored_position};
use super::{StoredWorld, record};

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
