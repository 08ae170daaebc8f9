/// Axis of the voxel grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// To the east.
    X,
    /// Upwards.
    Y,
    /// To the south.
    Z,
}

/// Rotation by quarter turns about the axes, with or without a mirror image: one of the 48 symmetries
/// of a cube. It turns boxes of voxels; the materials in them keep their own orientation, so that stairs
/// face where they did.
///
/// # Examples
/// ```
/// use drystone_world::{Axis, Orientation};
///
/// let turned = Orientation::default().turned(Axis::Y, 1);
/// // What lay along Z lies along X, and what lay along X lies along -Z.
/// assert_eq!(turned.size([7, 2, 3]), [3, 2, 7]);
/// assert_eq!(turned.source([0, 0, 0], [7, 2, 3]), [6, 0, 0]);
/// assert_eq!(turned.turned(Axis::Y, 3), Orientation::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Orientation {
    /// For each axis of the result, the axis of the source that lies along it.
    axes: [u8; 3],
    /// For each axis of the result, whether the source lies along it in reverse.
    flips: [bool; 3],
}

impl Default for Orientation {
    fn default() -> Self {
        Self { axes: [0, 1, 2], flips: [false; 3] }
    }
}

impl Orientation {
    /// Returns this orientation, then turned by a number of quarter turns about an axis:
    /// counterclockwise, if the axis points towards the viewer.
    #[must_use]
    pub const fn turned(mut self, axis: Axis, quarter_turns: i32) -> Self {
        let [from, to] = [(axis as usize + 1) % 3, (axis as usize + 2) % 3];
        let mut left = quarter_turns.rem_euclid(4);
        while left > 0 {
            let (axes, flips) = (self.axes, self.flips);
            (self.axes[from], self.axes[to]) = (axes[to], axes[from]);
            (self.flips[from], self.flips[to]) = (!flips[to], flips[from]);
            left -= 1;
        }
        self
    }

    /// Returns the mirror image of this orientation along an axis.
    #[must_use]
    pub const fn mirrored(mut self, axis: Axis) -> Self {
        self.flips[axis as usize] = !self.flips[axis as usize];
        self
    }

    /// Returns the size of a box of size `source_size`, after the rotation.
    pub fn size(&self, source_size: [u32; 3]) -> [u32; 3] {
        self.axes.map(|axis| source_size[usize::from(axis)])
    }

    /// Returns the voxel of a box of size `source_size` that the rotation moves to `at`. Both are
    /// counted from the lowest corner of their box. A position outside of the rotated box gives one
    /// outside of the source, or the nearest inside.
    pub fn source(&self, at: [u32; 3], source_size: [u32; 3]) -> [u32; 3] {
        let mut source = [0; 3];
        for (axis, at) in at.into_iter().enumerate() {
            let from = usize::from(self.axes[axis]);
            let last = source_size[from].saturating_sub(1);
            source[from] = if self.flips[axis] { last.saturating_sub(at) } else { at };
        }
        source
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const AXES: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Turns of a point by rotation matrices, about the middle of a cube.
    fn turn(axis: Axis, [x, y, z]: [i32; 3]) -> [i32; 3] {
        match axis {
            Axis::X => [x, -z, y],
            Axis::Y => [z, y, -x],
            Axis::Z => [-y, x, z],
        }
    }

    /// Programs of turns and mirrors move the corners of a cube as matrices do.
    #[test]
    fn orientations_move_corners_as_matrices_do() {
        let mut all = HashSet::new();
        let mut random = drystone_testing::Random::new(11);
        for _ in 0..1_500 {
            let mut orientation = Orientation::default();
            let corners: Vec<[i32; 3]> =
                (0..8).map(|n| [n & 1, n >> 1 & 1, n >> 2].map(|side| 2 * side - 1)).collect();
            let mut moved = corners.clone();
            for _ in 0..random.below(6) {
                let axis = AXES[random.below(3) as usize];
                if random.below(3) == 0 {
                    orientation = orientation.mirrored(axis);
                    moved.iter_mut().for_each(|it| it[axis as usize] *= -1);
                } else {
                    let turns = random.below(9) - 4;
                    orientation = orientation.turned(axis, turns);
                    for _ in 0..turns.rem_euclid(4) {
                        moved.iter_mut().for_each(|it| *it = turn(axis, *it));
                    }
                }
            }
            for (source, moved) in corners.iter().zip(moved) {
                let local = |corner: [i32; 3]| corner.map(|c| ((c + 1) / 2) as u32);
                assert_eq!(orientation.source(local(moved), [2; 3]), local(*source));
            }
            all.insert(orientation);
        }
        assert_eq!(all.len(), 48);
    }
}
