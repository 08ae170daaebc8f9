//! Computes the solid voxels of a chunk: the ground with overhanging cliffs, minus caves.
//!
//! Three-dimensional noise is expensive. It is sampled at few points ([`Lattice`]), and only where
//! it can change the result.

use super::carver::{CAVE_WIDTH, Carver, MOUTH, Roof, is_within};
use super::column::Column;
use super::grid::{ABOVE, BELOW, Grid, SIDE};
use super::land::Land;
use super::lattice::{Lattice, between_edges};
use super::terrain::Terrain;

/// Margin for interpolated values, which may be outside the range of a cell by rounding errors.
const ROUNDING: f32 = 1e-4;

/// Cave noise of a chunk.
struct Caves {
    noises: [Lattice; 2],
    /// Indexed by the first corners of the lowest cells.
    columns: Vec<CaveRows>,
}

/// Rows of a column of cells, as bits like those of [`Carved::rows`].
#[derive(Clone, Copy, Default)]
struct CaveRows {
    /// Rows inside every cave that is at least [`CAVE_WIDTH`] wide.
    inside: u64,
    /// Rows that may be in a cave of that width, and of the largest width, which is that of a cave
    /// below its entrance.
    possible: [u64; 2],
}

impl Caves {
    /// Samples the second noise only around cells in which the first one allows a cave.
    fn new(carver: &Carver, grid: Grid, top: f32) -> Self {
        let widest = CAVE_WIDTH * MOUTH.max(1.0);
        let heights = f32::NEG_INFINITY..=top;
        let first = Lattice::sample(grid, heights.clone(), 1.0, |p| carver.cave_noise(0, p));
        let of_first = Distances::new(&first);
        let is_near = of_first.nearest.iter().map(|&near| is_within([near, 0.0], widest)).collect();
        let is_needed = first.corners_of(is_near);
        let is_needed = |point: usize| is_needed[point];
        let second =
            Lattice::sample_where(grid, heights, 1.0, is_needed, |p| carver.cave_noise(1, p));
        let of_second = Distances::new(&second);
        let mut columns = vec![CaveRows::default(); of_first.nearest.len()];
        first.for_each_cell(|cell, lowest, rows| {
            let nearest = [of_first.nearest[cell], of_second.nearest[cell]];
            if !is_within(nearest, widest + ROUNDING) {
                return;
            }
            let farthest = [of_first.farthest[cell], of_second.farthest[cell]];
            let rows_if = |is_within: bool| if is_within { rows } else { 0 };
            let CaveRows { inside, possible: [usual, most] } = &mut columns[lowest];
            *most |= rows;
            *usual |= rows_if(is_within(nearest, CAVE_WIDTH + ROUNDING));
            *inside |= rows_if(is_within(farthest, CAVE_WIDTH - ROUNDING));
        });
        Self { noises: [first, second], columns }
    }
}

/// Distances of a noise from zero in each cell, indexed by the cells' first corners.
struct Distances {
    nearest: Vec<f32>,
    farthest: Vec<f32>,
}

impl Distances {
    fn new(noise: &Lattice) -> Self {
        let [low, high] = noise.spans();
        let spans = || low.iter().zip(&high);
        let nearest = spans().map(|(low, high)| low.max(-high).max(0.0)).collect();
        let farthest = spans().map(|(low, high)| high.max(-low)).collect();
        Self { nearest, farthest }
    }
}

/// Cliff noise of a chunk.
struct Cliffs {
    noise: Lattice,
    /// Minimum and maximum in each column of cells, indexed by the first corners of the lowest cells.
    spans: Vec<[f32; 2]>,
}

impl Cliffs {
    fn new(noise: Lattice) -> Self {
        let [low, high] = noise.spans();
        let mut spans = vec![[f32::INFINITY, f32::NEG_INFINITY]; low.len()];
        noise.for_each_cell(|cell, lowest, _| {
            let [least, most] = spans[lowest];
            spans[lowest] = [least.min(low[cell]), most.max(high[cell])];
        });
        Self { noise, spans }
    }
}

/// Solid voxels of a chunk.
pub(super) struct Carved {
    /// One bit per row. The lowest bit is the row below the chunk.
    solid: Vec<u64>,
}

impl Carved {
    /// Computes the solid voxels of a chunk on this land.
    pub(super) fn new(terrain: &Terrain, land: &Land, grid: Grid) -> Self {
        let maker = Maker::new(terrain, land, grid);
        let solid = (0..SIDE * SIDE).map(|i| maker.rows(i % SIDE, i / SIDE)).collect();
        Self { solid }
    }

    /// Returns the solid rows of a column as bits. Bit 0 is the row below the chunk. The result
    /// includes four rows above the chunk.
    pub(super) fn rows(&self, x: i32, z: i32) -> u64 {
        self.solid[(x + SIDE * z) as usize]
    }
}

/// Number of computed rows.
const ALL_ROWS: i64 = (BELOW + SIDE + ABOVE) as i64;

struct Maker<'a> {
    terrain: &'a Terrain,
    land: &'a Land,
    grid: Grid,
    cliffs: Option<Cliffs>,
    caves: Option<Caves>,
    /// Distance of a LOD voxel's column and its highest unit from its corner, in voxels.
    aside: f32,
    upward: f32,
}

impl<'a> Maker<'a> {
    fn new(terrain: &'a Terrain, land: &'a Land, grid: Grid) -> Self {
        let carver = terrain.carver();
        let (low, high) = (grid.height(-BELOW) as f32, grid.height(SIDE + ABOVE) as f32);
        let is_cut = |c: &&Column| c.overhang > 0.0 && high > c.ground - c.overhang;
        let reach = land
            .columns()
            .iter()
            .filter(is_cut)
            .map(|c| [c.ground - c.overhang, c.highest + c.overhang])
            .reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
            .filter(|[_, top]| carver.has_cliffs(grid.units) && low <= *top);
        let cliffs = reach
            .map(|[from, to]| Lattice::sample(grid, from..=to, 0.0, |p| carver.cliff_noise(p)))
            .map(Cliffs::new);
        let caves = (carver.has_caves(grid.units) && low <= land.top())
            .then(|| Caves::new(carver, grid, land.top()));
        let part = 1.0 / grid.units as f32;
        let aside = if grid.units == 1 { 0.0 } else { 0.5 };
        Self { terrain, land, grid, cliffs, caves, aside, upward: 1.0 - part }
    }

    /// Returns the solid rows of a column, as [`Carved::rows`] does.
    fn rows(&self, x: i32, z: i32) -> u64 {
        let column = self.land.column(x, z);
        let solid = match &self.cliffs {
            Some(cliffs) if column.overhang > 0.0 => self.cliff_rows(cliffs, column, [x, z]),
            _ => low_bits(self.rows_below(column.highest)),
        };
        match &self.caves {
            Some(caves) => solid & !self.cave_rows(caves, column, [x, z], solid),
            None => solid,
        }
    }

    /// Number of computed rows that begin below a height.
    fn rows_below(&self, height: f32) -> i64 {
        let low = self.grid.height(-BELOW);
        let units = self.grid.units;
        let above = (height.ceil() as i64).saturating_sub(low);
        above
            .div_euclid(units)
            .saturating_add(i64::from(above.rem_euclid(units) > 0))
            .clamp(0, ALL_ROWS)
    }

    /// Returns the solid rows of a column whose ground is changed by a cliff. A LOD voxel is solid if
    /// its lowest or its highest unit is.
    fn cliff_rows(&self, cliffs: &Cliffs, column: &Column, [x, z]: [i32; 2]) -> u64 {
        let noise = &cliffs.noise;
        let [low, high] = cliffs.spans[noise.column(x, z)];
        let [low, high] = [(low - ROUNDING).max(-1.0), (high + ROUNDING).min(1.0)];
        let end = |noise: f32| low_bits(self.rows_below(column.highest + column.overhang * noise));
        let sure = end(low);
        let [along_x, along_z] = [x, z].map(|c| noise.fraction(c, self.aside));
        let mut solid = sure;
        for (cell, rows) in noise.cells_of(noise.column(x, z), end(high) & !sure) {
            let edges = noise.edges(cell, along_x);
            for y in heights(rows) {
                let is_solid = |upward: f32| {
                    let height = self.grid.height(y) as f32 + upward * self.grid.units as f32;
                    let noise = between_edges(edges, noise.fraction(y, upward), along_z);
                    height < column.highest + column.overhang * noise
                };
                let is_any_solid = is_solid(0.0) || (self.grid.units > 1 && is_solid(self.upward));
                solid |= u64::from(is_any_solid) << (y + BELOW);
            }
        }
        solid
    }

    /// Returns the solid rows of a column that are caves. A LOD voxel is a cave if its lowest and
    /// its highest unit are.
    fn cave_rows(&self, caves: &Caves, column: &Column, [x, z]: [i32; 2], solid: u64) -> u64 {
        let [first, second] = &caves.noises;
        let first_cell = first.column(x, z);
        let CaveRows { inside, possible: [usual, most] } = caves.columns[first_cell];
        if most & solid == 0 {
            return 0;
        }
        let roof = Roof::of(column, self.terrain.sea_level());
        let possible = solid & if roof.is_entrance() { most } else { usual };
        let inside = inside & possible & self.deep_rows(column);
        let [along_x, along_z] = [x, z].map(|c| first.fraction(c, self.aside));
        let mut rows_of_caves = inside;
        for (cell, rows) in first.cells_of(first_cell, possible & !inside) {
            let [a, b] = [first, second].map(|noise| noise.edges(cell, along_x));
            for y in heights(rows) {
                let is_cave = |upward: f32| {
                    let unit = (upward * self.grid.units as f32) as i64;
                    let width = roof.cave_width((self.grid.height(y) + unit) as i32);
                    let along_y = first.fraction(y, upward);
                    let at = |edges: [f32; 4]| between_edges(edges, along_y, along_z);
                    width > 0.0 && is_within([at(a), at(b)], width)
                };
                let is_all_cave = is_cave(0.0) && (self.grid.units == 1 || is_cave(self.upward));
                rows_of_caves |= u64::from(is_all_cave) << (y + BELOW);
            }
        }
        rows_of_caves
    }

    /// Returns rows of a column in which caves are at least [`CAVE_WIDTH`] wide. Leaves out up to two
    /// rows at the upper end.
    fn deep_rows(&self, column: &Column) -> u64 {
        let highest = column.ground - Roof::FULL_DEPTH - self.grid.units as f32 - 1.0;
        let lowest = (Roof::FLOOR + 1) as f32;
        low_bits(self.rows_below(highest)) & !low_bits(self.rows_below(lowest))
    }
}

/// Returns the heights of rows in the chunk, lowest first.
fn heights(mut rows: u64) -> impl Iterator<Item = i32> {
    std::iter::from_fn(move || {
        let y = rows.trailing_zeros() as i32 - BELOW;
        (rows != 0).then(|| {
            rows &= rows - 1;
            y
        })
    })
}

/// Returns a mask of the `count` lowest bits, 0 to 63.
fn low_bits(count: i64) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{Chunk, ChunkPos, MaterialTable, NodePos};

    use super::super::noise::Lanes;
    use super::super::palette::Palette;
    use super::*;

    fn land(terrain: &Terrain, node: NodePos) -> (Land, Grid) {
        let (palette, grid) = (Palette::new(&mut MaterialTable::new()), Grid::new(node));
        (Land::new(terrain, &palette, grid), grid)
    }

    /// Chunks with caves, by seed and position.
    fn plain() -> [(u64, i32, i32, i32); 3] {
        [(5, 0, 0, 0), (5, -1, 1, 3), (5, 2, 0, -1)]
    }

    /// Chunks with overhanging cliffs.
    fn cliffy() -> Vec<(u64, i32, i32, i32)> {
        let terrain = Terrain::new(3, 128);
        let positions = (0..144).map(|i| (i % 12, i / 12));
        let cliff = |(x, z)| {
            let (land, _) = land(&terrain, ChunkPos::new(x, 0, z).into());
            let column = land.columns().iter().find(|column| column.overhang > 4.0)?;
            Some((3, x, column.ground as i32 / SIDE, z))
        };
        positions.filter_map(cliff).take(4).collect()
    }

    /// Compares each voxel with a computation of its own, for which every noise is sampled.
    #[test]
    fn single_voxels_equal_those_of_the_chunk() {
        let (mut caves, mut cliffs) = (0, 0);
        for (seed, x, y, z) in plain().into_iter().chain(cliffy()) {
            let terrain = Terrain::new(seed, 128);
            let (carver, sea) = (terrain.carver(), terrain.sea_level());
            let (land, grid) = land(&terrain, ChunkPos::new(x, y, z).into());
            let carved = Carved::new(&terrain, &land, grid);
            let everywhere = f32::NEG_INFINITY..=f32::INFINITY;
            let noise = Lattice::sample(grid, everywhere, 0.0, |p| carver.cliff_noise(p));
            for i in 0..32 * 37 * 32 {
                let [x, y, z] = [i % 32, i / 32 % 37 - BELOW, i / (32 * 37) % 32];
                let at = [0, 1, 2].map(|axis| grid.origin[axis] as i32 + [x, y, z][axis]);
                let [fx, fz] = [at[0] as f32, at[2] as f32];
                let slope = terrain.slope([fx, fz]);
                let column = Column { slope, ..terrain.columns(&[[fx, fz]])[0] };
                assert_eq!(&column, land.column(x, z));
                let cave = carver.cave_at(&column, sea, at);
                let reach = column.overhang * noise.at([x, y, z], [0.0; 3]);
                let solid = (at[1] as f32) < column.ground + reach && !cave;
                assert_eq!(carved.rows(x, z) >> (y + BELOW) & 1 == 1, solid, "{at:?}");
                caves += u32::from(cave && (at[1] as f32) < column.ground);
                cliffs += u32::from(solid && at[1] as f32 >= column.ground);
            }
        }
        assert!(caves > 1000 && cliffs > 20, "{caves} voxels of caves, {cliffs} over cliffs");
    }

    /// Whether a voxel is solid, and whether it is a cave: computed from noise at every point.
    fn reference(
        (terrain, grid): (&Terrain, Grid),
        [cliff_noise, first, second]: &[Lattice; 3],
        column: &Column,
        position: [i32; 3],
    ) -> [bool; 2] {
        let carver = terrain.carver();
        let is_far = grid.units > 1;
        let aside = if is_far { 0.5 } else { 0.0 };
        let highest_unit = 1.0 - 1.0 / grid.units as f32;
        let units = || [0.0].into_iter().chain(is_far.then_some(highest_unit));
        let low = grid.height(position[1]);
        let is_solid = |upward: f32| {
            let overhang = if carver.has_cliffs(grid.units) { column.overhang } else { 0.0 };
            let reach = overhang * cliff_noise.at(position, [aside, upward, aside]);
            low as f32 + upward * (grid.units as f32) < column.highest + reach
        };
        let is_cave = |upward: f32| {
            let unit = (upward * grid.units as f32) as i64;
            let width = Roof::of(column, terrain.sea_level()).cave_width((low + unit) as i32);
            let noises = [first, second].map(|noise| noise.at(position, [aside, upward, aside]));
            width > 0.0 && is_within(noises, width)
        };
        let is_cave = carver.has_caves(grid.units) && units().all(is_cave);
        [units().any(is_solid), is_cave]
    }

    /// Compares the voxels of all levels, near the ground and at the bottom of worlds, with those for
    /// which every noise is sampled at every point.
    #[test]
    fn voxels_of_all_levels_equal_those_without_bounds() {
        let (mut caves, mut cliffs) = ([0; 2], [0; 2]);
        for (relief, level, x, z) in [
            (128, 0, 3, -2),
            (128, 1, 1, 1),
            (128, 2, -1, 2),
            (1024, 0, 9, 4),
            (1024, 1, -5, 7),
            (1024, 3, 2, -3),
            (1024, 5, 0, 1),
            (16, 0, 2, 2),
            (16, 1, 1, 0),
        ] {
            let terrain = Terrain::new(3, relief);
            let carver = terrain.carver();
            let side = f32::from(Chunk::SIDE as u16) * f32::from(1u16 << level);
            let (ground, _) = land(&terrain, NodePos::new(level, ChunkPos::new(x, 0, z)));
            let middle = (ground.column(16, 16).ground / side) as i32;
            for y in [0, middle] {
                let (land, grid) = land(&terrain, NodePos::new(level, ChunkPos::new(x, y, z)));
                let carved = Carved::new(&terrain, &land, grid);
                let sample = |outside: f32, noise: &dyn Fn(&[Lanes; 3]) -> Lanes| {
                    Lattice::sample(grid, f32::NEG_INFINITY..=f32::INFINITY, outside, noise)
                };
                let noises = [
                    sample(0.0, &|p| carver.cliff_noise(p)),
                    sample(1.0, &|p| carver.cave_noise(0, p)),
                    sample(1.0, &|p| carver.cave_noise(1, p)),
                ];
                for i in 0..ALL_ROWS as i32 * SIDE * SIDE {
                    let [x, z] = [i % SIDE, i / SIDE % SIDE];
                    let position = [x, i / (SIDE * SIDE) - BELOW, z];
                    let column = land.column(x, z);
                    let [solid, cave] = reference((&terrain, grid), &noises, column, position);
                    let found = carved.rows(x, z) >> (position[1] + BELOW) & 1 == 1;
                    assert_eq!(found, solid && !cave, "{position:?} of {grid:?}, {relief}");
                    let is_far = usize::from(level > 0);
                    caves[is_far] += u32::from(solid && cave);
                    let is_above = grid.height(position[1]) as f32 >= column.highest;
                    cliffs[is_far] += u32::from(solid && is_above);
                }
            }
        }
        assert!(caves.iter().all(|&count| count > 1_000), "{caves:?} voxels of caves");
        assert!(cliffs.iter().all(|&count| count > 20), "{cliffs:?} voxels of cliffs");
    }
}
