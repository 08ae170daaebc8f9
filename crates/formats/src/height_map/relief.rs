//! Converts heights to voxels.

use std::ops::Range;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use super::axis::{Axis, Taps};
use super::cover::Cover;
use super::grid::Grid;
use super::options::HeightMapOptions;
use crate::fault::Fault;

const SIDE: i32 = Chunk::SIDE as i32;
/// Columns of a chunk plus one on each side, to compute slopes.
const PATCH: usize = Chunk::SIDE as usize + 2;
/// Voxels of solid ground below the lowest visible voxel.
const BASE_VOXELS: i32 = 4;
/// Depth of the dirt below the surface, in voxels.
const DIRT_VOXELS: i32 = 3;
/// Maximum distance of the ground from height 0, in voxels.
const MAX_HEIGHT_VOXELS: f64 = (1 << 24) as f64;
/// Maximum number of chunks in the box around the map. More cannot be shown, and their list would
/// fill the memory.
const MAX_CHUNKS: u64 = 1 << 24;

/// Heights, and their conversion to voxels.
pub(super) struct Relief {
    grid: Grid,
    /// The axes eastwards and southwards.
    axes: [Axis; 2],
    voxel_metres: f64,
    voxels_per_metre: f64,
    sea_metres: f64,
    /// First voxel above the water.
    sea_top: i32,
    /// Lowest solid voxel.
    base: i32,
    cover: Cover,
}

impl Relief {
    pub(super) fn new(
        grid: Grid,
        sample_metres: [f64; 2],
        voxel_metres: f64,
        options: &HeightMapOptions,
        materials: &mut MaterialTable,
    ) -> Result<Self, Fault> {
        let [width, height] = grid.size();
        let axis = |samples, metres: f64| {
            Axis::new(samples, metres, voxel_metres).ok_or_else(|| {
                let problem = format!("more than {} voxels wide", Axis::MAX_COLUMNS);
                Fault::new("size", problem, "use more metres per voxel")
            })
        };
        let axes = [axis(width, sample_metres[0])?, axis(height, sample_metres[1])?];
        let voxels_per_metre = options.vertical_scale / voxel_metres;
        let cover = Cover::new(materials, options);
        let sea_metres = options.sea_level_metres;
        let mut relief = Self {
            grid,
            axes,
            voxel_metres,
            voxels_per_metre,
            sea_metres,
            sea_top: 0,
            base: 0,
            cover,
        };
        relief.set_levels()?;
        Ok(relief)
    }

    /// Computes the heights of sea and base, and checks limits.
    fn set_levels(&mut self) -> Result<(), Fault> {
        let Some([low, high]) = self.grid.range().map(|range| range.map(f64::from)) else {
            return Ok(());
        };
        let has_sea = low <= self.sea_metres;
        for metres in [low, high, if has_sea { self.sea_metres } else { low }] {
            if (metres * self.voxels_per_metre).abs() > MAX_HEIGHT_VOXELS {
                let problem =
                    format!("{metres} metres are more than {MAX_HEIGHT_VOXELS} voxels high");
                return Err(Fault::new("heights", problem, "use more metres per voxel"));
            }
        }
        self.sea_top = if has_sea { self.voxels(self.sea_metres) } else { i32::MIN };
        self.base = self.bed(low) - BASE_VOXELS;
        let top = self.voxels(high).max(self.sea_top);
        let layers = chunks(self.base..top).len() as u64;
        let [east, south] = self.axes.map(|axis| u64::from(axis.columns().div_ceil(Chunk::SIDE)));
        let found = east * south * layers;
        if found > MAX_CHUNKS {
            let problem = format!("reaches into {found} chunks, at most {MAX_CHUNKS} are taken");
            return Err(Fault::new("size", problem, "use more metres per voxel"));
        }
        Ok(())
    }

    /// Number of columns of voxels eastwards and southwards.
    pub(super) fn columns(&self) -> [u32; 2] {
        self.axes.map(|axis| axis.columns())
    }

    /// Converts a height to voxels. Voxel n covers n to n + 1, and is solid if the ground reaches
    /// its middle.
    fn voxels(&self, metres: f64) -> i32 {
        (metres * self.voxels_per_metre).round() as i32
    }

    /// First voxel above the ground. Ground at or below sea level has at least one voxel of water
    /// on it.
    fn bed(&self, metres: f64) -> i32 {
        let surface = self.voxels(metres);
        if metres <= self.sea_metres { surface.min(self.sea_top - 1) } else { surface }
    }

    /// Height of a column in metres; NaN outside the map, and if more than half of it is void.
    fn metres(&self, [x, z]: [Option<&Taps>; 2]) -> f64 {
        let (Some(x), Some(z)) = (x, z) else { return f64::NAN };
        let mut sum = 0.0;
        let mut known = 0.0;
        for (row, south) in z.range().zip(&z.weights) {
            let samples = self.grid.row(row, x.range());
            for (metres, east) in samples.iter().zip(&x.weights) {
                if !metres.is_nan() {
                    sum += east * south * f64::from(*metres);
                    known += east * south;
                }
            }
        }
        // The tolerance makes a weight of exactly one half count as known.
        if known < 0.5 - 1e-9 { f64::NAN } else { sum / known }
    }

    /// Heights of a chunk's columns and of those around it, X fastest.
    fn patch(&self, origin: [i32; 2]) -> Vec<f64> {
        let taps = |axis: usize| -> Vec<Option<Taps>> {
            let first = i64::from(origin[axis]) - 1;
            (0..PATCH as i64).map(|n| self.axes[axis].taps(first + n)).collect()
        };
        let (east, south) = (taps(0), taps(1));
        let row = |z: &Option<Taps>| -> Vec<f64> {
            east.iter().map(|x| self.metres([x.as_ref(), z.as_ref()])).collect()
        };
        south.iter().flat_map(row).collect()
    }

    /// Positions of all chunks that can hold a voxel, sorted.
    pub(super) fn chunk_positions(&self) -> Vec<ChunkPos> {
        let [east, south] = self.columns().map(|columns| columns.div_ceil(Chunk::SIDE));
        let mut positions = Vec::new();
        for x in 0..east {
            let columns = self.axes[0].samples_of(x * Chunk::SIDE..(x + 1) * Chunk::SIDE);
            for z in 0..south {
                let rows = self.axes[1].samples_of(z * Chunk::SIDE..(z + 1) * Chunk::SIDE);
                let Some([low, high]) = self.grid.range_in(columns.clone(), rows) else {
                    continue;
                };
                // Column heights are means of samples, so they are within the samples' range.
                let mut top = self.voxels(high.into());
                if f64::from(low) <= self.sea_metres {
                    top = top.max(self.sea_top);
                }
                let layers = chunks(self.base..top);
                positions.extend(layers.map(|y| ChunkPos::new(x as i32, y, z as i32)));
            }
        }
        positions.sort_unstable();
        positions
    }

    /// Builds the chunk at `position`; all air outside the map.
    pub(super) fn chunk(&self, position: ChunkPos) -> Chunk {
        let inside = |c: i32, columns: u32| {
            u32::try_from(c).is_ok_and(|c| c < columns.div_ceil(Chunk::SIDE))
        };
        let [east, south] = self.columns();
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let high = i64::from(position.y) * i64::from(SIDE);
        if !inside(position.x, east) || !inside(position.z, south) || high.abs() > 1 << 30 {
            return air();
        }
        let origin = position.origin(Chunk::SIDE);
        let patch = self.patch([origin.x, origin.z]);
        let mut voxels = vec![Material::AIR; (SIDE * SIDE * SIDE) as usize];
        for z in 0..SIDE as usize {
            for x in 0..SIDE as usize {
                let around = Around::new(&patch, x + 1, z + 1);
                self.fill_column(&around, origin.y, |y, material| {
                    voxels[x + SIDE as usize * (y + SIDE as usize * z)] = material;
                });
            }
        }
        Chunk::from_voxels(Chunk::SIDE, &voxels).unwrap_or_else(air)
    }

    /// Fills one column with ground and water. `set` receives a height inside the chunk.
    fn fill_column(&self, around: &Around, low: i32, mut set: impl FnMut(usize, Material)) {
        if around.here.is_nan() {
            return;
        }
        let bed = self.bed(around.here);
        let mut fill = |heights: Range<i32>, material| {
            let from = heights.start.max(low);
            for y in from..heights.end.min(low + SIDE) {
                set((y - low) as usize, material);
            }
        };
        // The visible side of a column next to a lower one has its surface material, so that
        // slopes have one colour however steep they are.
        let lowest_neighbour = around.known().map(|metres| self.bed(metres)).min().unwrap_or(bed);
        let top = bed - (bed - lowest_neighbour).max(1);
        let dirt = top - DIRT_VOXELS;
        let slope = around.slope(self.voxel_metres);
        fill(self.base..dirt, self.cover.stone);
        fill(dirt.max(self.base)..top, self.cover.dirt);
        fill(top.max(self.base)..bed, self.cover.top(around.here, slope));
        if around.here <= self.sea_metres {
            fill(bed..self.sea_top, self.cover.water);
        }
    }
}

/// Range of chunks that a range of voxels touches.
fn chunks(voxels: Range<i32>) -> Range<i32> {
    voxels.start.div_euclid(SIDE)..(voxels.end - 1).div_euclid(SIDE) + 1
}

/// Heights of a column and its four neighbours, in metres; NaN for voids.
struct Around {
    here: f64,
    /// West, east, north, south.
    neighbours: [f64; 4],
}

impl Around {
    fn new(patch: &[f64], x: usize, z: usize) -> Self {
        let at = |x: usize, z: usize| patch[x + PATCH * z];
        let neighbours = [at(x - 1, z), at(x + 1, z), at(x, z - 1), at(x, z + 1)];
        Self { here: at(x, z), neighbours }
    }

    fn known(&self) -> impl Iterator<Item = f64> {
        self.neighbours.into_iter().filter(|metres| !metres.is_nan())
    }

    /// Slope in the steepest direction, in metres per metre. Voids count as level with the column.
    fn slope(&self, voxel_metres: f64) -> f64 {
        let along = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (false, false) => (b - a) / (2.0 * voxel_metres),
            (true, false) => (b - self.here) / voxel_metres,
            (false, true) => (self.here - a) / voxel_metres,
            (true, true) => 0.0,
        };
        let [west, east, north, south] = self.neighbours;
        along(west, east).hypot(along(north, south))
    }
}
