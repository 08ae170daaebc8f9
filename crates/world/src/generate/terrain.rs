use fastnoise_lite::{DomainWarpType, FastNoiseLite};

use super::carver::Carver;
use super::column::{Column, slope, smooth_step};
use super::hash::noise;
use super::noise::{LANES, Lanes, Noise, lanes};

/// Relief for which the constants of this module are chosen, in voxels. Other reliefs scale them.
const RELIEF: f32 = 128.0;
/// Height of the sea before it is aligned.
const SEA: f32 = 34.0;
/// Maximum depth of lakes below the sea, and height of peaks above it.
const DEEPEST: f32 = 26.0;
const HIGHEST: f32 = 84.0;
/// Height above the sea from which peaks are flattened.
const BEND: f32 = 62.0;
/// Height above the sea from which snow lies, before noise is added.
const SNOW_LINE: f32 = 52.0;
/// Height above the sea above which no tree stands.
const TREE_LINE: f32 = 46.0;

/// Maximum height of a tree.
pub(super) const MAX_TREE_HEIGHT: i32 = 22;

/// Shape of the land: the properties of a column that do not depend on height.
pub(super) struct Terrain {
    pub(super) seed: u64,
    /// Factor of this module's heights and depths: the relief divided by [`RELIEF`].
    pub(super) scale: f32,
    /// Height of the highest water voxel. Land at the same height is the shore.
    sea_level: i32,
    warp: FastNoiseLite,
    continent: Noise,
    ridges: Noise,
    detail: Noise,
    cliffs: Noise,
    wetness: Noise,
    carver: Carver,
}

impl Terrain {
    pub(super) fn new(seed: u64, relief_voxels: u32) -> Self {
        let scale = relief_voxels as f32 / RELIEF;
        let octaves = |purpose, width, octaves| Noise::new(seed, purpose, width * scale, octaves);
        let mut warp = noise(seed, 1, 120.0 * scale);
        warp.set_fractal_octaves(Some(1));
        warp.set_domain_warp_type(Some(DomainWarpType::OpenSimplex2));
        warp.set_domain_warp_amp(Some(26.0 * scale));
        Self {
            seed,
            scale,
            sea_level: aligned_surface(SEA * scale) - 1,
            warp,
            continent: octaves(2, 250.0, 4),
            ridges: octaves(3, 270.0, 3).ridged(),
            detail: octaves(4, 46.0, 3),
            cliffs: octaves(5, 110.0, 2),
            wetness: octaves(6, 95.0, 3),
            carver: Carver::new(seed, scale),
        }
    }

    /// Returns the noise for cliffs and caves.
    pub(super) fn carver(&self) -> &Carver {
        &self.carver
    }

    /// Computes everything of these columns but the slope, which needs neighbours.
    pub(super) fn columns(&self, points: &[[f32; 2]]) -> Vec<Column> {
        for_each_eight(points, |points| {
            let (grounds, wetness) =
                (self.grounds_and_overhangs(points), self.wetness.flat(points));
            std::array::from_fn(|l| {
                let ((ground, overhang), wetness) = (grounds[l], wetness[l]);
                Column { ground, highest: ground, overhang, wetness, slope: 0.0 }
            })
        })
    }

    /// Returns the wetness at each point, from −1 (dry) to 1 (wet).
    pub(super) fn wetness(&self, points: &[[f32; 2]]) -> Vec<f32> {
        for_each_eight(points, |points| self.wetness.flat(points))
    }

    /// Returns the ground of columns alone, in about 80% of the time.
    pub(super) fn grounds(&self, points: &[[f32; 2]]) -> Vec<f32> {
        for_each_eight(points, |points| {
            self.grounds_and_overhangs(points).map(|(ground, _)| ground)
        })
    }

    fn grounds_and_overhangs(&self, points: &[Lanes; 2]) -> [(f32, f32); LANES] {
        let mut warped = *points;
        for l in 0..LANES {
            (warped[0][l], warped[1][l]) = self.warp.domain_warp_2d(points[0][l], points[1][l]);
        }
        let land = self.continent.flat(&warped).map(|land| land + 0.16);
        let detail = self.detail.flat(points);
        let mountains = land.map(|land| smooth_step(0.1, 0.62, land));
        let ridges = needed(mountains, || self.ridges.flat(&warped));
        let above_sea: Lanes = std::array::from_fn(|l| {
            let (land, mountains) = (land[l], mountains[l]);
            let plain = if land < 0.0 { land * 62.0 } else { land * 26.0 };
            let ridge = (ridges[l] + 1.0) * 0.5;
            let hills = if mountains > 0.0 { mountains * ridge * ridge * 82.0 } else { 0.0 };
            let rough = detail[l] * (2.5 + 3.5 * mountains);
            soften(plain + hills + rough)
        });
        // Cliffs lift the land in steps, but not near water, so that lakes stay closed.
        let dry = above_sea.map(|height| smooth_step(4.0, 12.0, height));
        let cliffs = needed(dry, || self.cliffs.flat(&warped));
        std::array::from_fn(|l| {
            let (above_sea, dry) = (above_sea[l], dry[l]);
            if dry == 0.0 {
                return (self.height(above_sea), 0.0);
            }
            let cliffs = smooth_step(0.14, 0.42, cliffs[l]);
            let lifted = cliffs * dry * (terrace(above_sea, 15.0) - above_sea) * 0.9;
            (self.height(above_sea + lifted), cliffs * dry * 9.0 * self.scale)
        })
    }

    /// Returns the height in voxels of a height above the sea that is not scaled.
    fn height(&self, above_sea: f32) -> f32 {
        self.sea_level as f32 + above_sea * self.scale
    }

    /// Computes the slope at a point.
    pub(super) fn slope(&self, [x, z]: [f32; 2]) -> f32 {
        let sides = [[x - 1.0, z], [x + 1.0, z], [x, z - 1.0], [x, z + 1.0]];
        let grounds = self.grounds_and_overhangs(&lanes(&sides));
        slope([0, 1, 2, 3].map(|side| grounds[side].0), 2.0)
    }

    /// Returns a height above all ground, cliffs and trees.
    pub(super) fn ceiling(&self) -> f32 {
        // A terrace lifts the land by less than 2, and a cliff adds at most 9.
        self.height(HIGHEST + 11.0) + MAX_TREE_HEIGHT as f32 + 2.0
    }

    /// Returns the height of the highest water voxel.
    pub(super) const fn sea_level(&self) -> i32 {
        self.sea_level
    }

    /// Returns the height above which snow lies on this column.
    pub(super) fn snow_line(&self, column: &Column) -> f32 {
        self.height(SNOW_LINE - 7.0 * column.wetness)
    }

    /// Returns the height above which no tree stands.
    pub(super) fn tree_line(&self) -> f32 {
        self.height(TREE_LINE)
    }
}

/// Calls a function with all points, eight at a time, and returns the results.
fn for_each_eight<T>(points: &[[f32; 2]], results: impl Fn(&[Lanes; 2]) -> [T; LANES]) -> Vec<T> {
    let mut all = Vec::with_capacity(points.len());
    for points in points.chunks(LANES) {
        all.extend(results(&lanes(points)).into_iter().take(points.len()));
    }
    all
}

/// Returns a noise if any of its weights is not 0.
fn needed(weights: Lanes, noise: impl FnOnce() -> Lanes) -> Lanes {
    if weights.iter().any(|weight| *weight > 0.0) { noise() } else { [0.0; LANES] }
}

/// Returns the height of the water surface: near the voxel above `sea`, and a multiple of a large
/// power of two. Voxels of up to that many units end there, so the surface has one height at their
/// levels. For the relief of 128 voxels it is 32.
fn aligned_surface(sea: f32) -> i32 {
    let surface = sea as i32 + 1;
    // A lower sea would leave no ground below the deepest lakes, a higher one lifts the peaks.
    let close = surface - surface / 5..=surface + surface / 12;
    let nearest = |bits: u32| (surface + (1 << bits >> 1)) >> bits << bits;
    (0..12).rev().map(nearest).find(|it| close.contains(it)).unwrap_or(surface)
}

/// Shapes a height into steps of height `step`, flat for most of each step.
fn terrace(height: f32, step: f32) -> f32 {
    let level = (height / step).floor();
    let within = height / step - level;
    (level + smooth_step(0.55, 0.9, within)) * step
}

/// Limits a height above the sea smoothly, so that lakes and peaks stay within the relief.
fn soften(height: f32) -> f32 {
    let bend = |over: f32, limit: f32| limit * over / (limit + over);
    match height {
        h if h < 0.0 => -bend(-h, DEEPEST),
        h if h > BEND => BEND + bend(h - BEND, HIGHEST - BEND),
        h => h,
    }
}
