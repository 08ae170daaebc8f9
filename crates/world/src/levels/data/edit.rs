use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelPos};
use rayon::prelude::*;

use super::super::cache::Cache;
use super::span::Span;
use super::votes::for_each_change;
use super::{LevelData, lock};
use crate::{NodePos, VoxelBox, VoxelShape};

/// What an edit changed.
#[derive(Default)]
pub(in crate::levels) struct Changes {
    /// How often a voxel of level 0 became another.
    pub(in crate::levels) count: u64,
    /// The nodes whose voxels are others now, each once, and where.
    pub(in crate::levels) parts: Vec<(NodePos, Span)>,
}

/// A node that has changed.
struct Changed {
    node: NodePos,
    span: Span,
    /// The voxels of its parent that are others now; `None` where nobody knows, since nobody
    /// has asked for the node lately.
    above: Option<Vec<(LocalPos, Material)>>,
}

/// A chunk of level 0 as it is to be, in how many voxels it was changed, and where.
struct Edited {
    chunk: Chunk,
    count: u64,
    span: Span,
}

/// Up to so many chunks are edited by whoever asks; more, on all cores.
const FEW: usize = 4;

impl LevelData {
    /// Sets voxels, in their order, and at every level the voxels that stand for them. Those
    /// outside of the world, and where the source failed, stay as they are: what lies there is
    /// to be kept.
    pub(in crate::levels) fn set(
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
            let mut edited = Edited { chunk: old.clone(), count: 0, span: Span::EMPTY };
            for &(_, local, material) in by_chunk[n] {
                if edited.chunk.set(local, material) != material {
                    edited.count += 1;
                    edited.span.add(local);
                }
            }
            edited
        })
    }

    /// Sets all voxels of a shape, as [`set`](Self::set) would one after the other.
    ///
    /// # Cost
    /// About 0.2 ms a chunk that the shape touches, on all cores; more for chunks that were not
    /// used lately, which the source makes.
    pub(in crate::levels) fn fill(&self, shape: &VoxelShape, material: Material) -> Changes {
        let positions = self.touched(shape);
        let places = positions.clone();
        self.edit(positions, &|n, old| filled(places[n], old, shape, material))
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
        let _editing = lock(&self.editing);
        let one = |(n, position): (usize, &ChunkPos)| {
            let node = NodePos::from(*position);
            let old = if self.is_inside(node) { self.readable_chunk(node)? } else { return None };
            let edited = change(n, &old);
            let changed = self.changed(node, edited.span, Some([&old, &edited.chunk]));
            (edited.count > 0).then_some((changed, edited))
        };
        let both: Vec<(Changed, Edited)> = if positions.len() > FEW {
            positions.par_iter().enumerate().filter_map(one).collect()
        } else {
            positions.iter().enumerate().filter_map(one).collect()
        };
        let count = both.iter().map(|(_, edited)| edited.count).sum();
        let (lowest, chunks): (Vec<Changed>, Vec<Edited>) = both.into_iter().unzip();
        let chunks = lowest.iter().map(|it| it.node).zip(chunks.into_iter().map(|it| it.chunk));
        let parts = match self.source.makes_levels() {
            true => {
                self.write_edits().put_all(chunks, self.top);
                self.raise_all(lowest, |node, children| self.raise_made(node, children))
            }
            false => {
                let mut edits = self.write_edits();
                // Nobody finds a larger voxel of before beside a smaller one of after, nor puts
                // one here.
                let mut cache = lock(&self.cache);
                edits.put_all(chunks, self.top);
                drop(edits);
                cache.begin_epoch();
                self.raise_all(lowest, |node, children| {
                    self.raise_derived(node, children, &mut cache)
                })
            }
        };
        Changes { count, parts }
    }

    /// A change with what it means for the parent, if `chunks` before and after are known.
    fn changed(&self, node: NodePos, span: Span, chunks: Option<[&Chunk; 2]>) -> Changed {
        let index = node.index_in_parent();
        let above = chunks.map(|chunks| {
            let mut above = Vec::new();
            if node.level < self.top {
                for_each_change(chunks, span, self.materials(), |block, material| {
                    above.push((block.in_octant(index), material));
                });
            }
            above
        });
        Changed { node, span, above }
    }

    /// From the changes of one level those of all above it; `raise` says what becomes of a
    /// node when some of its children have changed.
    fn raise_all(
        &self,
        lowest: Vec<Changed>,
        mut raise: impl FnMut(NodePos, &[Changed]) -> Option<Changed>,
    ) -> Vec<(NodePos, Span)> {
        let mut parts = Vec::new();
        let mut level = lowest;
        while let Some(first) = level.first() {
            parts.extend(level.iter().map(|changed| (changed.node, changed.span)));
            if first.node.level == self.top {
                break;
            }
            // Where the vote of no eight voxels has changed, nothing above has.
            level.retain(|changed| changed.above.as_ref().is_none_or(|above| !above.is_empty()));
            level.sort_unstable_by_key(|changed| changed.node.parent());
            let siblings = level.chunk_by(|a, b| a.node.parent() == b.node.parent());
            level = siblings.filter_map(|some| raise(some.first()?.node.parent(), some)).collect();
        }
        parts
    }

    /// Where the source makes larger voxels itself, those for which another vote was cast are
    /// set. Nothing changes where the source failed.
    fn raise_made(&self, node: NodePos, children: &[Changed]) -> Option<Changed> {
        let old = self.readable_chunk(node)?;
        let (new, span) = with_votes(&old, children);
        let changed = self.changed(node, span, Some([&old, &new]));
        self.write_edits().put_all([(node, new)], self.top);
        Some(changed)
    }

    /// Where larger voxels follow from smaller ones, a chunk that is not remembered is not made
    /// for this: whoever asks for it next makes it of what is there then.
    fn raise_derived(
        &self,
        node: NodePos,
        children: &[Changed],
        cache: &mut Cache,
    ) -> Option<Changed> {
        let is_known = children.iter().all(|child| child.above.is_some());
        let Some(old) = is_known.then(|| cache.get(node)).flatten() else {
            cache.remove(node);
            let mut span = Span::EMPTY;
            for child in children {
                match &child.above {
                    Some(above) => above.iter().for_each(|&(local, _)| span.add(local)),
                    None => span.add_all(child.span.in_parent(child.node.index_in_parent())),
                }
            }
            return Some(self.changed(node, span, None));
        };
        let (new, span) = with_votes(&old, children);
        let changed = self.changed(node, span, Some([&old, &new]));
        cache.insert(node, new);
        Some(changed)
    }
}

/// A chunk in which the voxels are set that its children have changed, and where these are.
fn with_votes(old: &Chunk, children: &[Changed]) -> (Chunk, Span) {
    let (mut new, mut span) = (old.clone(), Span::EMPTY);
    for &(local, material) in children.iter().flat_map(|child| child.above.iter().flatten()) {
        new.set(local, material);
        span.add(local);
    }
    (new, span)
}

/// A chunk in which a shape was filled.
fn filled(position: ChunkPos, old: &Chunk, shape: &VoxelShape, material: Material) -> Edited {
    let side = Chunk::SIDE as i32;
    let origin = position.origin(Chunk::SIDE);
    let mut edited = Edited { chunk: old.clone(), count: 0, span: Span::EMPTY };
    if old.uniform() == Some(material) {
        return edited;
    }
    let mut voxels = Vec::with_capacity(Chunk::SIDE.pow(3) as usize);
    old.for_each_row(|y, z, row| {
        let first = voxels.len();
        voxels.extend_from_slice(row);
        let Some(within) = shape.row(origin.y + y as i32, origin.z + z as i32) else { return };
        let [start, end] =
            [within.start, within.end].map(|x| x.saturating_sub(origin.x).clamp(0, side) as usize);
        let part = &mut voxels[first + start..first + end.max(start)];
        let mut ends = None;
        for (x, voxel) in (start..).zip(part).filter(|(_, voxel)| **voxel != material) {
            *voxel = material;
            edited.count += 1;
            ends = Some((ends.map_or(x, |(first, _)| first), x));
        }
        if let Some((first, last)) = ends {
            for x in [first, last] {
                edited.span.add(LocalPos::new(x as u8, y as u8, z as u8));
            }
        }
    });
    edited.chunk = Chunk::from_voxels(Chunk::SIDE, &voxels).unwrap_or(edited.chunk);
    edited
}

fn box_of(chunk: ChunkPos) -> VoxelBox {
    let min = chunk.origin(Chunk::SIDE);
    let [x, y, z] = min.to_array().map(|c| c.saturating_add(Chunk::SIDE as i32));
    VoxelBox { min, max: VoxelPos::new(x, y, z) }
}

/// Whether a shape and a box have a voxel in common: if so, they have one where the shape is
/// nearest to its own middle.
fn touches(shape: &VoxelShape, it: &VoxelBox) -> bool {
    let VoxelShape::Sphere { center, .. } = shape else { return true };
    let [center, min, max] = [*center, it.min, it.max].map(VoxelPos::to_array);
    let [x, y, z] = std::array::from_fn(|axis| center[axis].clamp(min[axis], max[axis] - 1));
    shape.contains(VoxelPos::new(x, y, z))
}
