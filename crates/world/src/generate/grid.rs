use drystone_voxel::{Chunk, ChunkPos};

use crate::NodePos;

/// Voxels a side of every chunk.
pub(super) const SIDE: i32 = Chunk::SIDE as i32;

/// Distance from the origin, in voxels, at which the land is mirrored on X and Z. Up to there, an
/// `f32` holds a coordinate with at least four bits behind the point; at 16 times the distance,
/// neighbouring columns would be equal. A repetition shows to no one who sees less than this far.
pub(super) const MIRROR: i64 = 1 << 20;

/// The coordinate on X or Z at which noise is taken for a place: the place itself up to [`MIRROR`],
/// the mirrored one beyond.
///
/// ```text
///   1 ┤    ╱╲      ╱
///   0 ┤   ╱  ╲    ╱     in lengths of MIRROR
///  −1 ┤  ╱    ╲  ╱
///       −1  1  3  5
/// ```
pub(super) fn noise_coordinate(place: i64) -> f32 {
    let from_low = (place + MIRROR).rem_euclid(4 * MIRROR);
    (from_low.min(4 * MIRROR - from_low) - MIRROR) as f32
}

/// Where the voxels of a chunk lie in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// The lowest place that the chunk covers, in units.
    pub(super) origin: [i64; 3],
    /// The side of a voxel.
    pub(super) units: i64,
}

impl Grid {
    pub(super) fn new(node: NodePos) -> Self {
        let side = i64::from(node.side_units());
        let ChunkPos { x, y, z } = node.chunk;
        let origin = [x, y, z].map(|c| i64::from(c) * side);
        Self { origin, units: node.voxel_units().into() }
    }

    /// The lowest height of a row of voxels.
    pub(super) fn height(&self, row: i32) -> i64 {
        self.origin[1] + i64::from(row) * self.units
    }

    /// The place in the middle of a column of voxels, on X and Z.
    pub(super) fn middle(&self, x: i32, z: i32) -> [i64; 2] {
        let middle = |origin: i64, c: i32| origin + i64::from(c) * self.units + self.units / 2;
        [middle(self.origin[0], x), middle(self.origin[2], z)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_goes_on_where_land_is_mirrored() {
        for place in [-MIRROR, -1, 0, 1, 12_345, MIRROR] {
            assert_eq!(noise_coordinate(place) as i64, place);
        }
        let around = |turn: i64| (-40..40).map(move |c| turn * MIRROR + c);
        for place in (-1030..1030).flat_map(around) {
            let (here, next) = (noise_coordinate(place), noise_coordinate(place + 1));
            assert!((next - here).abs() == 1.0 && here.abs() <= MIRROR as f32, "{place}");
        }
    }
}
