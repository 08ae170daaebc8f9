//! The noises of cliffs and caves.

use super::column::{Column, smooth_step};
use super::grid::noise_coordinate;
use super::lattice::{STEP, between};
use super::noise::{LANES, Lanes, Noise, lanes};

/// Largest absolute value of the noise inside a cave.
pub(super) const CAVE_WIDTH: f32 = 0.14;
/// Factor on the width of a cave at its entrance.
pub(super) const MOUTH: f32 = 1.3;
/// Thickness of rock over caves in voxels, where the land is flat or under water.
const ROOF: f32 = 7.0;
/// Side of a voxel in units above which cliffs have no overhangs, at the default relief. They would
/// be no larger than the voxels.
const CLIFF_UNITS: f32 = 4.0;
/// Side of a voxel in units above which there are no caves, at the default relief.
const CAVE_UNITS: f32 = 2.0;

/// The three-dimensional noises.
pub(super) struct Carver {
    cliffs: Noise,
    caves: [Noise; 2],
    scale: f32,
}

impl Carver {
    pub(super) fn new(seed: u64, scale: f32) -> Self {
        let scale = scale.max(0.5);
        let cliffs = Noise::new(seed, 20, 30.0 * scale, 2);
        let caves = [21, 22].map(|purpose| Noise::new(seed, purpose, 62.0 * scale, 1));
        Self { cliffs, caves, scale }
    }

    /// Whether voxels of this side are small enough to show caves.
    pub(super) fn has_caves(&self, units: i64) -> bool {
        units == 1 || units as f32 <= CAVE_UNITS * self.scale
    }

    pub(super) fn has_cliffs(&self, units: i64) -> bool {
        units == 1 || units as f32 <= CLIFF_UNITS * self.scale
    }

    pub(super) fn cliff_noise(&self, points: &[Lanes; 3]) -> Lanes {
        self.cliffs.solid(points)
    }

    /// Returns the cave noise, scaled so that caves are wider than high.
    pub(super) fn cave_noise(&self, which: usize, [x, y, z]: &[Lanes; 3]) -> Lanes {
        self.caves[which].solid(&[*x, y.map(|y| y * 1.7), *z])
    }

    /// Whether a single voxel is in a cave. The result is the same as in the chunk.
    pub(super) fn cave_at(&self, column: &Column, sea: i32, [x, y, z]: [i32; 3]) -> bool {
        let width = Roof::of(column, sea).cave_width(y);
        if width <= 0.0 {
            return false;
        }
        let low = [x, y, z].map(|c| c.div_euclid(STEP) * STEP);
        let corners: [[f32; 3]; LANES] = std::array::from_fn(|i| {
            let at = |axis: usize| low[axis] + STEP * (i as i32 >> axis & 1);
            let [x, z] = [at(0), at(2)].map(|c| noise_coordinate(c.into()));
            [x, at(1) as f32, z]
        });
        let corners = lanes(&corners);
        let noises =
            [0, 1].map(|which| between(self.cave_noise(which, &corners), [x, y, z].map(fraction)));
        is_within(noises, width)
    }
}

/// Limits of the width of caves below a column.
#[derive(Clone, Copy)]
pub(super) struct Roof {
    ground: f32,
    /// Factor on the width of caves that open at the surface.
    mouth: f32,
}

impl Roof {
    /// Depth from which on caves are at least [`CAVE_WIDTH`] wide.
    pub(super) const FULL_DEPTH: f32 = ROOF * 1.6;
    /// Greatest height without caves.
    pub(super) const FLOOR: i32 = 2;

    /// Near the surface, caves open only on slopes, and never into water.
    pub(super) fn of(column: &Column, sea: i32) -> Self {
        let dry = smooth_step(3.0, 9.0, column.ground - sea as f32);
        let open = smooth_step(0.45, 0.95, column.slope) * dry;
        Self { ground: column.ground, mouth: MOUTH * open }
    }

    /// Whether caves below the column may be wider than [`CAVE_WIDTH`].
    pub(super) fn is_entrance(self) -> bool {
        self.mouth > 1.0
    }

    /// Returns the largest absolute value of both noises inside a cave at height `y`; 0 without caves.
    pub(super) fn cave_width(self, y: i32) -> f32 {
        let depth = self.ground - y as f32;
        let is_deep = depth >= Self::FULL_DEPTH;
        let roof = if is_deep { 1.0 } else { smooth_step(ROOF * 0.4, Self::FULL_DEPTH, depth) };
        if y > Self::FLOOR { CAVE_WIDTH * self.mouth.max(roof) } else { 0.0 }
    }
}

/// Returns the position of a coordinate between two points of the lattice, from 0 to 1.
fn fraction(c: i32) -> f32 {
    c.rem_euclid(STEP) as f32 / STEP as f32
}

/// Whether two noises are close enough to zero for a cave of this width.
pub(super) fn is_within([a, b]: [f32; 2], width: f32) -> bool {
    a * a + b * b < width * width
}
