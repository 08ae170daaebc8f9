use drystone_voxel::{Chunk, ChunkPos, NodePos};

/// Side of every chunk, in voxels.
pub(super) const SIDE: i32 = Chunk::SIDE as i32;

/// Number of rows below the chunk that are computed, to find what grows on its lowest voxels.
pub(super) const BELOW: i32 = 1;
/// Number of rows above the chunk that are computed, to find the depth of its highest voxels.
pub(super) const ABOVE: i32 = 4;

/// Distance from the origin, in voxels, at which the land is mirrored on X and Z. Up to there, an
/// `f32` coordinate has at least four fractional bits. At 16 times the distance, neighbouring
/// columns would be equal. The repetition is visible only at a larger view distance.
pub(super) const MIRROR: i64 = 1 << 20;

/// Returns the coordinate on X or Z at which noise is sampled: the coordinate itself up to
/// [`MIRROR`], the mirrored one beyond.
///
/// ```text
///   1 ┤    ╱╲      ╱
///   0 ┤   ╱  ╲    ╱     in lengths of MIRROR
///  −1 ┤  ╱    ╲  ╱
///       −1  1  3  5
/// ```
pub(crate) fn noise_coordinate(position: i64) -> f32 {
    let from_low = (position + MIRROR).rem_euclid(4 * MIRROR);
    (from_low.min(4 * MIRROR - from_low) - MIRROR) as f32
}

/// Position and scale of a chunk's voxels in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Lowest corner of the chunk, in units.
    pub(super) origin: [i64; 3],
    /// Side of a voxel, in units.
    pub(super) units: i64,
}

impl Grid {
    pub(super) fn new(node: NodePos) -> Self {
        let side = i64::from(node.side_units());
        let ChunkPos { x, y, z } = node.chunk;
        let origin = [x, y, z].map(|c| i64::from(c) * side);
        Self { origin, units: node.voxel_units().into() }
    }

    /// Returns the lowest height of a row of voxels, in units.
    pub(super) fn height(&self, row: i32) -> i64 {
        self.origin[1] + i64::from(row) * self.units
    }

    /// Returns the middle of a column of voxels on X and Z, in units.
    pub(super) fn middle(&self, x: i32, z: i32) -> [i64; 2] {
        let middle = |origin: i64, c: i32| origin + i64::from(c) * self.units + self.units / 2;
        [middle(self.origin[0], x), middle(self.origin[2], z)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_continuous_where_land_is_mirrored() {
        for position in [-MIRROR, -1, 0, 1, 12_345, MIRROR] {
            assert_eq!(noise_coordinate(position) as i64, position);
        }
        let around = |turn: i64| (-40..40).map(move |c| turn * MIRROR + c);
        for position in (-1030..1030).flat_map(around) {
            let (here, next) = (noise_coordinate(position), noise_coordinate(position + 1));
            assert!((next - here).abs() == 1.0 && here.abs() <= MIRROR as f32, "{position}");
        }
    }
}
