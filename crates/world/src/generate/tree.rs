use drystone_voxel::Material;

use super::column::{Column, smooth_step};
use super::grid::noise_coordinate;
use super::hash::Dice;
use super::palette::Palette;
use super::terrain::Terrain;

/// Side of a square of land that holds at most one tree.
const CELL: i32 = 5;
/// Maximum distance of leaves from the trunk.
const REACH: i32 = 7;
/// Steepest ground with trees, as height per horizontal distance.
const STEEPEST: f32 = 0.9;

/// A tree and its position.
pub(super) struct Tree {
    /// Lowest voxel of the trunk.
    pub(super) root: [i32; 3],
    kind: Kind,
    /// Height of the crown's centre above the root, or of the whole pine, in voxels.
    height: i32,
    /// Half the width of the crown.
    radius: f32,
    trunk: Material,
    leaves: Material,
    /// Material on the upper side of a pine's branches in cold regions.
    top: Material,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A round crown on a trunk.
    Round,
    /// A crown of several balls on a trunk of four voxels.
    Old,
    /// A slender crown on a long trunk.
    Slender,
    /// A cone of branches.
    Pine,
    /// A ball on the ground.
    Bush,
}

/// Part of a tree at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Trunk(Material),
    Leaves(Material),
}

/// Returns every tree that may reach into the box from `low` to `high` on X and Z. The order does
/// not depend on the box, so overlapping trees look the same in all chunks.
pub(super) fn trees_near(
    terrain: &Terrain,
    palette: &Palette,
    low: [i32; 2],
    high: [i32; 2],
) -> Vec<Tree> {
    let cells = |axis: usize| {
        let (low, high) = (low[axis].saturating_sub(REACH), high[axis].saturating_add(REACH));
        low.div_euclid(CELL)..=high.div_euclid(CELL)
    };
    let cells = cells(1).flat_map(|z| cells(0).map(move |x| (x, z)));
    let all: Vec<Seedling> = cells.map(|(x, z)| Seedling::of_cell(terrain.seed, x, z)).collect();
    let points = |seedlings: &[Seedling]| seedlings.iter().map(Seedling::point).collect::<Vec<_>>();
    // Cheap conditions come first.
    let wetness = terrain.wetness(&points(&all));
    let wet = all.into_iter().zip(wetness).filter(|(it, wetness)| it.chance <= forest(*wetness));
    let seedlings: Vec<Seedling> = wet.map(|(it, _)| it).collect();
    let columns = terrain.columns(&points(&seedlings));
    let seedlings = seedlings.into_iter().zip(columns);
    seedlings.filter_map(|(it, column)| it.grow(terrain, palette, column)).collect()
}

/// Position of a cell's possible tree, with the random numbers that select it.
struct Seedling {
    x: i32,
    z: i32,
    chance: f32,
    dice: Dice,
}

impl Seedling {
    fn of_cell(seed: u64, cell_x: i32, cell_z: i32) -> Self {
        let mut dice = Dice::at(seed, 1, cell_x, cell_z);
        let x = cell_x.wrapping_mul(CELL).wrapping_add(dice.below(CELL as u32));
        let z = cell_z.wrapping_mul(CELL).wrapping_add(dice.below(CELL as u32));
        let chance = dice.unit();
        Self { x, z, chance, dice }
    }

    /// Point at which noise is sampled.
    fn point(&self) -> [f32; 2] {
        [self.x, self.z].map(|c| noise_coordinate(c.into()))
    }

    /// Returns the tree that grows on this column, if there is one.
    fn grow(mut self, terrain: &Terrain, palette: &Palette, column: Column) -> Option<Tree> {
        if self.chance > density(terrain, &column) {
            return None;
        }
        let column = Column { slope: terrain.slope(self.point()), ..column };
        let (root, sea) = (column.ground.ceil() as i32, terrain.sea_level());
        let Self { x, z, .. } = self;
        let hollow = |depth: i32| terrain.carver().cave_at(&column, sea, [x, root - depth, z]);
        if column.slope > STEEPEST || hollow(1) || hollow(2) {
            return None;
        }
        Some(Tree::grow(terrain, palette, &column, [x, root, z], &mut self.dice))
    }
}

/// Returns the share of cells with a tree at this wetness, on good ground.
fn forest(wetness: f32) -> f32 {
    0.03 + 0.8 * smooth_step(-0.15, 0.3, wetness)
}

/// Returns the share of cells with a tree on ground like that of the column, if it is not too
/// steep.
fn density(terrain: &Terrain, column: &Column) -> f32 {
    let dry = column.ground > (terrain.sea_level() + 3) as f32;
    let thins = 1.0 - smooth_step(0.8, 1.0, column.ground / terrain.tree_line());
    if dry && column.overhang <= 0.0 { forest(column.wetness) * thins } else { -1.0 }
}

/// Returns the highest leaves over a position and their height. All trees around it are assumed to
/// stand on ground like that of the column. This needs no noise, so it is cheap where trees are
/// small.
pub(super) fn canopy(
    terrain: &Terrain,
    palette: &Palette,
    column: &Column,
    [x, z]: [i32; 2],
) -> Option<(i32, Material)> {
    let density = density(terrain, column);
    if density <= 0.0 || column.slope > STEEPEST {
        return None;
    }
    let root = column.ground.ceil() as i32;
    let cells = |c: i32| {
        c.saturating_sub(REACH).div_euclid(CELL)..=c.saturating_add(REACH).div_euclid(CELL)
    };
    cells(z)
        .flat_map(|cell_z| cells(x).map(move |cell_x| (cell_x, cell_z)))
        .filter_map(|(cell_x, cell_z)| {
            let mut seedling = Seedling::of_cell(terrain.seed, cell_x, cell_z);
            if seedling.chance > density {
                return None;
            }
            let position = [seedling.x, root, seedling.z];
            Tree::grow(terrain, palette, column, position, &mut seedling.dice).highest_leaves(x, z)
        })
        .max_by_key(|(height, _)| *height)
}

impl Tree {
    /// Selects the kind of tree: pines at high altitude, slender trees on wet ground.
    fn grow(
        terrain: &Terrain,
        palette: &Palette,
        column: &Column,
        root: [i32; 3],
        dice: &mut Dice,
    ) -> Self {
        let altitude = (column.ground / terrain.scale - 34.0) / 46.0;
        let cold = altitude + 0.25 * (dice.unit() - 0.5);
        let roll = dice.unit();
        let kind = match () {
            () if cold > 0.42 => Kind::Pine,
            () if roll < 0.12 => Kind::Bush,
            () if roll < 0.20 => Kind::Old,
            () if roll < 0.36 => Kind::Slender,
            () if roll < 0.48 && cold > 0.22 => Kind::Pine,
            () => Kind::Round,
        };
        let (height, radius) = match kind {
            Kind::Round => (5 + dice.below(3), 2.6 + dice.unit() * 1.2),
            Kind::Old => (8 + dice.below(3), 3.6 + dice.unit() * 0.8),
            Kind::Slender => (7 + dice.below(4), 2.0 + dice.unit() * 0.5),
            Kind::Pine => (10 + dice.below(9), 2.6 + dice.unit() * 1.4),
            Kind::Bush => (1, 1.5 + dice.unit() * 0.7),
        };
        let trunk = match kind {
            Kind::Pine => palette.pine_bark,
            Kind::Slender => palette.birch_bark,
            _ => palette.oak_bark,
        };
        let leaves = match (kind, dice.below(100)) {
            (Kind::Pine, _) => palette.pine_needles,
            (Kind::Slender, _) => palette.birch_leaves,
            (_, 0..6) => palette.autumn_leaves,
            (_, 6..9) => palette.red_leaves,
            (_, 9..45) => palette.young_leaves,
            _ => palette.oak_leaves,
        };
        let snowy = column.ground > terrain.snow_line(column) - 13.0 * terrain.scale;
        let top = if snowy { palette.snow } else { leaves };
        Self { root, kind, height, radius, trunk, leaves, top }
    }

    /// Returns the lowest and highest position that the tree may reach, both inclusive.
    pub(super) fn bounds(&self) -> ([i32; 3], [i32; 3]) {
        let ([x, y, z], r) = (self.root, self.radius);
        let (reach, above) = match self.kind {
            Kind::Round => (r, r * 0.85),
            Kind::Old => (2.5 + r * 0.7, 1.5 + r * 0.8),
            Kind::Slender => (r, r * 1.9),
            Kind::Pine => (r + 1.0, 0.0),
            Kind::Bush => (r, r * 0.8),
        };
        let (reach, top) = (reach as i32, self.height + above as i32);
        let low = |c: i32| c.saturating_sub(reach);
        let high = |c: i32| c.saturating_add(reach);
        ([low(x), y, low(z)], [high(x), y + top, high(z)])
    }

    /// Returns the highest leaves of the column at (x, z), and their height.
    fn highest_leaves(&self, x: i32, z: i32) -> Option<(i32, Material)> {
        let (low, high) = self.bounds();
        let inside = (low[0]..=high[0]).contains(&x) && (low[2]..=high[2]).contains(&z);
        if !inside {
            return None;
        }
        (low[1]..=high[1]).rev().find_map(|y| match self.part_at([x, y, z])? {
            Part::Leaves(leaves) => Some((y, leaves)),
            Part::Trunk(_) => None,
        })
    }

    /// Returns the part of the tree at a position in the world.
    pub(super) fn part_at(&self, position: [i32; 3]) -> Option<Part> {
        let offset = [0, 1, 2].map(|axis| position[axis] - self.root[axis]);
        if self.is_trunk(offset) {
            return Some(Part::Trunk(self.trunk));
        }
        self.leaves_at(position).map(Part::Leaves)
    }

    /// Returns the leaves at a position in the world, as if there were no trunk.
    pub(super) fn leaves_at(&self, position: [i32; 3]) -> Option<Material> {
        let offset = [0, 1, 2].map(|axis| position[axis] - self.root[axis]);
        if !self.is_crown(offset) {
            return None;
        }
        let [x, y, z] = offset;
        // Snow lies at the tips of branches, which no other branches cover.
        let covered =
            self.top == self.leaves || self.is_crown([x, y + 1, z]) || self.is_crown([x, y + 2, z]);
        Some(if covered { self.leaves } else { self.top })
    }

    /// Returns the material of most leaves.
    pub(super) const fn leaves(&self) -> Material {
        self.leaves
    }

    /// Returns the bark in the cube of side `side` from `low` on, if there is any.
    pub(super) fn trunk_in(&self, low: [i32; 3], side: i32) -> Option<Material> {
        let nearest = |axis: usize| self.root[axis].clamp(low[axis], low[axis] + (side - 1));
        let offset = [0, 1, 2].map(|axis| nearest(axis) - self.root[axis]);
        self.is_trunk(offset).then_some(self.trunk)
    }

    fn is_trunk(&self, [x, y, z]: [i32; 3]) -> bool {
        let inside = match self.kind {
            Kind::Old => (0..=1).contains(&x) && (0..=1).contains(&z),
            Kind::Bush => false,
            _ => x == 0 && z == 0,
        };
        let trunk = match self.kind {
            Kind::Pine => self.height - 2,
            _ => self.height + 1,
        };
        inside && (0..trunk).contains(&y)
    }

    fn is_crown(&self, [x, y, z]: [i32; 3]) -> bool {
        let [fx, fy, fz] = [x, y, z].map(|c| c as f32);
        let ball = |at: [f32; 3], wide: f32, tall: f32| {
            let [dx, dy, dz] = [(fx - at[0]) / wide, (fy - at[1]) / tall, (fz - at[2]) / wide];
            dx * dx + dy * dy + dz * dz <= 1.0
        };
        let (height, r) = (self.height as f32, self.radius);
        match self.kind {
            Kind::Round => ball([0.0, height, 0.0], r, r * 0.85),
            Kind::Slender => ball([0.0, height, 0.0], r, r * 1.9),
            Kind::Bush => y >= 0 && ball([0.0, 0.4, 0.0], r, r * 0.8),
            Kind::Old => {
                ball([0.5, height + 1.5, 0.5], r, r * 0.8)
                    || ball([2.5, height - 0.5, 1.0], r * 0.7, r * 0.5)
                    || ball([-1.5, height - 1.0, 2.0], r * 0.7, r * 0.5)
                    || ball([0.0, height - 0.5, -2.0], r * 0.7, r * 0.5)
            }
            Kind::Pine => {
                // Branches come in pairs of rows: a wide one, then a narrower one.
                let from_top = self.height - y;
                if y < 2 || from_top < 0 {
                    return false;
                }
                let wide = if from_top % 2 == 0 { 0.9 } else { 0.0 };
                let limit = r * from_top as f32 / (height - 2.0) + wide;
                fx * fx + fz * fz <= limit * limit + 0.3
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone_voxel::MaterialTable;

    use super::*;

    /// Every tree lies within its bounds, and there are trees of every kind.
    #[test]
    fn trees_stay_within_their_bounds() {
        let palette = Palette::new(&mut MaterialTable::new());
        let terrain = Terrain::new(7, 128);
        let trees = trees_near(&terrain, &palette, [0, 0], [800, 800]);
        for kind in [Kind::Round, Kind::Old, Kind::Slender, Kind::Pine, Kind::Bush] {
            assert!(trees.iter().any(|tree| tree.kind == kind));
        }
        for tree in &trees {
            let (low, high) = tree.bounds();
            let mut solid = 0;
            for y in low[1] - 3..=high[1] + 3 {
                for x in low[0] - 3..=high[0] + 3 {
                    for z in low[2] - 3..=high[2] + 3 {
                        let inside = (0..3).all(|i| {
                            let c = [x, y, z][i];
                            (low[i]..=high[i]).contains(&c)
                        });
                        let part = tree.part_at([x, y, z]).is_some();
                        assert!(inside || !part, "{x} {y} {z} of {:?}", tree.root);
                        solid += i32::from(part);
                    }
                }
            }
            assert!(solid > 5);
        }
    }
}
