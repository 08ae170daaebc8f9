use std::sync::Arc;

use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material};

use super::change::{ChunkEdit, Row};
use super::clipboard::{Clipboard, PasteAir, Placement, Reader};
use crate::shape::VoxelShape;

/// Kind of an edit, with its voxels and materials.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// Sets all voxels of shapes to one material.
    Fill { shapes: Vec<VoxelShape>, material: Material },
    /// Sets the voxels of one material in a shape to another.
    Replace { shape: VoxelShape, from: Material, to: Material },
    /// Sets the voxels of a box to copied ones.
    Paste { clipboard: Arc<Clipboard>, placement: Placement },
}

impl Operation {
    /// Returns boxes around all chunks that it may change. They may overlap.
    pub(super) fn chunks(&self, side: u32) -> Vec<ChunkBox> {
        let of = |shape: &VoxelShape| shape.chunks(side);
        match self {
            Self::Fill { shapes, .. } => shapes.iter().filter_map(of).collect(),
            Self::Replace { shape, .. } => of(shape).into_iter().collect(),
            Self::Paste { clipboard, placement } => {
                let bounds = placement.bounds(clipboard.size_voxels());
                of(&VoxelShape::Box(bounds)).into_iter().collect()
            }
        }
    }

    /// Returns its change of a chunk; `None` if nothing changes.
    pub(super) fn change(&self, position: ChunkPos, before: &Chunk) -> Option<ChunkEdit> {
        let side = before.side();
        let whole = |shape: &VoxelShape| shape.covers_chunk(position, side);
        match (self, before.uniform()) {
            (Self::Fill { material, .. }, Some(uniform)) if uniform == *material => None,
            (Self::Fill { shapes, material }, Some(uniform)) if shapes.iter().any(whole) => {
                Some(ChunkEdit::of_whole(position, side, [uniform, *material]))
            }
            (Self::Fill { shapes, material }, _) => {
                ChunkEdit::of_rows(position, before, &mut |row| {
                    shapes.iter().fold(false, |changed, shape| {
                        let part = within(shape, row);
                        part.fill(*material);
                        changed | !part.is_empty()
                    })
                })
            }
            (Self::Replace { from, .. }, Some(uniform)) if uniform != *from => None,
            (Self::Replace { shape, from, to }, Some(_)) if from != to && whole(shape) => {
                Some(ChunkEdit::of_whole(position, side, [*from, *to]))
            }
            (Self::Replace { shape, from, to }, _) => {
                ChunkEdit::of_rows(position, before, &mut |row| {
                    let part = within(shape, row);
                    part.iter_mut().filter(|voxel| *voxel == from).for_each(|voxel| *voxel = *to);
                    !part.is_empty()
                })
            }
            (Self::Paste { clipboard, placement }, _) => {
                let mut reader = Reader::new(clipboard);
                let size = clipboard.size_voxels();
                let shape = VoxelShape::Box(placement.bounds(size));
                ChunkEdit::of_rows(position, before, &mut |row| {
                    paste(&mut reader, placement, (&shape, size), row)
                })
            }
        }
    }
}

/// Returns the voxels of a row that are in a shape.
fn within<'a>(shape: &VoxelShape, row: &'a mut Row<'_>) -> &'a mut [Material] {
    let Some(span) = shape.row(row.start.y, row.start.z) else { return &mut [] };
    let count = row.voxels.len() as i32;
    let local = |x: i32| x.saturating_sub(row.start.x).clamp(0, count) as usize;
    let [start, end] = [span.start, span.end].map(local);
    row.voxels.get_mut(start..end.max(start)).unwrap_or_default()
}

/// Sets the voxels of a row that copied ones of a box `shape` replace. Returns whether there may be
/// any.
fn paste(
    reader: &mut Reader<'_>,
    placement: &Placement,
    (shape, size): (&VoxelShape, [u32; 3]),
    row: &mut Row<'_>,
) -> bool {
    let start = row.start;
    let part = within(shape, row);
    let min = placement.at;
    // The part begins where the later of both does.
    let first = start.x.max(min.x).abs_diff(min.x);
    let [y, z] = [start.y.abs_diff(min.y), start.z.abs_diff(min.z)];
    for (x, voxel) in (first..).zip(part.iter_mut()) {
        match reader.get(placement.orientation.source([x, y, z], size)) {
            Some(Material::AIR) if placement.air == PasteAir::Skipped => {}
            Some(material) => *voxel = material,
            None => {}
        }
    }
    !part.is_empty()
}
