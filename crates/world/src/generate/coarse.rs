//! LOD chunks, with voxels of 2, 4, 8 … units, made directly from the noise.
//!
//! ```text
//!  voxel in units  1        2       4        8       16 …
//!  ground          each unit    corners and middle of each voxel's square
//!  material        each unit    surface in the middle of the square
//!  trees           each unit    units in the voxels' middles    the highest leaves above
//! ```
//! The land is as high as the highest ground of each square, so it hides everything that the
//! smaller voxels hide. Only the shore is flat: beaches a little above the sea would be walls of whole
//! voxels around each lake, and would fill small lakes. The material of a voxel is that of one position in it, so a distant picture
//! has the same colours as a near one.

use drystone_voxel::{Chunk, Material};

use super::carve::Carved;
use super::column::Column;
use super::cover::{COVER, Cover};
use super::fill::{index, into_chunk};
use super::grid::{BELOW, Grid, SIDE};
use super::land::{GROWN_UNITS, Land};
use super::palette::Palette;
use super::terrain::Terrain;
use super::tree::{Tree, canopy};

/// Widest voxels that show the bark of trunks, in units.
const BARK_UNITS: i64 = 2;

/// Makes the LOD chunk on its land, in a world that ends before `end_units`.
pub(super) fn chunk(
    terrain: &Terrain,
    palette: &Palette,
    land: &Land,
    grid: Grid,
    end_units: [i64; 3],
) -> Chunk {
    let inside = inside(grid, end_units);
    let cover = Cover { terrain, palette };
    let middle = |y| grid.height(y as i32) + grid.units / 2;
    let scaled = std::array::from_fn(|y| cover.scaled(i64::from(middle(y) as i32)));
    let maker = Maker { cover, land, grid, inside, scaled };
    if maker.is_above_all() {
        return Chunk::new(Chunk::SIDE, Material::AIR);
    }
    let carved = Carved::new(terrain, land, grid);
    let mut voxels = vec![Material::AIR; (SIDE * SIDE * SIDE) as usize];
    for z in 0..inside[2] {
        for x in 0..inside[0] {
            maker.fill_column(carved.rows(x, z), x, z, &mut voxels);
        }
    }
    for tree in land.trees() {
        maker.plant(tree, &mut voxels);
    }
    into_chunk(&voxels)
}

/// Number of voxels along each axis that lie at least partly in the world.
fn inside(grid: Grid, end_units: [i64; 3]) -> [i32; 3] {
    [0, 1, 2].map(|axis| {
        let units = end_units[axis] - grid.origin[axis];
        (units + grid.units - 1).div_euclid(grid.units).clamp(0, i64::from(SIDE)) as i32
    })
}

struct Maker<'a> {
    cover: Cover<'a>,
    land: &'a Land,
    grid: Grid,
    /// Number of voxels along each axis that lie in the world.
    inside: [i32; 3],
    /// [Scaled](Cover::scaled) height of the middle of each row.
    scaled: [f32; SIDE as usize],
}

impl Maker<'_> {
    fn is_above_all(&self) -> bool {
        let low = self.grid.height(0);
        let trees = match self.grid.units {
            units if units <= GROWN_UNITS => {
                self.land.trees().iter().map(|tree| i64::from(tree.bounds().1[1])).max()
            }
            _ => Some(self.land.top().ceil() as i64 + i64::from(super::terrain::MAX_TREE_HEIGHT)),
        };
        let sea = i64::from(self.cover.terrain.sea_level());
        low > trees.unwrap_or(0).max(sea) && low as f32 > self.land.top()
    }

    /// Fills one column with ground, water and plants.
    fn fill_column(&self, rows: u64, x: i32, z: i32, voxels: &mut [Material]) {
        let column = self.land.column(x, z);
        let rows = if self.is_shore(column) { rows & self.rows_below_sea() } else { rows };
        let mut put = |y: i32, material: Material| voxels[index([x, y, z])] = material;
        for y in 0..self.inside[1] {
            let here = rows >> (y + BELOW);
            if here & 1 != 0 {
                put(y, self.ground(column, [x, y, z], (here >> 1).trailing_ones()));
            }
        }
        let top = 63 - BELOW - (rows | 1).leading_zeros() as i32;
        let middle = self.grid.middle(x, z).map(|c| c as i32);
        let sea = self.cover.terrain.sea_level();
        let leaves = || canopy(self.cover.terrain, self.cover.palette, column, middle);
        if self.is_under_water(column) {
            let surface = self.row_of(sea);
            for y in (top + 1).max(0)..self.inside[1].min(surface.saturating_add(1)) {
                put(y, self.cover.palette.water);
            }
            // If there is no free voxel for water above the ground, the ground itself becomes
            // water.
            if top == surface && (0..self.inside[1]).contains(&top) {
                put(top, self.cover.palette.far_water);
            }
        } else if self.grid.units > GROWN_UNITS
            && let Some((height, leaves)) = leaves()
        {
            let highest = self.row_of(height).max(top);
            for y in (top + 1).min(highest).max(0)..self.inside[1].min(highest.saturating_add(1)) {
                put(y, leaves);
            }
        }
    }

    /// Whether a column ends at the surface of the sea, where that is the end of a voxel: its ground is
    /// above the sea by less than half a voxel, or by less than a voxel if its middle is under water.
    fn is_shore(&self, column: &Column) -> bool {
        let surface = self.cover.terrain.sea_level() + 1;
        let part = if self.is_under_water(column) { 1.0 } else { 0.5 };
        i64::from(surface) % self.grid.units == 0
            && column.highest < surface as f32 + part * self.grid.units as f32
    }

    /// Whether the middle of a column is under water.
    fn is_under_water(&self, column: &Column) -> bool {
        column.ground.ceil() as i32 <= self.cover.terrain.sea_level()
    }

    /// Bits of the rows up to the surface of the sea.
    fn rows_below_sea(&self) -> u64 {
        let count = self.row_of(self.cover.terrain.sea_level()).saturating_add(1 + BELOW);
        u64::MAX.checked_shr(64 - count.clamp(0, 64) as u32).unwrap_or(0)
    }

    /// Returns the visible material of a solid voxel below `depth` other solid voxels.
    fn ground(&self, column: &Column, [x, y, z]: [i32; 3], depth: u32) -> Material {
        let units = self.grid.units;
        // The exposed material is that of the surface in the middle of the square.
        let open = column.ground.ceil() as i64 - 1;
        if i64::from(depth) * units >= COVER.into() && self.grid.height(y) + units / 2 <= open {
            return self.cover.rock(column, self.scaled[y as usize]);
        }
        let [mx, mz] = self.grid.middle(x, z);
        let within = if depth == 0 { units - 1 } else { units / 2 };
        let height = (self.grid.height(y) + within).min(open);
        let depth = (i64::from(depth) * units).min(COVER.into());
        self.cover.ground(column, [mx as i32, height as i32, mz as i32], depth as u32)
    }

    /// Returns the row of the chunk that contains a height.
    fn row_of(&self, height: i32) -> i32 {
        let above = i64::from(height) - self.grid.origin[1];
        above.div_euclid(self.grid.units).clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }

    /// Sets leaves where the middle of a voxel has leaves, and bark where there is only bark. A
    /// wider trunk would be visible through the crown, and without a trunk the crown would float.
    /// Voxels much wider than a trunk are leaves too: columns of bark would cover what is behind
    /// them, in a colour that near trees hardly show.
    fn plant(&self, tree: &Tree, voxels: &mut [Material]) {
        let (low, high) = tree.bounds();
        let range = |axis: usize| {
            let row = |c: i32| (i64::from(c) - self.grid.origin[axis]).div_euclid(self.grid.units);
            let [low, high] = [row(low[axis]), row(high[axis])];
            low.max(0) as i32..(high + 1).min(self.inside[axis].into()) as i32
        };
        let position = |axis: usize, c: i32, within: i64| {
            (self.grid.origin[axis] + i64::from(c) * self.grid.units + within) as i32
        };
        let middle = self.grid.units / 2;
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let at =
                        |within: [i64; 3]| [0, 1, 2].map(|i| position(i, [x, y, z][i], within[i]));
                    let voxel = &mut voxels[index([x, y, z])];
                    if voxel.is_air() {
                        let trunk = || {
                            let bark = tree.trunk_in(at([0; 3]), self.grid.units as i32)?;
                            Some(if self.grid.units > BARK_UNITS { tree.leaves() } else { bark })
                        };
                        let leaves = tree.leaves_at(at([middle; 3]));
                        *voxel = leaves.or_else(trunk).unwrap_or(Material::AIR);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
