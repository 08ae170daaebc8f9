use drystone_mesh::FaceSet;
use drystone_store::ChunkCache;
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, NodePos, VoxelPos};
use rayon::prelude::*;

use super::edits::NewChunk;
use super::lod_voxels::{Lookup, for_each_change, with_voxels_set};
use super::span::Span;
use super::{LodData, lock};
use crate::edit::Edit;
use crate::lod::node_grid::is_representable;

/// Result of an edit.
#[derive(Default)]
pub(in crate::lod) struct Changes {
    /// Number of changed voxels of level 0.
    pub(in crate::lod) count: u64,
    /// Number of this edit, counted from 1.
    pub(in crate::lod) number: u64,
    /// The changed nodes, each once.
    pub(in crate::lod) parts: Vec<Part>,
}

/// A changed node, and the parts of it that changed.
#[derive(Clone, Copy, Debug)]
pub(in crate::lod) struct Part {
    pub(in crate::lod) node: NodePos,
    /// Bounds of the changed voxels.
    pub(in crate::lod) span: Span,
    /// Sides at which the faces of neighbours may change.
    pub(in crate::lod) sides: FaceSet,
    /// Whether no changed voxel is or was translucent. False if too many voxels have changed.
    pub(in crate::lod) is_opaque: bool,
}

/// A changed node during the propagation to higher levels.
struct Changed {
    node: NodePos,
    span: Span,
    sides: FaceSet,
    is_opaque: bool,
    /// Changed voxels of its parent. `None` if the node is not cached, so they are unknown.
    above: Option<Vec<LodVoxel>>,
}

/// The LOD voxel that eight changed voxels downsample to.
#[derive(Clone, Copy)]
struct LodVoxel {
    at: LocalPos,
    material: Material,
    /// Whether the unedited voxels give the same result. The source's own LOD voxel is then
    /// restored, which may differ from it.
    is_original: bool,
}

/// A chunk before and after an edit, and before its first edit.
struct KnownChunk<'a> {
    before: &'a Chunk,
    after: &'a Chunk,
    /// The chunk before its first edit, if that is needed and differs from `before`.
    original: Option<Chunk>,
}

/// Number of chunks up to which the calling thread edits them. More are edited on all cores.
const MAX_SERIAL: usize = 4;

impl LodData {
    /// Sets voxels in the given order and updates the LOD voxels above them. Voxels outside the
    /// world extend it. Those in unreadable chunks are not changed, so that damaged data is not
    /// overwritten.
    pub(in crate::lod) fn set(
        &self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
    ) -> Changes {
        let mut sorted: Vec<(ChunkPos, LocalPos, Material)> = voxels
            .into_iter()
            .map(|(voxel, material)| {
                let (chunk, local) = voxel.split(Chunk::SIDE);
                (chunk, local, material)
            })
            .collect();
        // The sort is stable, so the voxels of a chunk stay in their order.
        sorted.sort_by_key(|&(chunk, ..)| chunk);
        let by_chunk: Vec<&[(ChunkPos, LocalPos, Material)]> =
            sorted.chunk_by(|a, b| a.0 == b.0).collect();
        let positions = by_chunk.iter().map(|of_chunk| of_chunk[0].0).collect();
        self.edit(positions, &|n, old| {
            let voxels = by_chunk[n].iter().map(|&(_, local, material)| (local, material));
            with_voxels(old, voxels)
        })
    }

    /// Applies an edit and updates the LOD voxels above it.
    ///
    /// # Cost
    /// About 0.2 ms per chunk that the edit touches, on all cores, plus the source's time for
    /// chunks that are not cached.
    pub(in crate::lod) fn apply(&self, edit: &Edit) -> Changes {
        if edit.side() != Chunk::SIDE {
            return self.set(edit.voxels());
        }
        let positions = edit.chunks().map(|(position, _)| position).collect();
        self.edit(positions, &|n, old| applied(edit, n, old))
    }

    /// Applies `change` to chunks of level 0 and updates all nodes above. `change` gets the index
    /// of the chunk in `positions`. Edits run one at a time.
    fn edit(
        &self,
        positions: Vec<ChunkPos>,
        change: &(dyn Fn(usize, &Chunk) -> Edited + Sync),
    ) -> Changes {
        let mut editing = lock(&self.editing);
        *editing += 1;
        let number = *editing;
        lock(&self.cache).forget_broken();
        let makes_levels = self.source.makes_levels();
        let positions: Vec<(usize, ChunkPos)> = positions.into_iter().enumerate().collect();
        let all = each(&positions, |&(n, position)| {
            let node = NodePos::from(position);
            // Chunks outside are air, and a change extends the world.
            let old = is_representable(position).then(|| self.readable_chunk(node))??;
            let edited = change(n, &old);
            if edited.count == 0 {
                return None;
            }
            let original = self.original(node)?;
            let known = KnownChunk { before: &old, after: &edited.chunk, original };
            let changed = self.changed(node, edited.span, Some(&known));
            let original = known.original;
            let original = makes_levels.then(|| original.unwrap_or(old));
            let put = NewChunk { node, chunk: edited.chunk, original };
            Some((changed, edited.count, put))
        });
        let count = all.iter().map(|&(_, count, _)| count).sum();
        let (lowest, chunks): (Vec<Changed>, Vec<NewChunk>) =
            all.into_iter().map(|(changed, _, put)| (changed, put)).unzip();
        self.extend(lowest.iter().map(|changed| changed.node.chunk));
        let parts = match makes_levels {
            true => {
                self.write_edits().insert_all(chunks, self.grid());
                self.propagate(lowest, |siblings| self.propagate_made(siblings))
            }
            false => {
                let mut edits = self.write_edits();
                // The locks keep other threads from reading or caching outdated LOD voxels next to
                // edited ones.
                let mut cache = lock(&self.cache);
                edits.insert_all(chunks, self.grid());
                drop(edits);
                cache.begin_epoch(lowest.iter().map(|changed| changed.node.chunk));
                // Runs on this thread: threads of the pool may be waiting for the cache.
                self.propagate(lowest, |siblings| {
                    let propagate_level =
                        |children: &&[Changed]| self.propagate_derived(children, &mut cache);
                    siblings.iter().filter_map(propagate_level).collect()
                })
            }
        };
        Changes { count, number, parts }
    }

    /// Moves the source to its next frame, and updates the LOD voxels above the changed chunks. Chunks
    /// with unsaved edits stay as they are. Returns `None` if the source does not move.
    ///
    /// # Cost
    /// The source's time for the changed chunks, on all cores.
    pub(in crate::lod) fn advance(&self) -> Option<Changes> {
        let motion = self.source.motion()?;
        let mut editing = lock(&self.editing);
        *editing += 1;
        let number = *editing;
        let mut positions = motion.next_frame();
        positions.retain(|&position| self.read_edits().get(position.into()).is_none());
        let chunk = |&position: &ChunkPos| {
            let chunk = self.source.chunk(position).ok()?;
            Some((NodePos::from(position), chunk))
        };
        let chunks = each(&positions, chunk);
        // The lock keeps other threads from reading outdated LOD voxels next to new ones.
        let mut cache = lock(&self.cache);
        cache.begin_epoch(positions.iter().copied());
        positions.iter().for_each(|&position| cache.remove(position.into()));
        chunks.into_iter().for_each(|(node, chunk)| cache.insert(node, chunk));
        // Every voxel may have changed, so that the LOD voxels are made again.
        let changed = |&position: &ChunkPos| self.changed(position.into(), Span::WHOLE, None);
        let parts = self.propagate(positions.iter().map(changed).collect(), |siblings| {
            let propagate_level =
                |children: &&[Changed]| self.propagate_derived(children, &mut cache);
            siblings.iter().filter_map(propagate_level).collect()
        });
        Some(Changes { count: 0, number, parts })
    }

    /// Returns a chunk before its first edit, if it was edited and the source makes its own LOD
    /// voxels. The outer `None` means that the source failed.
    fn original(&self, node: NodePos) -> Option<Option<Chunk>> {
        if !self.source.makes_levels() {
            return Some(None);
        }
        if let Some(original) = self.read_edits().original(node) {
            return Some(Some(original.clone()));
        }
        match self.source.original_chunk(node) {
            None => Some(None),
            Some(Ok(original)) => Some(Some(original)),
            Some(Err(error)) => {
                self.note_fault(node, &error);
                None
            }
        }
    }

    /// Creates a change, with the changed voxels of the parent if the chunk is known.
    fn changed(&self, node: NodePos, span: Span, known: Option<&KnownChunk<'_>>) -> Changed {
        let index = node.index_in_parent();
        let above = known.map(|known| {
            let mut above = Vec::new();
            if node.level < self.top_level() {
                let chunks = [known.before, known.after];
                let original = known.original.as_ref().map(|it| Lookup::of(it, span.volume()));
                for_each_change(chunks, span, self.materials(), |block, material| {
                    let is_original = original
                        .as_ref()
                        .is_some_and(|it| it.lod_voxel(block, self.materials()) == material);
                    above.push(LodVoxel { at: block.in_octant(index), material, is_original });
                });
            }
            above
        });
        let chunks = known.map(|known| [known.before, known.after]);
        let (materials, all_sides) = (self.materials(), span.sides());
        let sides = chunks.map_or(all_sides, |chunks| span.changed_sides(chunks, materials));
        let is_opaque = chunks.is_some_and(|chunks| span.is_opaque(chunks, materials));
        Changed { node, span, sides, is_opaque, above }
    }

    /// Propagates changes to all higher levels. `propagate_level` gets the changed nodes grouped by
    /// parent, and returns the changes of these parents.
    fn propagate(
        &self,
        lowest: Vec<Changed>,
        mut propagate_level: impl FnMut(&[&[Changed]]) -> Vec<Changed>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut level = lowest;
        while let Some(first) = level.first() {
            let part = |&Changed { node, span, sides, is_opaque, .. }: &Changed| Part {
                node,
                span,
                sides,
                is_opaque,
            };
            parts.extend(level.iter().map(part));
            if first.node.level == self.top_level() {
                break;
            }
            // If no downsampled voxel has changed, nothing above changes.
            level.retain(|changed| changed.above.as_ref().is_none_or(|above| !above.is_empty()));
            level.sort_unstable_by_key(|changed| changed.node.parent());
            let siblings = level.chunk_by(|a, b| a.node.parent() == b.node.parent());
            let siblings: Vec<&[Changed]> = siblings.collect();
            level = propagate_level(&siblings);
        }
        parts
    }

    /// Updates parents if the source makes its own LOD voxels: sets the voxels whose children
    /// downsample to another result. A parent that cannot be read is not changed.
    fn propagate_made(&self, siblings: &[&[Changed]]) -> Vec<Changed> {
        let raised = each(siblings, |children| {
            let node = children.first()?.node.parent();
            let old = self.readable_chunk(node)?;
            let original = self.original(node)?;
            let (new, span) = with_lod_voxels(&old, original.as_ref().or(Some(&old)), children);
            let known = KnownChunk { before: &old, after: &new, original };
            let changed = self.changed(node, span, Some(&known));
            let original = Some(known.original.unwrap_or(old));
            Some((changed, NewChunk { node, chunk: new, original }))
        });
        let (level, chunks): (Vec<Changed>, Vec<NewChunk>) = raised.into_iter().unzip();
        self.write_edits().insert_all(chunks, self.grid());
        level
    }

    /// Updates a parent whose voxels are downsampled. A parent that is not cached is not made for
    /// this. Its next reader makes it from the edited children.
    fn propagate_derived(&self, children: &[Changed], cache: &mut ChunkCache) -> Option<Changed> {
        let node = children.first()?.node.parent();
        let is_cached = children.iter().all(|child| child.above.is_some());
        let Some(old) = is_cached.then(|| cache.get(node)).flatten() else {
            cache.remove(node);
            return Some(self.changed(node, span_above(children), None));
        };
        let (new, span) = with_lod_voxels(&old, None, children);
        let known = KnownChunk { before: &old, after: &new, original: None };
        let changed = self.changed(node, span, Some(&known));
        cache.insert(node, new);
        Some(changed)
    }
}

/// Applies a function to all items, on all cores if there are many.
fn each<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> Option<U> + Send + Sync) -> Vec<U> {
    match all.len() > MAX_SERIAL {
        true => all.par_iter().filter_map(work).collect(),
        false => all.iter().filter_map(work).collect(),
    }
}

/// Returns the bounds of the voxels of a parent that may have changed with its children.
fn span_above(children: &[Changed]) -> Span {
    let mut span = Span::EMPTY;
    for child in children {
        match &child.above {
            Some(above) => above.iter().for_each(|lod_voxel| span.add(lod_voxel.at)),
            None => span.add_all(child.span.in_parent(child.node.index_in_parent())),
        }
    }
    span
}

/// Returns a chunk with the voxels that its children have changed, and their bounds. Where the
/// children downsample as before the first edit, the `original` voxel is restored.
fn with_lod_voxels(old: &Chunk, original: Option<&Chunk>, children: &[Changed]) -> (Chunk, Span) {
    let lod_voxels: Vec<&LodVoxel> =
        children.iter().flat_map(|child| child.above.iter().flatten()).collect();
    let original = original.map(|it| Lookup::of(it, lod_voxels.len()));
    let mut span = Span::EMPTY;
    lod_voxels.iter().for_each(|lod_voxel| span.add(lod_voxel.at));
    let result = |lod_voxel: &LodVoxel| match &original {
        Some(original) if lod_voxel.is_original => original.get(lod_voxel.at),
        _ => lod_voxel.material,
    };
    (
        with_voxels_set(old, lod_voxels.iter().map(|lod_voxel| (lod_voxel.at, result(lod_voxel)))),
        span,
    )
}

/// An edited chunk of level 0, with the number and bounds of the changed voxels.
struct Edited {
    chunk: Chunk,
    count: u64,
    span: Span,
}

/// Number of voxels up to which they are set one by one. For more, the whole chunk is rewritten.
const MAX_SINGLE_VOXELS: u64 = 64;

/// Sets voxels of a chunk in the given order.
fn with_voxels(old: &Chunk, voxels: impl IntoIterator<Item = (LocalPos, Material)>) -> Edited {
    let mut edited = Edited { chunk: old.clone(), count: 0, span: Span::EMPTY };
    for (local, material) in voxels {
        if edited.chunk.set(local, material) != material {
            edited.count += 1;
            edited.span.add(local);
        }
    }
    edited
}

/// Applies the `n`-th chunk of an edit.
fn applied(edit: &Edit, n: usize, old: &Chunk) -> Edited {
    if edit.chunk_voxel_count(n) <= MAX_SINGLE_VOXELS {
        return with_voxels(old, edit.chunk_voxels(n));
    }
    let mut voxels = Vec::with_capacity(Chunk::SIDE.pow(3) as usize);
    old.for_each_row(|_, _, row| voxels.extend_from_slice(row));
    let mut edited = Edited { chunk: old.clone(), count: 0, span: Span::EMPTY };
    edit.apply_to_voxels(n, &mut voxels, |at| {
        edited.count += 1;
        edited.span.add(at);
    });
    edited.chunk = Chunk::from_voxels(Chunk::SIDE, &voxels).unwrap_or(edited.chunk);
    edited
}
