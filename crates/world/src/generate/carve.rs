//! What is solid in a chunk: the ground, minus caves, with cliffs that hang over.
//!
//! Noise in three dimensions is dear, so it is taken at every fourth voxel along each axis
//! and read between by straight lines. These points lie at multiples of four in the world,
//! not in the chunk, so that all chunks read the same values.

use drystone_voxel::Chunk;
use fastnoise_lite::{FastNoiseLite, FractalType};

use super::terrain::{Column, Terrain, noise, slope, smooth_step};

/// Voxels between two points of the lattice.
const STEP: i32 = 4;
const SIDE: i32 = Chunk::SIDE as i32;
/// Rows below the chunk that are known, to tell what grows on its lowest voxels.
pub(super) const BELOW: i32 = 1;
/// Rows above the chunk that are known, to tell how deep its highest voxels lie.
pub(super) const ABOVE: i32 = 4;
/// Half as wide as noise must be close to zero for a cave.
const CAVE_WIDTH: f32 = 0.14;
/// How much wider a cave is where it comes to light.
const MOUTH: f32 = 1.3;
/// Voxels of rock over caves where the land is flat or under water.
const ROOF: f32 = 7.0;

/// The noises in three dimensions.
pub(super) struct Carver {
    cliffs: FastNoiseLite,
    caves: [FastNoiseLite; 2],
}

impl Carver {
    pub(super) fn new(seed: u64, scale: f32) -> Self {
        let scale = scale.max(0.5);
        let mut cliffs = noise(seed, 20, 30.0 * scale);
        cliffs.set_fractal_type(Some(FractalType::FBm));
        cliffs.set_fractal_octaves(Some(2));
        let caves = [21, 22].map(|purpose| noise(seed, purpose, 62.0 * scale));
        Self { cliffs, caves }
    }

    fn cliff_noise(&self, [x, y, z]: [f32; 3]) -> f32 {
        self.cliffs.get_noise_3d(x, y, z)
    }

    /// Caves are flatter than they are wide.
    fn cave_noise(&self, which: usize, [x, y, z]: [f32; 3]) -> f32 {
        self.caves[which].get_noise_3d(x, y * 1.7, z)
    }

    /// Whether the voxel at height `y` of a column lies in a cave, by the two noises there.
    fn is_cave(&self, column: &Column, sea: i32, y: i32, noises: [f32; 2]) -> bool {
        // Near the surface caves open on slopes only, and never into water.
        let depth = column.ground - y as f32;
        let dry = smooth_step(3.0, 9.0, column.ground - sea as f32);
        let open = smooth_step(0.45, 0.95, column.slope) * dry;
        let roof = smooth_step(ROOF * 0.4, ROOF * 1.6, depth);
        let width = CAVE_WIDTH * (MOUTH * open).max(roof);
        let [a, b] = noises;
        a * a + b * b < width * width && y > 2
    }

    /// Whether the voxel is in a cave; the same answer as the chunk's own, one voxel at a
    /// time.
    pub(super) fn cave_at(&self, column: &Column, sea: i32, [x, y, z]: [i32; 3]) -> bool {
        let noises = [0, 1].map(|which| {
            let low = [x, y, z].map(|c| c.div_euclid(STEP) * STEP);
            let corner = |i: usize| {
                let at = |axis: usize| (low[axis] + STEP * (i as i32 >> axis & 1)) as f32;
                self.cave_noise(which, [at(0), at(1), at(2)])
            };
            between(std::array::from_fn(corner), [x, y, z].map(fraction))
        });
        self.is_cave(column, sea, y, noises)
    }
}

/// How far between two points of the lattice a coordinate lies.
fn fraction(c: i32) -> f32 {
    c.rem_euclid(STEP) as f32 / STEP as f32
}

/// The value inside a cell of the lattice; corner `i` lies at bits 0, 1, 2 of `i` on X, Y,
/// Z.
fn between(c: [f32; 8], [x, y, z]: [f32; 3]) -> f32 {
    let line = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let along_x: [f32; 4] = std::array::from_fn(|i| line(c[2 * i], c[2 * i + 1], x));
    line(line(along_x[0], along_x[1], y), line(along_x[2], along_x[3], y), z)
}

/// Points of the lattice for a chunk and the rows around it.
const ACROSS: usize = (SIDE / STEP + 1) as usize;
const UP: usize = ((SIDE + 2 * STEP) / STEP + 1) as usize;

struct Lattice([f32; ACROSS * UP * ACROSS]);

impl Lattice {
    fn sample(origin: [i32; 3], value: impl Fn([f32; 3]) -> f32) -> Self {
        let mut points = [0.0; ACROSS * UP * ACROSS];
        for (i, point) in points.iter_mut().enumerate() {
            let [i, j, k] = [i % ACROSS, i / ACROSS % UP, i / (ACROSS * UP)].map(|i| i as i32);
            let (x, y, z) =
                (origin[0] + STEP * i, origin[1] + STEP * (j - 1), origin[2] + STEP * k);
            *point = value([x as f32, y as f32, z as f32]);
        }
        Self(points)
    }

    /// The value at a place in the chunk; `y` from −4 to 35.
    fn at(&self, [x, y, z]: [i32; 3]) -> f32 {
        let cell = |c: i32| (c / STEP) as usize;
        let (i, j, k) = (cell(x), cell(y + STEP), cell(z));
        let first = i + ACROSS * (j + UP * k);
        let corner =
            |n: usize| self.0[first + (n & 1) + ACROSS * (n >> 1 & 1) + ACROSS * UP * (n >> 2)];
        between(std::array::from_fn(corner), [x, y, z].map(fraction))
    }
}

/// A chunk's columns and what is solid in them.
pub(super) struct Carved {
    columns: Vec<Column>,
    /// A bit a row, the lowest the one below the chunk.
    solid: Vec<u64>,
}

impl Carved {
    /// What is solid in the chunk whose lowest voxel is `origin`.
    pub(super) fn new(terrain: &Terrain, origin: [i32; 3]) -> Self {
        let (columns, carver) = (columns(terrain, origin), terrain.carver());
        let mut carved = Self { columns, solid: vec![0; (SIDE * SIDE) as usize] };
        let (low, high) = (origin[1] - BELOW, origin[1] + SIDE + ABOVE);
        let highest = carved.columns.iter().map(|c| c.ground + c.overhang).fold(0.0, f32::max);
        if low as f32 > highest {
            return carved;
        }
        let cliffs = carved
            .columns
            .iter()
            .any(|c| c.overhang > 0.0 && (high as f32) > c.ground - c.overhang)
            .then(|| Lattice::sample(origin, |p| carver.cliff_noise(p)));
        let caves = [0, 1].map(|which| Lattice::sample(origin, |p| carver.cave_noise(which, p)));
        let sea = terrain.sea_level();
        for (index, column) in carved.columns.iter().enumerate() {
            let (x, z) = (index as i32 % SIDE, index as i32 / SIDE);
            for y in -BELOW..SIDE + ABOVE {
                let height = origin[1] + y;
                let reach = match &cliffs {
                    Some(cliffs) if column.overhang > 0.0 => column.overhang * cliffs.at([x, y, z]),
                    _ => 0.0,
                };
                let solid = (height as f32) < column.ground + reach
                    && !carver.is_cave(column, sea, height, [0, 1].map(|i| caves[i].at([x, y, z])));
                carved.solid[index] |= u64::from(solid) << (y + BELOW);
            }
        }
        carved
    }

    /// The column at a place in the chunk.
    pub(super) fn column(&self, x: i32, z: i32) -> &Column {
        &self.columns[(x + SIDE * z) as usize]
    }

    /// The rows of a column, a bit each, set where it is solid: bit 0 is the row below the
    /// chunk, and four above the chunk are known.
    pub(super) fn rows(&self, x: i32, z: i32) -> u64 {
        self.solid[(x + SIDE * z) as usize]
    }
}

/// The chunk's columns, X fastest, with their slopes.
fn columns(terrain: &Terrain, origin: [i32; 3]) -> Vec<Column> {
    let wide = SIDE + 2;
    let all: Vec<Column> = (0..wide * wide)
        .map(|i| terrain.column(origin[0] + i % wide - 1, origin[2] + i / wide - 1))
        .collect();
    let at = |x: i32, z: i32| all[(x + 1 + wide * (z + 1)) as usize];
    (0..SIDE * SIDE)
        .map(|i| (i % SIDE, i / SIDE))
        .map(|(x, z)| {
            let ground = |dx, dz| at(x + dx, z + dz).ground;
            let slope = slope(ground(-1, 0), ground(1, 0), ground(0, -1), ground(0, 1));
            Column { slope, ..at(x, z) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads through the lattice and straight at the corners must agree, also across the
    /// border to the next chunk and below zero.
    #[test]
    fn neighbours_and_single_voxels_read_the_same_noise() {
        let terrain = Terrain::new(3, 128);
        let carver = terrain.carver();
        let here = Lattice::sample([-32, 0, 64], |p| carver.cave_noise(0, p));
        let above = Lattice::sample([-32, 32, 64], |p| carver.cave_noise(0, p));
        for (y, x, z) in [(31, 5, 9), (32, 31, 0), (35, 0, 31), (30, 17, 3)] {
            assert_eq!(here.at([x, y, z]), above.at([x, y - 32, z]), "{x} {y} {z}");
        }
    }

    #[test]
    fn one_voxel_asks_as_the_chunk_does() {
        let terrain = Terrain::new(5, 128);
        let carver = terrain.carver();
        let sea = terrain.sea_level();
        let mut caves = 0;
        for chunk in [[0, 0, 0], [-32, 32, 96], [64, 0, -32]] {
            let carved = Carved::new(&terrain, chunk);
            for i in 0..32 * 32 * 32 {
                let [x, y, z] = [i % 32, i / 32 % 32, i / 1024];
                let column = terrain.column_with_slope(chunk[0] + x, chunk[2] + z);
                assert_eq!(&column, carved.column(x, z));
                if column.overhang == 0.0 {
                    let at = [chunk[0] + x, chunk[1] + y, chunk[2] + z];
                    let cave = carver.cave_at(&column, sea, at);
                    let solid = (at[1] as f32) < column.ground && !cave;
                    assert_eq!(carved.rows(x, z) >> (y + BELOW) & 1 == 1, solid, "{at:?}");
                    caves += u32::from(cave);
                }
            }
        }
        assert!(caves > 100, "{caves}");
    }
}
