use drystone_mesh::FaceSet;
use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelPos};
use rayon::prelude::*;

use super::super::cache::Cache;
use super::edited_chunk::{Edited, applied, box_of, filled, touches, with_voxels};
use super::edits::Put;
use super::span::Span;
use super::votes::{Lookup, for_each_change, with_voxels_set};
use super::{LodData, lock};
use crate::{Edit, NodePos, VoxelShape};

/// What an edit changed.
#[derive(Default)]
pub(in crate::lod) struct Changes {
    /// How often a voxel of level 0 became another.
    pub(in crate::lod) count: u64,
    /// Which edit of these data it was, counted from 1.
    pub(in crate::lod) number: u64,
    /// The nodes whose voxels are others now, each once.
    pub(in crate::lod) parts: Vec<Part>,
}

/// Of a node that has changed, what.
#[derive(Clone, Copy, Debug)]
pub(in crate::lod) struct Part {
    pub(in crate::lod) node: NodePos,
    /// Where its voxels are others now.
    pub(in crate::lod) span: Span,
    /// The sides at which its neighbours may show other faces.
    pub(in crate::lod) sides: FaceSet,
}

/// A node that has changed.
struct Changed {
    node: NodePos,
    span: Span,
    sides: FaceSet,
    /// The voxels of its parent that are others now; `None` where nobody knows, since nobody
    /// has asked for the node lately.
    above: Option<Vec<Vote>>,
}

/// The voxel that stands for eight below it by their vote.
#[derive(Clone, Copy)]
struct Vote {
    at: LocalPos,
    material: Material,
    /// Whether they voted so before anything was edited: then the voxel that the source has
    /// made for them stands again, which may be another.
    is_original: bool,
}

/// What a chunk is now, and the two that it was.
struct Known<'a> {
    before: &'a Chunk,
    after: &'a Chunk,
    /// Before it was ever edited, where that is asked for and it was another than `before`.
    original: Option<Chunk>,
}

/// Up to so many chunks are edited by whoever asks; more, on all cores.
const MAX_SERIAL: usize = 4;

impl LodData {
    /// Sets voxels, in their order, and at every level the voxels that stand for them. Those
    /// outside of the world, and where the source failed, stay as they are: what lies there is
    /// to be kept.
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
        // Those of a chunk stay in their order.
        sorted.sort_by_key(|&(chunk, ..)| chunk);
        let by_chunk: Vec<&[(ChunkPos, LocalPos, Material)]> =
            sorted.chunk_by(|a, b| a.0 == b.0).collect();
        let positions = by_chunk.iter().map(|of_chunk| of_chunk[0].0).collect();
        self.edit(positions, &|n, old| {
            let voxels = by_chunk[n].iter().map(|&(_, local, material)| (local, material));
            with_voxels(old, voxels)
        })
    }

    /// Sets all voxels of a shape, as [`set`](Self::set) would one after the other.
    ///
    /// # Cost
    /// About 0.2 ms a chunk that the shape touches, on all cores; more for chunks that were not
    /// used lately, which the source makes.
    pub(in crate::lod) fn fill(&self, shape: &VoxelShape, material: Material) -> Changes {
        let positions = self.touched(shape);
        let chunk_positions = positions.clone();
        self.edit(positions, &|n, old| filled(chunk_positions[n], old, shape, material))
    }

    /// Sets what an edit changes, as [`set`](Self::set) would voxel by voxel.
    ///
    /// # Cost
    /// As [`fill`](Self::fill).
    pub(in crate::lod) fn apply(&self, edit: &Edit) -> Changes {
        if edit.side() != Chunk::SIDE {
            return self.set(edit.voxels());
        }
        let positions = edit.chunks().map(|(position, _)| position).collect();
        self.edit(positions, &|n, old| applied(edit, n, old))
    }

    /// The chunks inside of the world that a shape may touch, in the order of positions.
    fn touched(&self, shape: &VoxelShape) -> Vec<ChunkPos> {
        let (Some(extent), Some(bounds)) = (self.extent, shape.bounds()) else {
            return Vec::new();
        };
        let [x, y, z] = bounds.max.to_array().map(|c| c - 1);
        let [low, high] = [bounds.min, VoxelPos::new(x, y, z)].map(|it| it.split(Chunk::SIDE).0);
        let [low, min] = [low, extent.min].map(|c| [c.x, c.y, c.z]);
        let [high, max] = [high, extent.max].map(|c| [c.x, c.y, c.z]);
        let [x, y, z] =
            std::array::from_fn(|axis| low[axis].max(min[axis])..=high[axis].min(max[axis]));
        let mut touched = Vec::new();
        for x in x {
            for y in y.clone() {
                touched.extend(z.clone().map(|z| ChunkPos::new(x, y, z)));
            }
        }
        touched.retain(|&chunk| touches(shape, &box_of(chunk)));
        touched
    }

    /// Changes chunks of level 0 as `change` says of the n-th of them, and all above them. One
    /// edit goes on at a time.
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
        let one = |(n, position): (usize, &ChunkPos)| {
            let node = NodePos::from(*position);
            let old = if self.is_inside(node) { self.readable_chunk(node)? } else { return None };
            let edited = change(n, &old);
            if edited.count == 0 {
                return None;
            }
            let original = self.original(node)?;
            let known = Known { before: &old, after: &edited.chunk, original };
            let changed = self.changed(node, edited.span, Some(&known));
            let original = known.original;
            let original = makes_levels.then(|| original.unwrap_or(old));
            let put = Put { node, chunk: edited.chunk, original };
            Some((changed, edited.count, put))
        };
        let all: Vec<(Changed, u64, Put)> = if positions.len() > MAX_SERIAL {
            positions.par_iter().enumerate().filter_map(one).collect()
        } else {
            positions.iter().enumerate().filter_map(one).collect()
        };
        let count = all.iter().map(|&(_, count, _)| count).sum();
        let (lowest, chunks): (Vec<Changed>, Vec<_>) =
            all.into_iter().map(|(changed, _, put)| (changed, put)).unzip();
        let parts = match makes_levels {
            true => {
                self.write_edits().put_all(chunks, self.top);
                self.propagate(lowest, |siblings| self.propagate_made(siblings))
            }
            false => {
                let mut edits = self.write_edits();
                // Nobody finds a larger voxel of before beside a smaller one of after, nor puts
                // one here.
                let mut cache = lock(&self.cache);
                edits.put_all(chunks, self.top);
                drop(edits);
                cache.begin_epoch(lowest.iter().map(|changed| changed.node.chunk));
                // Here, since threads that take part in something else may wait for the cache.
                self.propagate(lowest, |siblings| {
                    let raise =
                        |children: &&[Changed]| self.propagate_derived(children, &mut cache);
                    siblings.iter().filter_map(raise).collect()
                })
            }
        };
        Changes { count, number, parts }
    }

    /// What a chunk was before it was ever edited, if it was and if the source makes larger
    /// voxels, which may stand again; the outer `None` where the source failed.
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

    /// A change with what it means for the parent, if that is known of the chunk.
    fn changed(&self, node: NodePos, span: Span, known: Option<&Known<'_>>) -> Changed {
        let index = node.index_in_parent();
        let above = known.map(|known| {
            let mut above = Vec::new();
            if node.level < self.top {
                let chunks = [known.before, known.after];
                let original = known.original.as_ref().map(|it| Lookup::of(it, span.volume()));
                for_each_change(chunks, span, self.materials(), |block, material| {
                    let is_original = original
                        .as_ref()
                        .is_some_and(|it| it.vote(block, self.materials()) == material);
                    above.push(Vote { at: block.in_octant(index), material, is_original });
                });
            }
            above
        });
        let sides = match known {
            Some(known) => span.changed_sides([known.before, known.after], self.materials()),
            None => span.sides(),
        };
        Changed { node, span, sides, above }
    }

    /// From the changes of one level those of all above it; `raise` says what becomes of the
    /// nodes of which some children have changed: each a few of these.
    fn propagate(
        &self,
        lowest: Vec<Changed>,
        mut raise: impl FnMut(&[&[Changed]]) -> Vec<Changed>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut level = lowest;
        while let Some(first) = level.first() {
            let part = |&Changed { node, span, sides, .. }: &Changed| Part { node, span, sides };
            parts.extend(level.iter().map(part));
            if first.node.level == self.top {
                break;
            }
            // Where the vote of no eight voxels has changed, nothing above has.
            level.retain(|changed| changed.above.as_ref().is_none_or(|above| !above.is_empty()));
            level.sort_unstable_by_key(|changed| changed.node.parent());
            let siblings = level.chunk_by(|a, b| a.node.parent() == b.node.parent());
            let siblings: Vec<&[Changed]> = siblings.collect();
            level = raise(&siblings);
        }
        parts
    }

    /// Where the source makes larger voxels itself, those for which another vote was cast are
    /// set. Nothing changes where the source failed.
    fn propagate_made(&self, siblings: &[&[Changed]]) -> Vec<Changed> {
        let raised = each(siblings, |children| {
            let node = children.first()?.node.parent();
            let old = self.readable_chunk(node)?;
            let original = self.original(node)?;
            let (new, span) = with_votes(&old, original.as_ref().or(Some(&old)), children);
            let known = Known { before: &old, after: &new, original };
            let changed = self.changed(node, span, Some(&known));
            let original = Some(known.original.unwrap_or(old));
            Some((changed, Put { node, chunk: new, original }))
        });
        let (level, chunks): (Vec<Changed>, Vec<Put>) = raised.into_iter().unzip();
        self.write_edits().put_all(chunks, self.top);
        level
    }

    /// Where larger voxels follow from smaller ones, a chunk that is not remembered is not made
    /// for this: whoever asks for it next makes it of what is there then.
    fn propagate_derived(&self, children: &[Changed], cache: &mut Cache) -> Option<Changed> {
        let node = children.first()?.node.parent();
        let is_known = children.iter().all(|child| child.above.is_some());
        let Some(old) = is_known.then(|| cache.get(node)).flatten() else {
            cache.remove(node);
            return Some(self.changed(node, span_above(children), None));
        };
        let (new, span) = with_votes(&old, None, children);
        let known = Known { before: &old, after: &new, original: None };
        let changed = self.changed(node, span, Some(&known));
        cache.insert(node, new);
        Some(changed)
    }
}

/// Does something with each that is there: with many, on all cores.
fn each<T: Sync, U: Send>(all: &[T], work: impl Fn(&T) -> Option<U> + Send + Sync) -> Vec<U> {
    match all.len() > MAX_SERIAL {
        true => all.par_iter().filter_map(work).collect(),
        false => all.iter().filter_map(work).collect(),
    }
}

/// Where a node may be another after its children have changed.
fn span_above(children: &[Changed]) -> Span {
    let mut span = Span::EMPTY;
    for child in children {
        match &child.above {
            Some(above) => above.iter().for_each(|vote| span.add(vote.at)),
            None => span.add_all(child.span.in_parent(child.node.index_in_parent())),
        }
    }
    span
}

/// A chunk in which the voxels are set that its children have changed, and where these are;
/// where they vote as ever, it becomes the `original` again.
fn with_votes(old: &Chunk, original: Option<&Chunk>, children: &[Changed]) -> (Chunk, Span) {
    let votes: Vec<&Vote> =
        children.iter().flat_map(|child| child.above.iter().flatten()).collect();
    let original = original.map(|it| Lookup::of(it, votes.len()));
    let mut span = Span::EMPTY;
    votes.iter().for_each(|vote| span.add(vote.at));
    let stands = |vote: &Vote| match &original {
        Some(original) if vote.is_original => original.get(vote.at),
        _ => vote.material,
    };
    (with_voxels_set(old, votes.iter().map(|vote| (vote.at, stands(vote)))), span)
}
