use drystone_mesh::{Face, Quad};

use crate::{Error, Material};

/// Cell of a caller's array, as a mesher reads it.
///
/// Keep both methods `#[inline]` and free of branches where possible: a mesher calls them once for
/// every cell, in loops that compilers vectorise.
///
/// # Examples
/// ```
/// use drystone_voxel::{Visibility, Voxel};
///
/// #[derive(Clone, Copy)]
/// struct Block {
///     id: u16,
///     light: u8,
/// }
///
/// impl Voxel for Block {
///     fn visibility(self) -> Visibility {
///         if self.id == 0 { Visibility::Empty } else { Visibility::Opaque }
///     }
///
///     // Faces of different light do not merge.
///     fn key(self) -> u32 {
///         u32::from(self.id) | u32::from(self.light) << 16
///     }
/// }
/// # assert_eq!(Block { id: 1, light: 2 }.key(), 0x2_0001);
/// ```
pub trait Voxel: Copy {
    /// Returns whether the voxel is drawn, and whether it hides what is behind it.
    fn visibility(self) -> Visibility;

    /// Returns the merge key, which quads carry. Two adjacent faces can become one quad if their
    /// voxels have equal keys, and both or neither are translucent. The key of an empty voxel is ignored.
    fn key(self) -> u32;
}

/// Visibility of a voxel.
///
/// A voxel shows its face towards every neighbour that is not opaque. Exception: a translucent voxel
/// shows no face towards a translucent neighbour with the same merge key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Visibility {
    /// Not drawn, such as air.
    #[default]
    Empty = 0,
    /// Drawn, and shows what is behind it.
    Translucent = 1,
    /// Drawn, and hides what is behind it.
    Opaque = 2,
    /// Drawn among opaque voxels with a texture that has holes, which show what is behind it.
    CutOut = 4,
}

/// Implements [`Voxel`] for types in which zero is empty and other values are opaque.
macro_rules! opaque_unless_zero {
    ($($cell:ty, $of:ident => $key:expr);+) => {$(
        #[doc = "Zero is empty, all other values are opaque. The merge key is the value."]
        impl Voxel for $cell {
            #[inline(always)]
            fn visibility(self) -> Visibility {
                if self.key() == 0 { Visibility::Empty } else { Visibility::Opaque }
            }

            #[inline(always)]
            fn key(self) -> u32 {
                let $of = self;
                $key
            }
        }
    )+};
}

opaque_unless_zero!(
    bool, value => u32::from(value);
    u8, value => u32::from(value);
    u16, value => u32::from(value);
    u32, value => value;
    Material, value => u32::from(value.0)
);

/// Voxels around an array, which decide whether faces on its border are visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Halo {
    /// The slice contains only the voxels of the array. All around is empty.
    #[default]
    None,
    /// The slice contains one more voxel on each side, from the neighbours of the array.
    One,
}

impl Halo {
    /// Returns the number of halo voxels before the first voxel along an axis.
    #[inline]
    pub(crate) const fn width(self) -> usize {
        matches!(self, Self::One) as usize
    }
}

/// View of a caller's dense array of voxels, with checked extents and strides.
///
/// Cell `(x, y, z)` is at `x * strides[0] + y * strides[1] + z * strides[2]` of the slice. With
/// [`Halo::One`], cell `(0, 0, 0)` belongs to the halo, and the voxels to mesh begin at `(1, 1, 1)`.
/// The array may be part of a larger one, with axes in any order.
///
/// # Examples
/// A level of 16 × 8 × 16 blocks, with Y as the slowest axis:
/// ```
/// use drystone_voxel::{ChunkMesh, GreedyMesher, Halo, VoxelArray};
///
/// let mut blocks = vec![0_u8; 16 * 16 * 8];
/// blocks[..16 * 16].fill(7); // a floor
/// let array = VoxelArray::with_strides(&blocks, [16, 8, 16], [1, 16 * 16, 16], Halo::None)?;
/// let mut mesh = ChunkMesh::new();
/// GreedyMesher::new().mesh_array(&array, &mut mesh)?;
/// assert_eq!(mesh.opaque.len(), 6);
/// assert_eq!(mesh.opaque.quads()[0].material(), 7);
/// # Ok::<(), drystone_voxel::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VoxelArray<'a, V> {
    cells: &'a [V],
    extents: [u32; 3],
    strides: [usize; 3],
    halo: Halo,
}

impl<'a, V: Voxel> VoxelArray<'a, V> {
    /// Creates a view of a packed array: X fastest, then Y, then Z. `extents` are the voxels to mesh
    /// along each axis, without the halo.
    ///
    /// # Errors
    /// [`Error::Extents`] and [`Error::OutOfSlice`].
    pub fn new(cells: &'a [V], extents: [u32; 3], halo: Halo) -> Result<Self, Error> {
        let [x, y, _] = extents.map(|extent| (extent as usize).saturating_add(2 * halo.width()));
        Self::with_strides(cells, extents, [1, x, x.saturating_mul(y)], halo)
    }

    /// Creates a view with a distance between adjacent voxels along each axis, in cells.
    ///
    /// # Errors
    /// - [`Error::Extents`] if an extent is 0 or above 64.
    /// - [`Error::Overlap`] if a stride is not larger than the span of the axes with smaller
    ///   strides. The stride of an axis with one cell is ignored.
    /// - [`Error::OutOfSlice`] if the last cell is outside `cells`.
    pub fn with_strides(
        cells: &'a [V],
        extents: [u32; 3],
        strides: [usize; 3],
        halo: Halo,
    ) -> Result<Self, Error> {
        if extents.iter().any(|extent| !(1..=Quad::MAX_SIDE).contains(extent)) {
            return Err(Error::Extents { extents });
        }
        let steps = extents.map(|extent| extent as usize - 1 + 2 * halo.width());
        let mut array = Self { cells, extents, strides, halo };
        let mut last = 0_usize;
        for axis in array.axes() {
            if steps[axis] == 0 {
                array.strides[axis] = 1;
            } else if strides[axis] <= last {
                return Err(Error::Overlap { strides });
            }
            last = last.saturating_add(strides[axis].saturating_mul(steps[axis]));
        }
        match last.saturating_add(1) {
            required if last < cells.len() && required <= cells.len() => Ok(array),
            required => Err(Error::OutOfSlice { required, len: cells.len() }),
        }
    }

    /// Extents of the voxels to mesh along each axis, without the halo.
    #[inline]
    pub const fn extents(&self) -> [u32; 3] {
        self.extents
    }

    /// Whether the slice contains a halo.
    #[inline]
    pub const fn halo(&self) -> Halo {
        self.halo
    }

    /// Returns the voxel at a position without the halo; −1 and n are in the halo. `None` outside
    /// the array and its halo.
    #[inline]
    pub fn get(&self, position: [i32; 3]) -> Option<V> {
        let width = self.halo.width() as i32;
        let mut index = 0;
        for (axis, coordinate) in position.into_iter().enumerate() {
            if !(-width..self.extents[axis] as i32 + width).contains(&coordinate) {
                return None;
            }
            index += (coordinate + width) as usize * self.strides[axis];
        }
        self.cells.get(index).copied()
    }

    /// Returns the visibility and the merge key of the voxel in front of a face.
    pub(crate) fn beyond(&self, position: [u32; 3], face: Face) -> (Visibility, u32) {
        let mut at = position.map(|c| c as i32);
        at[face.axis()] += face.normal()[face.axis()];
        let voxel = self.get(at);
        voxel.map_or((Visibility::Empty, 0), |voxel| (voxel.visibility(), voxel.key()))
    }

    /// Returns all cells of the slice.
    #[inline]
    pub(crate) const fn cells(&self) -> &'a [V] {
        self.cells
    }

    /// Returns the distance between adjacent voxels along each axis.
    #[inline]
    pub(crate) const fn strides(&self) -> [usize; 3] {
        self.strides
    }

    /// Returns the axes by ascending stride. Axes with one cell, whose strides are ignored, are last.
    pub(crate) fn axes(&self) -> [usize; 3] {
        let mut axes = [0, 1, 2];
        let is_single = |axis: usize| self.extents[axis] as usize + 2 * self.halo.width() == 1;
        axes.sort_by_key(|&axis| (is_single(axis), self.strides[axis]));
        axes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_of_0_and_above_64_are_errors() {
        let cells = [0_u8; 70];
        for extent in [0, 65, 70, u32::MAX] {
            for axis in 0..3 {
                let mut extents = [1; 3];
                extents[axis] = extent;
                for halo in [Halo::None, Halo::One] {
                    let result = VoxelArray::new(&cells, extents, halo).map(|_| ());
                    assert_eq!(result, Err(Error::Extents { extents }));
                }
            }
        }
        assert!(VoxelArray::new(&cells, [64, 1, 1], Halo::None).is_ok());
    }

    #[test]
    fn strides_that_overlap_are_errors() {
        let cells = [0_u8; 100];
        let with = |extents, strides, halo| {
            VoxelArray::with_strides(&cells, extents, strides, halo).map(|_| ())
        };
        let overlap = |strides| Err(Error::Overlap { strides });
        assert_eq!(with([4, 4, 4], [1, 4, 16], Halo::None), Ok(()));
        assert_eq!(with([4, 4, 4], [16, 1, 4], Halo::None), Ok(()));
        for strides in [[0, 4, 16], [1, 3, 16], [1, 4, 15], [1, 1, 16], [4, 16, 4], [2, 4, 16]] {
            assert_eq!(with([4, 4, 4], strides, Halo::None), overlap(strides));
        }
        // The halo belongs to the span of an axis.
        assert_eq!(with([1, 1, 1], [1, 2, 9], Halo::One), overlap([1, 2, 9]));
        // Strides of axes with one cell mean nothing.
        assert_eq!(with([4, 1, 4], [1, usize::MAX, 4], Halo::None), Ok(()));
        assert_eq!(with([4, 1, 4], [1, 0, 4], Halo::None), Ok(()));
    }

    #[test]
    fn a_slice_that_is_too_short_is_an_error() {
        let cells = [0_u8; 64];
        let with = |len: usize, strides| {
            VoxelArray::with_strides(&cells[..len], [4, 4, 4], strides, Halo::None).map(|_| ())
        };
        assert_eq!(with(64, [1, 4, 16]), Ok(()));
        let error = |required, len| Err(Error::OutOfSlice { required, len });
        assert_eq!(with(63, [1, 4, 16]), error(64, 63));
        assert_eq!(with(0, [1, 4, 16]), error(64, 0));
        assert_eq!(with(64, [1, 4, 17]), error(67, 64));
        assert_eq!(with(64, [1, 4, usize::MAX / 2]), error(usize::MAX, 64));
        let result = VoxelArray::new(&cells, [4, 4, 4], Halo::One).map(|_| ());
        assert_eq!(result, error(216, 64));
    }

    #[test]
    fn voxels_are_read_at_their_strides_and_not_outside() {
        let cells: [u8; 120] = core::array::from_fn(|i| i as u8);
        let array = VoxelArray::with_strides(&cells, [2, 1, 3], [5, 1, 23], Halo::One).unwrap();
        assert_eq!(array.get([-1, -1, -1]), Some(0));
        assert_eq!(array.get([2, 1, 3]), Some(3 * 5 + 2 + 4 * 23));
        assert_eq!(array.get([0, 0, 0]), Some(29));
        for outside in [[-2, 0, 0], [0, 2, 0], [0, 0, 4], [i32::MAX; 3]] {
            assert_eq!(array.get(outside), None);
        }
        let bare = VoxelArray::new(&cells, [4, 5, 6], Halo::None).unwrap();
        assert_eq!((bare.get([3, 4, 5]), bare.get([0, -1, 0])), (Some(119), None));
    }
}
