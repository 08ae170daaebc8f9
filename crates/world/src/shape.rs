use std::ops::Range;

use drystone_voxel::{Chunk, ChunkBox, ChunkPos, LocalPos, Material, VoxelBox, VoxelPos};

use crate::orientation::Axis;

#[cfg(test)]
mod tests;

/// A solid, convex shape of voxels that can be filled at once. Each of its rows is given by its two
/// ends.
///
/// # Examples
/// ```
/// use drystone_voxel::VoxelPos;
/// use drystone_world::VoxelShape;
///
/// let ball = VoxelShape::Sphere { center: VoxelPos::new(0, 10, 0), radius_voxels: 2 };
/// assert!(ball.contains(VoxelPos::new(2, 10, 1)));
/// assert_eq!(ball.row(12, 0), Some(-1..2));
/// assert_eq!(ball.bounds().map(|it| it.size_voxels()), Some([5, 5, 5]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VoxelShape {
    /// All voxels of a box. Empty if a side is 0. Voxels with the highest coordinate on an axis are
    /// in no box, because the box has an exclusive end.
    Box(VoxelBox),
    /// All voxels whose centre is at most the radius plus half a voxel from the centre of `center`.
    /// A radius of 0 gives one voxel. A radius of 1 gives those that share a face or an edge with
    /// it.
    Sphere {
        /// Voxel in the middle.
        center: VoxelPos,
        /// Number of voxels beyond `center` along each axis, at most
        /// [`MAX_RADIUS`](Self::MAX_RADIUS).
        radius_voxels: u32,
    },
}

impl VoxelShape {
    /// Largest radius of a sphere.
    pub const MAX_RADIUS: u32 = 1 << 20;

    /// Creates the shape of one voxel. Empty if the voxel has the highest coordinate on an axis.
    pub const fn voxel(voxel: VoxelPos) -> Self {
        Self::Box(VoxelBox::of(voxel))
    }

    /// Creates the cube around `center` with a side of `2 * radius_voxels + 1` voxels.
    pub fn cube(center: VoxelPos, radius_voxels: u32) -> Self {
        Self::Box(around(center, radius_voxels))
    }

    /// Returns the smallest box that contains the shape, clipped to the coordinate range. `None` if
    /// the shape is empty.
    pub fn bounds(&self) -> Option<VoxelBox> {
        let it = match *self {
            Self::Box(it) => it,
            Self::Sphere { center, radius_voxels } => around(center, radius_voxels),
        };
        let [min, max] = [it.min, it.max].map(VoxelPos::to_array);
        (0..3).all(|axis| min[axis] < max[axis]).then_some(it)
    }

    /// Whether `voxel` is in the shape.
    pub fn contains(&self, voxel: VoxelPos) -> bool {
        self.row(voxel.y, voxel.z).is_some_and(|row| row.contains(&voxel.x))
    }

    /// Returns the X range of the shape's voxels at this Y and Z, or `None` if there are none.
    ///
    /// # Cost
    /// O(1): a square root in integers for a sphere.
    pub fn row(&self, y: i32, z: i32) -> Option<Range<i32>> {
        match *self {
            Self::Box(it) => {
                let is_inside = (it.min.y..it.max.y).contains(&y)
                    && (it.min.z..it.max.z).contains(&z)
                    && it.min.x < it.max.x;
                is_inside.then_some(it.min.x..it.max.x)
            }
            Self::Sphere { center, radius_voxels } => {
                let radius = u64::from(radius_voxels.min(Self::MAX_RADIUS));
                let [up, far] =
                    [y.abs_diff(center.y), z.abs_diff(center.z)].map(|by| u64::from(by).pow(2));
                // The square of a number plus one half exceeds this by one quarter.
                let left = (radius * (radius + 1)).checked_sub(up.checked_add(far)?)?;
                let reach = left.isqrt() as i32;
                let ends = [-reach, reach + 1].map(|by| center.x.saturating_add(by));
                let is_inside = ends[0] < ends[1] && y < i32::MAX && z < i32::MAX;
                is_inside.then_some(ends[0]..ends[1])
            }
        }
    }

    /// Whether the shape contains every voxel of a box.
    pub fn covers(&self, it: &VoxelBox) -> bool {
        // The shape is convex: if it contains the corners, it contains everything between them.
        (0..4).all(|corner| {
            let y = if corner & 1 == 0 { it.min.y } else { it.max.y.saturating_sub(1) };
            let z = if corner & 2 == 0 { it.min.z } else { it.max.z.saturating_sub(1) };
            self.row(y, z).is_some_and(|row| row.start <= it.min.x && row.end >= it.max.x)
        })
    }

    /// Whether the shape contains every voxel of a chunk of side `side`. False at the end of the
    /// coordinate range, where voxels are in no shape.
    pub(crate) fn covers_chunk(&self, chunk: ChunkPos, side: u32) -> bool {
        let min = chunk.origin(side);
        let [x, y, z] = min.to_array().map(|c| c.checked_add(side as i32));
        let (Some(x), Some(y), Some(z)) = (x, y, z) else { return false };
        self.covers(&VoxelBox { min, max: VoxelPos::new(x, y, z) })
    }

    /// Returns the chunks of side `side` that the bounds touch, or `None` if the shape is empty.
    pub fn chunks(&self, side: u32) -> Option<ChunkBox> {
        let VoxelBox { min, max } = self.bounds()?;
        let last = VoxelPos::new(max.x - 1, max.y - 1, max.z - 1);
        Some(ChunkBox { min: min.split(side).0, max: last.split(side).0 })
    }

    /// Returns the mirror image of the shape: the plane goes through the middle of the voxels whose
    /// coordinate on `axis` is `through`. Clipped to the coordinate range; `None` if all of it or the
    /// centre of a sphere is outside.
    pub fn mirrored(&self, axis: Axis, through: i32) -> Option<Self> {
        let axis = axis as usize;
        let image = |c: i32| 2 * i64::from(through) - i64::from(c);
        let with = |voxel: VoxelPos, c: i32| {
            let mut at = voxel.to_array();
            at[axis] = c;
            VoxelPos::new(at[0], at[1], at[2])
        };
        match *self {
            Self::Box(VoxelBox { min, max }) => {
                let ends = [max, min].map(|end| image(end.to_array()[axis]) + 1);
                let [low, high] = ends.map(|c| c.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
                let image = Self::Box(VoxelBox { min: with(min, low), max: with(max, high) });
                image.bounds().map(|_| image)
            }
            Self::Sphere { center, radius_voxels } => {
                let c = i32::try_from(image(center.to_array()[axis])).ok()?;
                Some(Self::Sphere { center: with(center, c), radius_voxels })
            }
        }
    }

    /// Sets the voxels of the shape that lie in `chunk`, which is at `position`.
    ///
    /// # Cost
    /// O(voxels of the shape in the chunk), a few nanoseconds each.
    pub fn fill(&self, chunk: &mut Chunk, position: ChunkPos, material: Material) {
        let Some(VoxelBox { min, max }) = self.bounds() else { return };
        let side = chunk.side() as i32;
        let origin = position.origin(chunk.side());
        let span = |low: i32, high: i32, origin: i32| {
            let local = |c: i32| i64::from(c).saturating_sub(origin.into()).clamp(0, side.into());
            local(low) as u8..local(high) as u8
        };
        for z in span(min.z, max.z, origin.z) {
            for y in span(min.y, max.y, origin.y) {
                let row = self.row(origin.y + i32::from(y), origin.z + i32::from(z));
                let x = row.map_or(0..0, |row| span(row.start, row.end, origin.x));
                if !x.is_empty() {
                    let size = [u32::from(x.end - x.start), 1, 1];
                    chunk.fill_box(LocalPos::new(x.start, y, z), size, material);
                }
            }
        }
    }
}

/// Returns the cube around a voxel, clipped to the coordinate range.
fn around(center: VoxelPos, radius_voxels: u32) -> VoxelBox {
    let reach = radius_voxels.min(VoxelShape::MAX_RADIUS) as i32;
    let [min, max] = [-reach, reach + 1].map(|by| {
        let [x, y, z] = center.to_array().map(|c| c.saturating_add(by));
        VoxelPos::new(x, y, z)
    });
    VoxelBox { min, max }
}
