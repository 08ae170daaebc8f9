//! Converts heights to voxels.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use super::axis::{Axis, Taps};
use super::cover::Cover;
use super::options::HeightMapOptions;
use super::samples::{Samples, Window};
use super::square::{
    MAX_SQUARE_CHUNKS, MAX_SQUARE_SAMPLES, SQUARE_CHUNKS, SQUARE_VOXELS, Square, chunks_of, reached,
};
use crate::cache::Cache;
use crate::error::SourceError;
use crate::fault::Fault;
use crate::format::Format;

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

/// Most samples of the columns of a chunk in files.
const MAX_PATCH_SAMPLES: f64 = (1 << 24) as f64;
/// Memory for squares, in bytes.
const SQUARES_BYTES: usize = 16 << 20;

/// Heights, and their conversion to voxels.
pub(super) struct Relief {
    samples: Samples,
    /// The axes eastwards and southwards.
    axes: [Axis; 2],
    voxel_metres: f64,
    voxels_per_metre: f64,
    sea_metres: f64,
    /// First voxel above the water.
    sea_top: i32,
    /// Lowest solid voxel of an image. The squares of a map of many files have their own.
    base: Option<i32>,
    /// Name for messages.
    name: String,
    cover: Cover,
    /// Squares that files reach into.
    reached: BTreeSet<[u32; 2]>,
    squares: Cache<[u32; 2], Square>,
}

impl Relief {
    /// `name` is for messages.
    pub(super) fn new(
        name: &str,
        samples: Samples,
        sample_metres: [f64; 2],
        voxel_metres: f64,
        options: &HeightMapOptions,
        materials: &mut MaterialTable,
    ) -> Result<Self, Fault> {
        let [width, height] = samples.size();
        let axis = |samples, metres: f64| {
            Axis::new(samples, metres, voxel_metres).ok_or_else(|| {
                let problem = format!("more than {} voxels wide", Axis::MAX_COLUMNS);
                Fault::new("size", problem, "use more metres per voxel")
            })
        };
        let axes = [axis(width, sample_metres[0])?, axis(height, sample_metres[1])?];
        if let Samples::Files(_) = samples {
            let patch = axes.map(|axis| axis.samples_in(PATCH));
            if patch[0] * patch[1] > MAX_PATCH_SAMPLES {
                let problem = "voxels of too many samples";
                return Err(Fault::new("size", problem, "use fewer metres per voxel"));
            }
        }
        let voxels_per_metre = options.vertical_scale / voxel_metres;
        let cover = Cover::new(materials, options);
        let sea_metres = options.sea_level_metres;
        let reached = match &samples {
            Samples::Files(files) => reached(files, &axes)?,
            Samples::Image(_) => BTreeSet::new(),
        };
        let squares = Cache::new(SQUARES_BYTES);
        let mut relief = Self {
            samples,
            axes,
            voxel_metres,
            voxels_per_metre,
            sea_metres,
            sea_top: 0,
            base: None,
            name: name.into(),
            cover,
            reached,
            squares,
        };
        match &relief.samples {
            Samples::Files(_) => {
                relief.check_height(relief.sea_metres)?;
                relief.sea_top = relief.voxels(relief.sea_metres);
            }
            Samples::Image(grid) => {
                let range = grid.range();
                relief.set_levels(range)?;
            }
        }
        Ok(relief)
    }

    /// Computes the heights of sea and base of an image, and checks limits.
    fn set_levels(&mut self, range: Option<[f32; 2]>) -> Result<(), Fault> {
        let Some([low, high]) = range.map(|range| range.map(f64::from)) else {
            return Ok(());
        };
        let has_sea = low <= self.sea_metres;
        for metres in [low, high, if has_sea { self.sea_metres } else { low }] {
            self.check_height(metres)?;
        }
        self.sea_top = if has_sea { self.voxels(self.sea_metres) } else { i32::MIN };
        let base = self.bed(low) - BASE_VOXELS;
        self.base = Some(base);
        let top = self.voxels(high).max(self.sea_top);
        let layers = chunks(base..top).len() as u64;
        let [east, south] = self.axes.map(|axis| u64::from(axis.columns().div_ceil(Chunk::SIDE)));
        let found = east * south * layers;
        if found > MAX_CHUNKS {
            let problem = format!("reaches into {found} chunks, at most {MAX_CHUNKS} are taken");
            return Err(Fault::new("size", problem, "use more metres per voxel"));
        }
        Ok(())
    }

    /// The error of a height in a file that was not read before.
    fn fault(&self, fault: Fault) -> SourceError {
        fault.in_file(Format::HeightMap, &self.name)
    }

    fn check_height(&self, metres: f64) -> Result<(), Fault> {
        if (metres * self.voxels_per_metre).abs() <= MAX_HEIGHT_VOXELS {
            return Ok(());
        }
        let problem = format!("{metres} metres are more than {MAX_HEIGHT_VOXELS} voxels high");
        Err(Fault::new("heights", problem, "use more metres per voxel"))
    }

    /// Number of columns of voxels eastwards and southwards.
    fn columns(&self) -> [u32; 2] {
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
    fn metres(window: &Window<'_>, [x, z]: [Option<&Taps>; 2]) -> f64 {
        let (Some(x), Some(z)) = (x, z) else { return f64::NAN };
        let mut sum = 0.0;
        let mut known = 0.0;
        for (row, south) in z.range().zip(&z.weights) {
            let samples = window.row(row, x.range());
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
    fn patch(&self, chunk: [u32; 2]) -> Result<Vec<f64>, SourceError> {
        let window = self.window(chunk)?;
        let taps = |axis: usize| -> Vec<Option<Taps>> {
            let first = i64::from(chunk[axis] * Chunk::SIDE) - 1;
            (0..PATCH as i64).map(|n| self.axes[axis].taps(first + n)).collect()
        };
        let (east, south) = (taps(0), taps(1));
        let row = |z: &Option<Taps>| -> Vec<f64> {
            east.iter().map(|x| Self::metres(&window, [x.as_ref(), z.as_ref()])).collect()
        };
        Ok(south.iter().flat_map(row).collect())
    }

    /// Samples of a chunk's columns and of those around it.
    fn window(&self, chunk: [u32; 2]) -> Result<Window<'_>, SourceError> {
        let [columns, rows] = self.samples_around(chunk, 1);
        self.samples.window(columns, rows)
    }

    /// Columns and rows of the samples of a chunk's columns of voxels, and of `more` columns on each side.
    fn samples_around(&self, chunk: [u32; 2], more: u32) -> [Range<usize>; 2] {
        self.samples_of(chunk, Chunk::SIDE, more)
    }

    /// Columns and rows of the samples of `side` columns of voxels from a chunk on, and of `more` on each side.
    fn samples_of(&self, chunk: [u32; 2], side: u32, more: u32) -> [Range<usize>; 2] {
        let range = |axis: usize| {
            let first = chunk[axis] * Chunk::SIDE;
            self.axes[axis].samples_of(first.saturating_sub(more)..first + side + more)
        };
        [range(0), range(1)]
    }

    /// Sets the limit for what is kept of files, in bytes.
    pub(super) fn limit_memory(&self, bytes: usize) {
        if let Samples::Files(files) = &self.samples {
            files.limit_memory(bytes);
        }
    }

    /// Positions of all squares that can hold a voxel.
    pub(super) fn squares(&self) -> Vec<[i32; 2]> {
        if let Samples::Files(_) = self.samples {
            return self.reached.iter().map(|at| at.map(|side| side as i32)).collect();
        }
        let [east, south] = self.columns().map(|it| it.div_ceil(SQUARE_VOXELS) as i32);
        (0..east).flat_map(|x| (0..south).map(move |z| [x, z])).collect()
    }

    /// Positions of all chunks of a square that can hold a voxel, sorted.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(super) fn positions_in(&self, square: [i32; 2]) -> Result<Vec<ChunkPos>, SourceError> {
        let (Ok(x), Ok(z)) = (u32::try_from(square[0]), u32::try_from(square[1])) else {
            return Ok(Vec::new());
        };
        let ends = self.columns().map(|columns| columns.div_ceil(SQUARE_VOXELS));
        if x >= ends[0] || z >= ends[1] {
            return Ok(Vec::new());
        }
        let found = self.square([x, z])?;
        let columns = chunks_of([x, z]).zip(&found.layers);
        let positions = columns.flat_map(|([x, z], layers)| {
            layers.clone().map(move |y| ChunkPos::new(x as i32, y, z as i32))
        });
        let mut positions: Vec<ChunkPos> = positions.collect();
        positions.sort_unstable();
        Ok(positions)
    }

    fn square(&self, at: [u32; 2]) -> Result<Arc<Square>, SourceError> {
        self.squares.get(at, || self.read_square(at))
    }

    fn read_square(&self, at: [u32; 2]) -> Result<Square, SourceError> {
        let count = (SQUARE_CHUNKS * SQUARE_CHUNKS) as usize;
        let (mut ranges, mut low) = (Vec::with_capacity(count), None);
        // One window reads each file once.
        let whole = at.map(|side| side * SQUARE_CHUNKS);
        let all = match self.samples_of(whole, SQUARE_VOXELS, 1) {
            [columns, rows] if columns.len() * rows.len() <= MAX_SQUARE_SAMPLES => {
                Some(self.samples.window(columns, rows)?)
            }
            _ => None,
        };
        for chunk in chunks_of(at) {
            let mut range = None;
            if self.is_inside(chunk) {
                let own = if all.is_none() { Some(self.window(chunk)?) } else { None };
                let Some(window) = own.as_ref().or(all.as_ref()) else { continue };
                let [columns, rows] = self.samples_around(chunk, 0);
                range = window.range_in(columns, rows);
                // Ground that is next to the square has no gap below.
                let [columns, rows] = self.samples_around(chunk, 1);
                let around = window.range_in(columns, rows).map(|[low, _]| f64::from(low));
                low = low.into_iter().chain(around).reduce(f64::min);
            }
            ranges.push(range);
        }
        // Column heights are means of samples, so they are within the samples' range.
        let metres = |range: &[f32; 2]| range.map(f64::from);
        for range in ranges.iter().flatten().map(metres) {
            range
                .into_iter()
                .try_for_each(|it| self.check_height(it))
                .map_err(|fault| self.fault(fault))?;
        }
        let base = self.base.or_else(|| low.map(|low| self.bed(low) - BASE_VOXELS)).unwrap_or(0);
        let layers = |range: &Option<[f32; 2]>| {
            let Some([low, high]) = range.as_ref().map(metres) else { return 0..0 };
            let sea = if low <= self.sea_metres { self.sea_top } else { i32::MIN };
            chunks(base..self.voxels(high).max(sea))
        };
        let layers: Vec<_> = ranges.iter().map(layers).collect();
        let found: usize = layers.iter().map(ExactSizeIterator::len).sum();
        if self.base.is_none() && found > MAX_SQUARE_CHUNKS {
            let problem = format!("the columns around chunk {whole:?} have {found} chunks");
            let advice = "use more metres per voxel, or declare the value of voids in the file";
            return Err(self.fault(Fault::new("heights", problem, advice)));
        }
        Ok(Square { base, layers })
    }

    fn is_inside(&self, chunk: [u32; 2]) -> bool {
        let ends = self.columns().map(|columns| columns.div_ceil(Chunk::SIDE));
        chunk.iter().zip(ends).all(|(at, end)| *at < end)
    }

    /// Builds the chunk at `position`; all air outside the map.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(super) fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let high = i64::from(position.y) * i64::from(SIDE);
        let (Ok(x), Ok(z)) = (u32::try_from(position.x), u32::try_from(position.z)) else {
            return Ok(air());
        };
        if !self.is_inside([x, z]) || high.abs() > 1 << 30 {
            return Ok(air());
        }
        let base = match self.base {
            Some(base) => base,
            None => self.square([x / SQUARE_CHUNKS, z / SQUARE_CHUNKS])?.base,
        };
        let origin = position.origin(Chunk::SIDE);
        let patch = self.patch([x, z])?;
        let mut voxels = vec![Material::AIR; (SIDE * SIDE * SIDE) as usize];
        for z in 0..SIDE as usize {
            for x in 0..SIDE as usize {
                let around = Around::new(&patch, x + 1, z + 1);
                self.fill_column(&around, base, origin.y, |y, material| {
                    voxels[x + SIDE as usize * (y + SIDE as usize * z)] = material;
                });
            }
        }
        Ok(Chunk::from_voxels(Chunk::SIDE, &voxels).unwrap_or_else(air))
    }

    /// Fills one column with ground and water. `set` receives a height inside the chunk.
    fn fill_column(
        &self,
        around: &Around,
        base: i32,
        low: i32,
        mut set: impl FnMut(usize, Material),
    ) {
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
        fill(base..dirt, self.cover.stone);
        fill(dirt.max(base)..top, self.cover.dirt);
        fill(top.max(base)..bed, self.cover.top(around.here, slope));
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
