use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, VoxelBox, VoxelPos};

use super::span::Span;
use crate::edit::Edit;
use crate::shape::VoxelShape;

/// An edited chunk of level 0, with the number and bounds of the changed voxels.
pub(super) struct Edited {
    pub(super) chunk: Chunk,
    pub(super) count: u64,
    pub(super) span: Span,
}

/// Number of voxels up to which they are set one by one. For more, the whole chunk is rewritten.
const FEW_VOXELS: u64 = 64;

/// Sets voxels of a chunk in the given order.
pub(super) fn with_voxels(
    old: &Chunk,
    voxels: impl IntoIterator<Item = (LocalPos, Material)>,
) -> Edited {
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
pub(super) fn applied(edit: &Edit, n: usize, old: &Chunk) -> Edited {
    if edit.chunk_voxel_count(n) <= FEW_VOXELS {
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

/// Fills a shape in a chunk.
pub(super) fn filled(
    position: ChunkPos,
    old: &Chunk,
    shape: &VoxelShape,
    material: Material,
) -> Edited {
    let side = Chunk::SIDE as i32;
    let origin = position.origin(Chunk::SIDE);
    let mut edited = Edited { chunk: old.clone(), count: 0, span: Span::EMPTY };
    if old.uniform() == Some(material) {
        return edited;
    }
    if shape.covers_chunk(position, Chunk::SIDE) {
        return all_set(old, material);
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

/// Sets every voxel of a chunk.
fn all_set(old: &Chunk, material: Material) -> Edited {
    let last = Chunk::SIDE as u8 - 1;
    let (chunk, mut count, mut span) = (Chunk::new(Chunk::SIDE, material), 0, Span::EMPTY);
    if old.uniform().is_some() {
        span.add_all(Span { low: [0; 3], high: [last; 3] });
        return Edited { chunk, count: Chunk::SIDE.pow(3).into(), span };
    }
    old.for_each_row(|y, z, row| {
        let is_changed = |voxel: &Material| *voxel != material;
        let Some(first) = row.iter().position(is_changed) else { return };
        let last = row.iter().rposition(is_changed).unwrap_or(first);
        count += row.iter().filter(|voxel| is_changed(voxel)).count() as u64;
        for x in [first, last] {
            span.add(LocalPos::new(x as u8, y as u8, z as u8));
        }
    });
    Edited { chunk, count, span }
}

pub(super) fn box_of(chunk: ChunkPos) -> VoxelBox {
    let min = chunk.origin(Chunk::SIDE);
    let [x, y, z] = min.to_array().map(|c| c.saturating_add(Chunk::SIDE as i32));
    VoxelBox { min, max: VoxelPos::new(x, y, z) }
}

/// Whether a shape and a box share a voxel. It is enough to check the box's voxel nearest to the
/// centre of the shape.
pub(super) fn touches(shape: &VoxelShape, it: &VoxelBox) -> bool {
    let VoxelShape::Sphere { center, .. } = shape else { return true };
    let [center, min, max] = [*center, it.min, it.max].map(VoxelPos::to_array);
    let [x, y, z] = std::array::from_fn(|axis| center[axis].clamp(min[axis], max[axis] - 1));
    shape.contains(VoxelPos::new(x, y, z))
}
