use crate::position::VoxelPos;

/// A box of voxels from `min` (inclusive) to `max` (exclusive).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Corners"))]
pub struct VoxelBox {
    /// Lowest voxel on each axis.
    pub min: VoxelPos,
    /// One past the highest voxel on each axis.
    pub max: VoxelPos,
}

/// Corners of a [`VoxelBox`] that may be in the wrong order.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Corners {
    min: VoxelPos,
    max: VoxelPos,
}

#[cfg(feature = "serde")]
impl TryFrom<Corners> for VoxelBox {
    type Error = &'static str;

    fn try_from(Corners { min, max }: Corners) -> Result<Self, Self::Error> {
        let is_valid = min.x <= max.x && min.y <= max.y && min.z <= max.z;
        is_valid
            .then_some(Self { min, max })
            .ok_or("the lowest corner of a box is above the highest")
    }
}

impl VoxelBox {
    /// Creates the box of one voxel. The box is empty if the voxel has the highest coordinate on an
    /// axis.
    pub const fn of(voxel: VoxelPos) -> Self {
        let max = VoxelPos::new(
            voxel.x.saturating_add(1),
            voxel.y.saturating_add(1),
            voxel.z.saturating_add(1),
        );
        Self { min: voxel, max }
    }

    /// Returns the smallest box that contains both.
    pub fn union(self, other: Self) -> Self {
        let [a, b] = [self, other];
        Self {
            min: VoxelPos::new(a.min.x.min(b.min.x), a.min.y.min(b.min.y), a.min.z.min(b.min.z)),
            max: VoxelPos::new(a.max.x.max(b.max.x), a.max.y.max(b.max.y), a.max.z.max(b.max.z)),
        }
    }

    /// Whether `voxel` is in the box.
    pub fn contains(&self, voxel: VoxelPos) -> bool {
        let [v, min, max] = [voxel, self.min, self.max].map(VoxelPos::to_array);
        (0..3).all(|axis| (min[axis]..max[axis]).contains(&v[axis]))
    }

    /// Returns the number of voxels along X, Y and Z.
    pub fn size_voxels(&self) -> [u32; 3] {
        [
            self.max.x.abs_diff(self.min.x),
            self.max.y.abs_diff(self.min.y),
            self.max.z.abs_diff(self.min.z),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn union_holds_both_ends() {
        let low = VoxelBox::of(VoxelPos::new(-4, 0, 7));
        let both = low.union(VoxelBox::of(VoxelPos::new(2, 9, -1)));
        assert_eq!(both.size_voxels(), [7, 10, 9]);
        assert!(both.contains(VoxelPos::new(2, 9, 7)));
        assert!(!both.contains(VoxelPos::new(3, 9, 7)));
    }
}
