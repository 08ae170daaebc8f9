use alloc::vec::Vec;

/// Shape of a material that does not fill its voxel: boxes in sixteenths of a voxel.
///
/// [`ShapeMesher`](crate::ShapeMesher) draws it. Everywhere else, the voxel is a whole one: rays hit
/// it, walkers collide with it as with a cube of its colour, and exports contain that cube.
///
/// # Examples
/// ```
/// use drystone_voxel::{MaterialKind, MaterialTable, Shape, ShapeBox, ShapeKind};
///
/// let lower_half = ShapeBox { min: [0; 3], max: [16, 8, 16] };
/// let slab = Shape::new(vec![lower_half], ShapeKind::Opaque).unwrap();
/// let mut table = MaterialTable::new();
/// let kind = MaterialKind::new("slab", [120, 120, 120, 255]).with_shape(slab);
/// let slab = table.insert_kind(kind).unwrap();
/// assert!(table.shape(slab).is_some() && !table.is_thin(slab));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts", into = "Parts"))]
pub struct Shape {
    boxes: Vec<ShapeBox>,
    kind: ShapeKind,
}

/// Box within a voxel, in sixteenths of a voxel from the voxel's lowest corner.
///
/// A box may be flat along one axis: a plate that is drawn from both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct ShapeBox {
    /// Lowest corner, 0 to 15 each.
    pub min: [u8; 3],
    /// Highest corner, 1 to 16 each.
    pub max: [u8; 3],
}

/// Opacity of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum ShapeKind {
    /// Is opaque, whatever the opacity of the material's colour. That opacity is the one of the cube
    /// that is drawn where shapes are not.
    Opaque,
    /// Has the opacity of the material's colour.
    Colored,
    /// Has the opacity of the material's colour. Below a fluid of the same colour, the voxel is full.
    Fluid,
}

impl ShapeBox {
    /// The whole voxel.
    pub const FULL: Self = Self { min: [0; 3], max: [Shape::CELLS; 3] };

    const fn is_valid(&self) -> bool {
        let (mut axis, mut flat_count) = (0, 0);
        while axis < 3 {
            let (min, max) = (self.min[axis], self.max[axis]);
            if min > max || max > Shape::CELLS || min == Shape::CELLS || max == 0 {
                return false;
            }
            flat_count += (min == max) as u32;
            axis += 1;
        }
        flat_count <= 1
    }
}

impl Shape {
    /// Number of cells along the side of a voxel.
    pub const CELLS: u8 = 16;
    /// Maximum number of boxes.
    pub const MAX_BOXES: usize = 32;

    /// Creates a shape. Returns `None` if there are no boxes or more than
    /// [`MAX_BOXES`](Self::MAX_BOXES), or if a corner is out of range, or a box is flat along two axes.
    pub fn new(boxes: Vec<ShapeBox>, kind: ShapeKind) -> Option<Self> {
        let is_valid = (1..=Self::MAX_BOXES).contains(&boxes.len());
        (is_valid && boxes.iter().all(ShapeBox::is_valid)).then_some(Self { boxes, kind })
    }

    /// Returns the boxes. They may overlap.
    pub fn boxes(&self) -> &[ShapeBox] {
        &self.boxes
    }

    /// Returns the opacity.
    pub const fn kind(&self) -> ShapeKind {
        self.kind
    }

    /// Part of the voxel's floor that is below a box, in cells of 256.
    pub fn floor_cells(&self) -> u32 {
        let mut floor = Mask::EMPTY;
        for part in &self.boxes {
            floor.add(part, [0, 2]);
        }
        floor.len()
    }
}

/// Set of cells of a side of a voxel: a word for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask([u16; Shape::CELLS as usize]);

impl Mask {
    pub(crate) const EMPTY: Self = Self([0; Shape::CELLS as usize]);

    /// Adds the projection of a box. Rows lie along the first of the two axes.
    pub(crate) fn add(&mut self, part: &ShapeBox, axes: [usize; 2]) {
        let (rows, bits) = projection(part, axes);
        for row in self.0.get_mut(rows).into_iter().flatten() {
            *row |= bits;
        }
    }

    /// Removes the projection of a box.
    pub(crate) fn remove(&mut self, part: &ShapeBox, axes: [usize; 2]) {
        let (rows, bits) = projection(part, axes);
        for row in self.0.get_mut(rows).into_iter().flatten() {
            *row &= !bits;
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|row| row.count_ones()).sum()
    }

    /// Removes a rectangle of cells: its lowest cell and its size. `None` if the mask is empty.
    pub(crate) fn pop_rectangle(&mut self) -> Option<[[u32; 2]; 2]> {
        let first = self.0.iter().position(|&row| row != 0)?;
        let row = self.0[first];
        let low = row.trailing_zeros();
        let width = (row >> low).trailing_ones();
        let bits = run(low, width);
        let is_covered = |row: &&u16| **row & bits == bits;
        let height = self.0[first..].iter().take_while(is_covered).count();
        for row in &mut self.0[first..first + height] {
            *row &= !bits;
        }
        Some([[low, first as u32], [width, height as u32]])
    }
}

/// Rows and bits of a box along two axes.
fn projection(part: &ShapeBox, [u, v]: [usize; 2]) -> (core::ops::Range<usize>, u16) {
    let width = part.max[u].saturating_sub(part.min[u]);
    (part.min[v].into()..part.max[v].into(), run(part.min[u].into(), width.into()))
}

/// A word with `length` bits set from bit `low` on.
const fn run(low: u32, length: u32) -> u16 {
    (((1_u64 << length) - 1) << low) as u16
}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize, serde::Serialize)]
struct Parts {
    boxes: Vec<ShapeBox>,
    kind: ShapeKind,
}

#[cfg(feature = "serde")]
impl From<Shape> for Parts {
    fn from(Shape { boxes, kind }: Shape) -> Self {
        Self { boxes, kind }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Shape {
    type Error = &'static str;

    fn try_from(Parts { boxes, kind }: Parts) -> Result<Self, Self::Error> {
        Self::new(boxes, kind).ok_or("a shape has a box outside its voxel, or too many")
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn boxes_outside_their_voxel_are_refused() {
        let shape = |min, max| Shape::new(vec![ShapeBox { min, max }], ShapeKind::Opaque);
        assert!(shape([0; 3], [16; 3]).is_some() && shape([8, 0, 0], [8, 16, 16]).is_some());
        for (min, max) in [
            ([0; 3], [16, 17, 16]),
            ([9, 0, 0], [8, 16, 16]),
            ([0, 3, 3], [16, 3, 3]),
            ([16, 0, 0], [16; 3]),
            ([0; 3], [0, 16, 16]),
        ] {
            assert!(shape(min, max).is_none(), "{min:?} {max:?}");
        }
        assert!(Shape::new(vec![], ShapeKind::Opaque).is_none());
        assert!(Shape::new(vec![ShapeBox::FULL; 33], ShapeKind::Opaque).is_none());
    }

    /// Rectangles cover each cell of a mask once.
    #[test]
    fn rectangles_cover_a_mask() {
        let parts = [
            ShapeBox { min: [0, 0, 0], max: [16, 4, 9] },
            ShapeBox { min: [3, 0, 5], max: [7, 4, 16] },
            ShapeBox { min: [12, 0, 14], max: [16, 4, 16] },
        ];
        let (mut mask, mut expected) = (Mask::EMPTY, [[false; 16]; 16]);
        for part in &parts {
            mask.add(part, [0, 2]);
            for (u, v) in (0..16).flat_map(|u| (0..16).map(move |v| (u, v))) {
                let is_in =
                    |at: usize, axis: usize| (part.min[axis]..part.max[axis]).contains(&(at as u8));
                expected[v][u] |= is_in(u, 0) && is_in(v, 2);
            }
        }
        mask.remove(&ShapeBox { min: [1, 0, 1], max: [2, 1, 2] }, [0, 2]);
        expected[1][1] = false;
        let mut covered = [[false; 16]; 16];
        while let Some([[u, v], [width, height]]) = mask.pop_rectangle() {
            for (u, v) in (u..u + width).flat_map(|u| (v..v + height).map(move |v| (u, v))) {
                assert!(!core::mem::replace(&mut covered[v as usize][u as usize], true));
            }
        }
        assert_eq!(covered, expected);
        assert_eq!(mask.len(), 0);
    }
}
