//! The blending order of the quads within one mesh.

mod partition;
mod piece;
mod sides;

use drystone_mesh::{Face, Quad};

use self::{
    partition::{Partition, Plane},
    piece::Piece,
    sides::Sides,
};
use crate::mesh_data::{Layer, MeshData};

/// Order of a blended mesh whose quads cannot be right for every camera in the order of the mesh:
/// panes that stand behind each other in several directions.
///
/// ```text
///  mesh order, by face direction          two panes seen from above; the camera is at c
///  −X −Y −Z +X +Y +Z                          ────┬────  a
///                                                 │
///  right for lakes and convex bodies              │ b         From c, part of b is in front of a.
///                                               c │           From other points, a hides part of b.
/// ```
/// Most meshes, such as those of lakes, are right in their own order and have no value of this type.
/// The others are cut along planes of the voxel grid until each part has one order for every camera.
/// The order of the parts is exact, and depends only on the sides of these planes that the camera
/// is on. So it changes only when the camera crosses one of them.
#[derive(Debug)]
pub(crate) struct QuadOrder {
    partition: Partition,
    /// The planes of the partition, by axis, in ascending order, in cells.
    planes: [Vec<u16>; 3],
    /// Number of cells along the side of a voxel.
    cells: u32,
    /// The part of space for which the quads are sorted; `None` at first.
    sorted_for: Option<Between>,
}

/// Number of planes below the camera along each axis.
type Between = [usize; 3];

impl QuadOrder {
    /// Creates the order of a mesh; `None` if the mesh is right in its own order for every camera,
    /// opaque or not valid.
    ///
    /// # Cost
    /// O(quads), some ten nanoseconds each, if the mesh is right. Otherwise O(n log n) for n quads after
    /// cutting, about a microsecond each.
    pub(crate) fn new(mesh: &MeshData<'_>) -> Option<Self> {
        let counted: u64 = mesh.counts.iter().map(|&count| u64::from(count)).sum();
        if mesh.layer != Layer::Blended || counted != mesh.quads.len() as u64 {
            return None;
        }
        let has_fine = mesh.quads.iter().any(|quad| quad.is_fine());
        let cells = if has_fine { Quad::FINE_CELLS } else { 1 };
        let mut sides = Sides::default();
        let mut are_layers_sorted = true;
        let mut last = (Face::NegX, i16::MIN);
        for &quad in mesh.quads {
            let piece = Piece::new(quad, cells)?;
            sides.add(&piece);
            are_layers_sorted &= last <= piece.layer();
            last = piece.layer();
        }
        if are_layers_sorted && sides.are_in_order() {
            return None;
        }
        let pieces = mesh.quads.iter().filter_map(|&quad| Piece::new(quad, cells)).collect();
        let partition = Partition::new(pieces, cells);
        let planes = [0, 1, 2].map(|axis| {
            let across = partition.planes().filter(|plane| plane.axis == axis);
            let mut planes: Vec<u16> = across.map(|plane| plane.cells).collect();
            planes.sort_unstable();
            planes.dedup();
            planes
        });
        Some(Self { partition, planes, cells, sorted_for: None })
    }

    /// Number of quads in each part of a mesh in a pool or a geometry: all are in the first, because
    /// the order mixes face directions.
    pub(crate) const fn counts(&self) -> [u32; Face::COUNT] {
        let mut counts = [0; Face::COUNT];
        counts[0] = self.partition.len() as u32;
        counts
    }

    /// Replaces `quads` by all quads in the order for a camera at `position`, in voxels of the mesh
    /// from its origin. Returns `false` without changes if the order is that of the last call.
    ///
    /// # Cost
    /// O(log planes) without changes; else O(quads).
    pub(crate) fn sort(&mut self, position: [f64; 3], quads: &mut Vec<Quad>) -> bool {
        let cells = position.map(|coordinate| coordinate * f64::from(self.cells));
        let between = [0, 1, 2]
            .map(|axis| self.planes[axis].partition_point(|&plane| f64::from(plane) < cells[axis]));
        if self.sorted_for == Some(between) {
            return false;
        }
        let is_above = |Plane { axis, cells: plane }| f64::from(plane) < cells[usize::from(axis)];
        self.partition.sort(is_above, quads);
        self.sorted_for = Some(between);
        true
    }

    /// Forgets the last order, which could not be stored: the next [`sort`](Self::sort) returns it
    /// again.
    pub(crate) const fn forget(&mut self) {
        self.sorted_for = None;
    }
}

#[cfg(test)]
pub(crate) mod tests;
