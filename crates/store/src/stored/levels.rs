use drystone_formats::SourceError;
use drystone_voxel::{Chunk, Material, MaterialTable, NodePos, downsample};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::committer::IfFull;
use super::contents::Contents;
use super::database::DATABASE;
use super::index::Index;

/// LOD chunks of an open world: the stored ones, and new ones made of the chunks below.
#[derive(Clone, Copy)]
pub(crate) struct Levels<'a> {
    pub(super) contents: &'a Contents,
    pub(super) materials: &'a MaterialTable,
}

/// A LOD chunk. `is_whole` is false if a chunk below is damaged; its voxels are then air.
struct Derived {
    chunk: Chunk,
    is_whole: bool,
}

impl Levels<'_> {
    /// Level of the nodes that [`make_all`](Self::make_all) makes in one step.
    const STEP_LEVEL: u8 = 3;
    /// Number of steps between two progress reports.
    const STEPS: usize = 16;

    /// Makes all LOD chunks that are not stored yet on the threads of `pool`, or on the global
    /// pool, and commits them. See [`StoredWorld::derive_levels`](super::StoredWorld::derive_levels).
    pub(crate) fn make_all(
        self,
        pool: Option<&ThreadPool>,
        each: &mut dyn FnMut(u64, u64),
    ) -> Result<(), SourceError> {
        let committer = self.contents.writer()?;
        committer.flush()?;
        let Some(extent) = self.contents.with_index(Index::extent) else { return Ok(()) };
        let top = extent.top_level();
        let first = top.min(Self::STEP_LEVEL);
        let mut levels =
            vec![self.contents.with_committed(|committed| committed.index.nodes(first))];
        for level in first + 1..=top {
            levels.push(levels[0].iter().map(|node| node.ancestor(level)).collect());
        }
        let levels: Vec<Vec<NodePos>> =
            levels.into_iter().map(|level| level.into_iter().collect()).collect();
        let (mut done, total) = (0, levels.iter().map(|level| level.len() as u64).sum());
        for steps in levels.iter().flat_map(|level| level.chunks(Self::STEPS)) {
            let derive = || {
                steps.par_iter().try_for_each(|&node| self.derived(node, IfFull::Wait).map(drop))
            };
            pool.map_or_else(derive, |pool| pool.install(derive))?;
            committer.check()?;
            done += steps.len() as u64;
            each(done, total);
        }
        committer.flush()
    }

    /// The LOD chunk of `node`: the stored one, or one made of the chunks below. A new one is
    /// stored if the world is open for writing and not too much is pending.
    pub(super) fn chunk(self, node: NodePos) -> Result<Chunk, SourceError> {
        self.derived(node, IfFull::Drop).map(|it| it.chunk)
    }

    fn derived(self, node: NodePos, if_full: IfFull) -> Result<Derived, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let whole = |chunk| Ok(Derived { chunk, is_whole: true });
        if node.level == 0 {
            return match self.contents.chunk(node.chunk) {
                Err(SourceError::BadStored { location, .. }) if location != DATABASE => {
                    Ok(Derived { chunk: air(), is_whole: false })
                }
                read => whole(read?),
            };
        }
        // Beyond the range of voxel coordinates there are no chunks below.
        let Some(children) = node.children() else { return whole(air()) };
        // Changes after this epoch may be missing from the chunks that are read below.
        let committer = self.contents.committer.as_ref();
        let since = committer.map(|committer| committer.epoch(node));
        if self.contents.is_air(node) {
            return whole(air());
        }
        if let Some(stored) = self.contents.level(node) {
            return whole(stored);
        }
        let mut is_whole = true;
        let mut chunks = [const { None }; 8];
        for (chunk, child) in chunks.iter_mut().zip(children) {
            let derived = self.derived(child, if_full)?;
            is_whole &= derived.is_whole;
            *chunk = Some(derived.chunk);
        }
        let chunks = chunks.each_ref().map(Option::as_ref);
        let chunk = downsample(Chunk::SIDE, chunks, self.materials).unwrap_or_else(air);
        if let (true, Some(committer), Some(since)) = (is_whole, committer, since) {
            committer.put_level(node, &chunk, since, if_full);
        }
        Ok(Derived { chunk, is_whole })
    }
}
