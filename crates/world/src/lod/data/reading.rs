use std::sync::{PoisonError, RwLock};

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, Material, NodePos, downsample};
use hashbrown::HashSet;

use super::{LodData, lock};

/// Maximum number of damaged chunks that are listed.
const MAX_FAULTS: usize = 1_000;

/// A chunk, and whether it is complete.
pub(in crate::lod) struct LoadedChunk {
    pub(in crate::lod) chunk: Chunk,
    /// Whether all chunks that it is made from could be read.
    pub(in crate::lod) is_whole: bool,
}

impl LoadedChunk {
    const fn whole(chunk: Chunk) -> Self {
        Self { chunk, is_whole: true }
    }
}

impl LodData {
    /// Returns the chunk at `node`, or `None` if the source failed or the chunk has not arrived.
    pub(crate) fn readable_chunk(&self, node: NodePos) -> Option<Chunk> {
        self.load(node).map(|made| made.chunk)
    }

    /// Returns the chunk at `node`, or `None` if the source failed. Waits for chunks that come over a network,
    /// except in browsers, where they count as failed.
    pub(super) fn awaited_chunk(&self, node: NodePos) -> Option<Chunk> {
        self.load_with(node, !cfg!(target_arch = "wasm32")).map(|made| made.chunk)
    }

    /// Returns the chunk at `node` and whether it is complete, or `None` if the source failed or the chunk
    /// has not arrived.
    pub(in crate::lod) fn load(&self, node: NodePos) -> Option<LoadedChunk> {
        self.load_with(node, false)
    }

    fn load_with(&self, node: NodePos, waits: bool) -> Option<LoadedChunk> {
        if !self.is_inside(node) {
            return Some(LoadedChunk::whole(Chunk::new(Chunk::SIDE, Material::AIR)));
        }
        loop {
            if let Some(chunk) = self.read_edits().get(node) {
                return Some(LoadedChunk::whole(chunk.clone()));
            }
            let epoch = {
                let mut cache = lock(&self.cache);
                if let Some(chunk) = cache.get(node) {
                    return Some(LoadedChunk::whole(chunk));
                }
                if let Some(broken) = cache.broken(node, self.clock.now()) {
                    return broken.map(|chunk| LoadedChunk { chunk, is_whole: false });
                }
                cache.epoch(node)
            };
            if !waits && self.is_absent(node) {
                return None;
            }
            // An incomplete chunk is read again after a while.
            let remember = |chunk: Option<Chunk>| {
                let until = self.clock.now() + Self::RETRY_AFTER;
                lock(&self.cache).insert_broken(node, chunk, epoch, until);
            };
            let made = match self.make(node, waits) {
                Ok(made) => made,
                Err(error) => {
                    self.note_fault(node, &error);
                    remember(None);
                    return None;
                }
            };
            if !made.is_whole {
                remember(Some(made.chunk.clone()));
                return Some(made);
            }
            // If the node was edited or saved meanwhile, the chunk may be outdated and is made
            // again.
            if lock(&self.cache).insert_made(node, &made.chunk, epoch) {
                // An edit that came meanwhile has priority.
                let edited = self.read_edits().get(node).cloned();
                return Some(edited.map_or(made, LoadedChunk::whole));
            }
        }
    }

    fn make(&self, node: NodePos, waits: bool) -> Result<LoadedChunk, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        if self.is_source_air(node) {
            return Ok(LoadedChunk::whole(air()));
        }
        if node.level == 0 {
            return self.source.chunk(node.chunk).map(LoadedChunk::whole);
        }
        // LOD voxels that the source only stores do not contain unsaved edits.
        let is_behind = !self.source.makes_levels() && self.read_edits().is_above_any(node);
        if let Some(made) = self.source.coarse_chunk(node).filter(|_| !is_behind) {
            return made.map(LoadedChunk::whole);
        }
        let Some(children) = node.children() else { return Ok(LoadedChunk::whole(air())) };
        let chunks = children.map(|child| self.load_with(child, waits));
        let is_whole = chunks.iter().all(|made| made.as_ref().is_some_and(|made| made.is_whole));
        let chunks = chunks.map(|made| made.map_or_else(air, |made| made.chunk));
        let parent = downsample(Chunk::SIDE, chunks.each_ref().map(Some), self.materials());
        Ok(LoadedChunk { chunk: parent.unwrap_or_else(air), is_whole })
    }

    /// Returns the chunk at `node` if a lookup finds it.
    pub(in crate::lod) fn cached(&self, node: NodePos) -> Option<Chunk> {
        let edited = self.read_edits().get(node).cloned();
        edited.or_else(|| lock(&self.cache).get(node))
    }

    /// Whether an empty node also has no voxels at lower levels. Downsampled LOD voxels cover all
    /// smaller ones, but those that the source makes may not.
    pub(in crate::lod) fn is_air_below(&self, node: NodePos) -> bool {
        node.level == 0 || self.source.is_air(node) || !self.source.makes_levels()
    }

    /// Whether the source has only air in the chunks that a node covers.
    pub(super) fn is_source_air(&self, node: NodePos) -> bool {
        let is_filled = |filled: &RwLock<HashSet<NodePos>>| {
            filled.read().unwrap_or_else(PoisonError::into_inner).contains(&node)
        };
        if self.read_edits().is_above_any(node) {
            return false;
        }
        let is_tracked_air = self.filled.as_ref().is_some_and(|filled| !is_filled(filled));
        is_tracked_air || self.source.is_air(node)
    }

    /// Subtracts the number of source chunks that a node still needs from `left`. Returns false if
    /// `left` is too small, or if one has to come over a network.
    pub(in crate::lod) fn charge_chunks(&self, node: NodePos, left: &mut usize) -> bool {
        let is_here = !self.is_inside(node)
            || self.read_edits().get(node).is_some()
            || lock(&self.cache).get(node).is_some()
            || lock(&self.cache).broken(node, self.clock.now()).is_some()
            || self.is_source_air(node);
        if is_here {
            return true;
        }
        if self.is_absent(node) {
            return false;
        }
        match node.children().filter(|_| node.level > 0 && !self.source.makes_levels()) {
            Some(children) => children.into_iter().all(|child| self.charge_chunks(child, left)),
            None => left.checked_sub(1).map(|rest| *left = rest).is_some(),
        }
    }

    pub(super) fn note_fault(&self, node: NodePos, error: &SourceError) {
        self.note(node, || error.to_string());
    }

    /// Records that the code that reads a node panicked.
    pub(in crate::lod) fn note_panic(&self, node: NodePos) {
        let ([x, y, z], level) = ([node.chunk.x, node.chunk.y, node.chunk.z], node.level);
        let name = self.source.name();
        self.note(node, || {
            format!("{name}: chunk {x}, {y}, {z} of level {level}: this program failed to read it; please report it")
        });
    }

    fn note(&self, node: NodePos, line: impl FnOnce() -> String) {
        let mut faults = lock(&self.faults);
        if faults.len() < MAX_FAULTS {
            faults.entry(node).or_insert_with(line);
        }
    }
}
