use drystone_mesh::{Face, Quad};

use crate::Halo;

/// Extents of the voxels to mesh. Materials are stored with a halo of one voxel around them, X
/// fastest, then Y, then Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub extents: [usize; 3],
    /// Whether the halo may contain voxels. Otherwise it is empty.
    pub halo: Halo,
}

impl Grid {
    pub(super) const fn cube(side: u32) -> Self {
        Self { extents: [side as usize; 3], halo: Halo::One }
    }

    /// Returns the distance between adjacent voxels along an axis.
    #[inline(always)]
    pub(super) const fn stride(&self, axis: usize) -> usize {
        let [nx, ny, _] = self.extents;
        match axis {
            0 => 1,
            1 => nx + 2,
            _ => (nx + 2) * (ny + 2),
        }
    }

    /// Returns the index, in a slice with its halo, of the first cell of a caller's row.
    #[inline(always)]
    pub(super) const fn first_of_row(&self, row: usize) -> usize {
        let inset = 1 - self.halo.width();
        (row + inset) * self.stride(1) + inset
    }

    /// Returns the extents along the [`axes`] of bits and of rows of the layers perpendicular to an axis.
    #[inline(always)]
    pub(super) fn layer_extents(&self, axis: usize) -> [usize; 2] {
        axes(axis).map(|axis| self.extents[axis])
    }
}

/// Returns the axes of bits and of rows in the layers perpendicular to an axis: Y and Z for X, X and Z
/// for Y, X and Y for Z.
#[inline(always)]
pub(super) const fn axes(axis: usize) -> [usize; 2] {
    match axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// Axes of a caller's array, for each axis of a [`Grid`]. The first axis of a grid is the one whose
/// cells are closest to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axes(pub [usize; 3]);

impl Axes {
    /// Axes in the order of the grid.
    pub(super) const SAME: Self = Self([0, 1, 2]);

    /// Returns the face direction of the grid that is `face` of the array.
    pub(super) fn grid_face(self, face: Face) -> Face {
        let axis = self.0.iter().position(|&axis| axis == face.axis()).unwrap_or_default();
        directed(axis, face.is_positive())
    }

    /// Returns the face direction of the array that is `grid` of the grid.
    pub(super) fn face(self, grid: Face) -> Face {
        directed(self.0[grid.axis()], grid.is_positive())
    }

    /// Converts a quad of the grid to the axes of the array.
    pub(super) fn quad(self, quad: Quad) -> Quad {
        let grid_face = quad.face().unwrap_or(Face::NegX);
        let face = self.face(grid_face);
        let mut position = [0; 3];
        for (axis, coordinate) in self.0.into_iter().zip(quad.position()) {
            position[axis] = coordinate;
        }
        let ([width, height], occlusion) = (quad.size(), quad.ambient_occlusion());
        let mut steps = quad.steps();
        let is_swapped = self.0[grid_face.span_axes()[0]] != face.span_axes()[0];
        let (size, occlusion) = if is_swapped {
            // Corners 1 and 2 change places.
            steps.swap(0, 1);
            let [kept, up, down] = [0b1100_0011, 0b0000_1100, 0b0011_0000].map(|it| occlusion & it);
            ([height, width], kept | up << 2 | down >> 2)
        } else {
            ([width, height], occlusion)
        };
        let quad = Quad::new(position, size, face, quad.material());
        quad.with_ambient_occlusion(occlusion).with_steps(steps)
    }
}

fn directed(axis: usize, is_positive: bool) -> Face {
    let face = Face::ALL[axis % 3];
    if is_positive { face.opposite() } else { face }
}
