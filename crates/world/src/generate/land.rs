//! Ground and trees that all chunks above and below each other share.

use super::column::{Column, slope};
use super::grid::{Grid, SIDE, noise_coordinate};
use super::palette::Palette;
use super::terrain::Terrain;
use super::tree::{Tree, trees_near};

/// Side of a voxel in units up to which trees are grown. For larger voxels, just the highest leaves
/// over the middle of each column are computed.
pub(super) const GROWN_UNITS: i64 = 4;
/// Side of a voxel in units up to which the corners of a column give its slope, at the default
/// relief.
const SLOPE_UNITS: f32 = 4.0;

/// Columns and trees of a square of land as wide as a chunk.
pub(super) struct Land {
    /// X changes fastest.
    columns: Vec<Column>,
    trees: Vec<Tree>,
    top: f32,
}

impl Land {
    pub(super) fn new(terrain: &Terrain, palette: &Palette, grid: Grid) -> Self {
        let columns = if grid.units == 1 { columns(terrain, grid) } else { squares(terrain, grid) };
        let [x, z] = [grid.origin[0], grid.origin[2]];
        let trees = if grid.units <= GROWN_UNITS {
            let side = grid.units * i64::from(SIDE) - 1;
            let corner = |x: i64, z: i64| [x as i32, z as i32];
            trees_near(terrain, palette, corner(x, z), corner(x + side, z + side))
        } else {
            Vec::new()
        };
        let top = columns.iter().map(|c| c.highest + c.overhang).fold(0.0, f32::max);
        Self { columns, trees, top }
    }

    /// Returns all columns. X changes fastest.
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the column at a position in the chunk.
    pub(super) fn column(&self, x: i32, z: i32) -> &Column {
        &self.columns[(x + SIDE * z) as usize]
    }

    /// Returns every tree that may reach into the square. Empty if trees are not grown.
    pub(super) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// Returns the height above which only trees are solid.
    pub(super) fn top(&self) -> f32 {
        self.top
    }
}

/// Computes the columns of a chunk of level 0 with their slopes.
fn columns(terrain: &Terrain, grid: Grid) -> Vec<Column> {
    let wide = SIDE + 2;
    let position = |origin: i64, c: i32| noise_coordinate(origin + i64::from(c));
    let points: Vec<[f32; 2]> = (0..wide * wide)
        .map(|i| [position(grid.origin[0], i % wide - 1), position(grid.origin[2], i / wide - 1)])
        .collect();
    let all = terrain.columns(&points);
    let at = |x: i32, z: i32| all[(x + 1 + wide * (z + 1)) as usize];
    (0..SIDE * SIDE)
        .map(|i| (i % SIDE, i / SIDE))
        .map(|(x, z)| {
            let ground = |dx, dz| at(x + dx, z + dz).ground;
            let sides = [ground(-1, 0), ground(1, 0), ground(0, -1), ground(0, 1)];
            Column { slope: slope(sides, 2.0), ..at(x, z) }
        })
        .collect()
}

/// Computes the columns of LOD voxels. Each is the land in the middle of its square, except for its
/// highest ground.
fn squares(terrain: &Terrain, grid: Grid) -> Vec<Column> {
    let wide = SIDE + 1;
    let position = |origin: i64, c: i32| noise_coordinate(origin + i64::from(c) * grid.units);
    let points: Vec<[f32; 2]> = (0..wide * wide)
        .map(|i| [position(grid.origin[0], i % wide), position(grid.origin[2], i / wide)])
        .collect();
    let corners = terrain.grounds(&points);
    let points: Vec<[f32; 2]> =
        (0..SIDE * SIDE).map(|i| grid.middle(i % SIDE, i / SIDE).map(noise_coordinate)).collect();
    let middles = terrain.columns(&points);
    // Large squares have the slope in their middle, small ones that of their corners.
    let has_own_slope = grid.units as f32 > SLOPE_UNITS * terrain.scale.max(0.5);
    let beside = |dx: f32, dz: f32| {
        let moved: Vec<_> = points.iter().map(|[x, z]| [x + dx, z + dz]).collect();
        terrain.grounds(&moved)
    };
    let beside = has_own_slope.then(|| [beside(1.0, 0.0), beside(0.0, 1.0)]);
    let mut columns = middles;
    for (i, column) in columns.iter_mut().enumerate() {
        let first = i % SIDE as usize + wide as usize * (i / SIDE as usize);
        let corners = [0, 1, wide as usize, wide as usize + 1].map(|more| corners[first + more]);
        column.slope = match &beside {
            Some([x, z]) => slope([column.ground, x[i], column.ground, z[i]], 1.0),
            None => slope_between(corners, grid.units as f32),
        };
        column.highest = highest(corners, column.ground, grid.units as f32);
    }
    columns
}

/// Returns the slope of a square from its corners, indexed by `x + 2 * z`.
fn slope_between([a, b, c, d]: [f32; 4], side: f32) -> f32 {
    slope([a + c, b + d, a + b, c + d].map(|sum| sum * 0.5), side)
}

/// Estimates the highest ground of a square from its corners and its middle. Its last row of units
/// lies one unit before the far corners.
fn highest([a, b, c, d]: [f32; 4], middle: f32, side: f32) -> f32 {
    let last = 1.0 - 1.0 / side;
    let line = |a: f32, b: f32| a + (b - a) * last;
    let far = [line(a, b), line(a, c), line(line(a, b), line(c, d))];
    far.into_iter().fold(a.max(middle), f32::max)
}
