use fastnoise_lite::{DomainWarpType, FastNoiseLite, FractalType};

use super::carver::Carver;
use super::column::{Column, slope, smooth_step};
use super::hash::noise;

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
    continent: FastNoiseLite,
    ridges: FastNoiseLite,
    detail: FastNoiseLite,
    cliffs: FastNoiseLite,
    wetness: FastNoiseLite,
    carver: Carver,
}

impl Terrain {
    pub(super) fn new(seed: u64, relief_voxels: u32) -> Self {
        let scale = relief_voxels as f32 / RELIEF;
        let noise = |purpose: u64, width: f32, octaves: i32, fractal: FractalType| {
            let mut noise = noise(seed, purpose, width * scale);
            noise.set_fractal_type(Some(fractal));
            noise.set_fractal_octaves(Some(octaves));
            noise
        };
        let mut warp = noise(1, 120.0, 1, FractalType::None);
        warp.set_domain_warp_type(Some(DomainWarpType::OpenSimplex2));
        warp.set_domain_warp_amp(Some(26.0 * scale));
        Self {
            seed,
            scale,
            sea_level: aligned_surface(SEA * scale) - 1,
            warp,
            continent: noise(2, 250.0, 4, FractalType::FBm),
            ridges: noise(3, 270.0, 3, FractalType::Ridged),
            detail: noise(4, 46.0, 3, FractalType::FBm),
            cliffs: noise(5, 110.0, 2, FractalType::FBm),
            wetness: noise(6, 95.0, 3, FractalType::FBm),
            carver: Carver::new(seed, scale),
        }
    }

    /// Returns the noise for cliffs and caves.
    pub(super) fn carver(&self) -> &Carver {
        &self.carver
    }

    /// Computes everything but the slope, which needs neighbours.
    pub(super) fn column(&self, x: f32, z: f32) -> Column {
        let (ground, overhang) = self.ground_and_overhang(x, z);
        Column { ground, highest: ground, overhang, wetness: self.wetness(x, z), slope: 0.0 }
    }

    /// Returns the wetness from −1 (dry) to 1 (wet).
    pub(super) fn wetness(&self, x: f32, z: f32) -> f32 {
        self.wetness.get_noise_2d(x, z)
    }

    /// Returns the ground of a column alone, in about 80% of the time.
    pub(super) fn ground(&self, x: f32, z: f32) -> f32 {
        self.ground_and_overhang(x, z).0
    }

    fn ground_and_overhang(&self, x: f32, z: f32) -> (f32, f32) {
        let (wx, wz) = self.warp.domain_warp_2d(x, z);
        let land = self.continent.get_noise_2d(wx, wz) + 0.16;
        let detail = self.detail.get_noise_2d(x, z);
        let mountains = smooth_step(0.1, 0.62, land);

        let plain = if land < 0.0 { land * 62.0 } else { land * 26.0 };
        let hills = if mountains > 0.0 {
            let ridge = (self.ridges.get_noise_2d(wx, wz) + 1.0) * 0.5;
            mountains * ridge * ridge * 82.0
        } else {
            0.0
        };
        let rough = detail * (2.5 + 3.5 * mountains);
        let above_sea = soften(plain + hills + rough);
        // Cliffs lift the land in steps, but not near water, so that lakes stay closed.
        let dry = smooth_step(4.0, 12.0, above_sea);
        if dry == 0.0 {
            return (self.height(above_sea), 0.0);
        }
        let cliffs = smooth_step(0.14, 0.42, self.cliffs.get_noise_2d(wx, wz));
        let stepped = above_sea + cliffs * dry * (terrace(above_sea, 15.0) - above_sea) * 0.9;
        (self.height(stepped), cliffs * dry * 9.0 * self.scale)
    }

    /// Returns the height in voxels of a height above the sea that is not scaled.
    fn height(&self, above_sea: f32) -> f32 {
        self.sea_level as f32 + above_sea * self.scale
    }

    /// Computes the slope of a column.
    pub(super) fn with_slope(&self, column: Column, x: f32, z: f32) -> Column {
        let ground = |dx: f32, dz: f32| self.ground(x + dx, z + dz);
        let sides = [ground(-1.0, 0.0), ground(1.0, 0.0), ground(0.0, -1.0), ground(0.0, 1.0)];
        Column { slope: slope(sides, 2.0), ..column }
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
