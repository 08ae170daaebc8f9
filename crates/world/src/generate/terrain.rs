use fastnoise_lite::{DomainWarpType, FastNoiseLite, FractalType, NoiseType};

use super::carve::Carver;
use super::hash::mix;
use super::tree::MAX_HEIGHT;

/// The relief that the numbers below are meant for; others scale with it.
const RELIEF: f32 = 128.0;
/// Height of the water's surface.
const SEA: f32 = 34.0;
/// How far below the sea lakes may reach, and peaks above it.
const DEEPEST: f32 = 26.0;
const HIGHEST: f32 = 84.0;
/// Height above the sea from which on peaks are bent down.
const BEND: f32 = 62.0;
/// Above this, give or take some noise, snow lies.
const SNOW_LINE: f32 = 86.0;
/// Above this no tree stands.
const TREE_LINE: f32 = 80.0;

/// The shape of the land: what can be said of a column of voxels before looking at any.
pub(super) struct Terrain {
    pub(super) seed: u64,
    /// Voxels for one unit of the numbers above.
    pub(super) scale: f32,
    warp: FastNoiseLite,
    continent: FastNoiseLite,
    ridges: FastNoiseLite,
    detail: FastNoiseLite,
    cliffs: FastNoiseLite,
    wetness: FastNoiseLite,
    carver: Carver,
}

/// What the terrain says of one column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// Voxels below this height are solid, where neither cliff nor cave disagrees.
    pub(super) ground: f32,
    /// The highest ground of the square that the column stands for: the ground itself
    /// where voxels are single.
    pub(super) highest: f32,
    /// How far, in voxels, cliffs reach out and in above and below the ground.
    pub(super) overhang: f32,
    /// −1 dry to 1 wet.
    pub(super) wetness: f32,
    /// Voxels of height a voxel of way, the steeper of the two axes.
    pub(super) slope: f32,
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
            warp,
            continent: noise(2, 250.0, 4, FractalType::FBm),
            ridges: noise(3, 270.0, 3, FractalType::Ridged),
            detail: noise(4, 46.0, 3, FractalType::FBm),
            cliffs: noise(5, 110.0, 2, FractalType::FBm),
            wetness: noise(6, 95.0, 3, FractalType::FBm),
            carver: Carver::new(seed, scale),
        }
    }

    /// What carves cliffs and caves.
    pub(super) fn carver(&self) -> &Carver {
        &self.carver
    }

    /// Everything but the slope, which needs neighbours.
    pub(super) fn column(&self, x: f32, z: f32) -> Column {
        let (ground, overhang) = self.ground_and_overhang(x, z);
        Column { ground, highest: ground, overhang, wetness: self.wetness(x, z), slope: 0.0 }
    }

    /// −1 dry to 1 wet.
    pub(super) fn wetness(&self, x: f32, z: f32) -> f32 {
        self.wetness.get_noise_2d(x, z)
    }

    /// The ground of a column alone: a fifth cheaper.
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
        // Cliffs lift the land in steps, away from the water so that lakes stay whole.
        let dry = smooth_step(4.0, 12.0, above_sea);
        if dry == 0.0 {
            return ((SEA + above_sea) * self.scale, 0.0);
        }
        let cliffs = smooth_step(0.14, 0.42, self.cliffs.get_noise_2d(wx, wz));
        let stepped = above_sea + cliffs * dry * (terrace(above_sea, 15.0) - above_sea) * 0.9;
        ((SEA + stepped) * self.scale, cliffs * dry * 9.0 * self.scale)
    }

    /// The column at a place, with its slope.
    pub(super) fn with_slope(&self, column: Column, x: f32, z: f32) -> Column {
        let ground = |dx: f32, dz: f32| self.ground(x + dx, z + dz);
        let sides = [ground(-1.0, 0.0), ground(1.0, 0.0), ground(0.0, -1.0), ground(0.0, 1.0)];
        Column { slope: slope(sides, 2.0), ..column }
    }

    /// Above all ground there can be, cliffs and trees included.
    pub(super) fn ceiling(&self) -> f32 {
        // A terrace lifts the land by less than 2, a cliff reaches out by at most 9.
        (SEA + HIGHEST + 11.0) * self.scale + MAX_HEIGHT as f32 + 2.0
    }

    /// The highest voxel of water.
    pub(super) fn sea_level(&self) -> i32 {
        (SEA * self.scale) as i32
    }

    /// Where snow begins over a column of this wetness.
    pub(super) fn snow_line(&self, column: &Column) -> f32 {
        (SNOW_LINE - 7.0 * column.wetness) * self.scale
    }

    /// Where trees end.
    pub(super) fn tree_line(&self) -> f32 {
        TREE_LINE * self.scale
    }
}

/// A plain noise whose waves are `width` voxels long.
pub(super) fn noise(seed: u64, purpose: u64, width: f32) -> FastNoiseLite {
    let mut noise = FastNoiseLite::with_seed(mix(seed ^ purpose << 32) as i32);
    noise.set_noise_type(Some(NoiseType::OpenSimplex2));
    noise.set_frequency(Some(1.0 / width));
    noise
}

/// Voxels of height a voxel of way, from the heights on the sides −X, +X, −Z and +Z, which
/// lie so many voxels apart.
pub(super) fn slope([west, east, north, south]: [f32; 4], apart: f32) -> f32 {
    (east - west).abs().max((south - north).abs()) / apart
}

/// 0 below `low`, 1 above `high`, smooth between.
pub(super) fn smooth_step(low: f32, high: f32, value: f32) -> f32 {
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Steps of height `step`: flat for most of each, steep for the rest.
fn terrace(height: f32, step: f32) -> f32 {
    let level = (height / step).floor();
    let within = height / step - level;
    (level + smooth_step(0.55, 0.9, within)) * step
}

/// A height above the sea, bent so that neither lakes nor peaks leave the relief.
fn soften(height: f32) -> f32 {
    let bend = |over: f32, room: f32| room * over / (room + over);
    match height {
        h if h < 0.0 => -bend(-h, DEEPEST),
        h if h > BEND => BEND + bend(h - BEND, HIGHEST - BEND),
        h => h,
    }
}
