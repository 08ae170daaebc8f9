//! Fills a chunk from its solid voxels: materials, water, trees and flowers.

use drystone_voxel::{Chunk, ChunkPos, Material};

use super::carve::Carved;
use super::cover::{COVER, Cover};
use super::grid::{BELOW, Grid, SIDE};
use super::hash::Dice;
use super::land::Land;
use super::palette::Palette;
use super::terrain::Terrain;
use super::tree::{Part, Tree};

/// One in this many grass voxels has a flower, in regions with flowers.
const FLOWER_ODDS: u32 = 20;

/// Makes the chunk at `position` on its land, in a world without end.
pub(super) fn chunk(
    terrain: &Terrain,
    palette: &Palette,
    land: &Land,
    position: ChunkPos,
) -> Chunk {
    let grid = Grid::new(position.into());
    let low = grid.height(0);
    let trees = land.trees().iter().map(|tree| tree.bounds().1[1] + 1).max().unwrap_or(0);
    // One more row for plants on the highest ground.
    let top = (land.top() as i32 + 2).max(trees).max(terrain.sea_level() + 1);
    if low > i64::from(top) {
        return Chunk::new(Chunk::SIDE, Material::AIR);
    }
    let origin = position.origin(Chunk::SIDE).to_array();
    let cover = Cover { terrain, palette };
    let scaled = std::array::from_fn(|y| cover.scaled(low + y as i64));
    let maker = Maker { cover, land, origin, scaled };
    let carved = Carved::new(terrain, land, grid);
    let mut voxels = vec![Material::AIR; (SIDE * SIDE * SIDE) as usize];
    for i in 0..SIDE * SIDE {
        maker.fill_column(&carved, i % SIDE, i / SIDE, &mut voxels);
    }
    maker.plant_trees(&mut voxels);
    maker.plant_flowers(&carved, &mut voxels);
    into_chunk(&voxels)
}

/// Index of a voxel of the chunk: X changes fastest, then Y, then Z.
pub(super) fn index([x, y, z]: [i32; 3]) -> usize {
    (x + SIDE * (y + SIDE * z)) as usize
}

pub(super) fn into_chunk(voxels: &[Material]) -> Chunk {
    let chunk = Chunk::from_voxels(Chunk::SIDE, voxels);
    chunk.unwrap_or_else(|| unreachable!("there are as many voxels as a chunk has"))
}

struct Maker<'a> {
    cover: Cover<'a>,
    land: &'a Land,
    /// Lowest voxel of the chunk.
    origin: [i32; 3],
    /// [Scaled](Cover::scaled) height of each row.
    scaled: [f32; SIDE as usize],
}

impl Maker<'_> {
    /// Fills one column with ground and water.
    fn fill_column(&self, carved: &Carved, x: i32, z: i32, voxels: &mut [Material]) {
        let column = self.land.column(x, z);
        let rows = carved.rows(x, z);
        let sea = self.cover.terrain.sea_level();
        for y in 0..SIDE {
            let height = self.origin[1] + y;
            let here = rows >> (y + BELOW);
            let material = if here & 1 != 0 {
                // Number of solid voxels directly above, within the computed rows.
                let depth = (here >> 1).trailing_ones();
                match depth {
                    COVER.. => self.cover.rock(column, self.scaled[y as usize]),
                    _ => self.cover.ground(column, self.world([x, y, z]), depth),
                }
            } else if height <= sea && height as f32 >= column.ground {
                self.cover.palette.water
            } else {
                continue;
            };
            voxels[index([x, y, z])] = material;
        }
    }

    fn world(&self, [x, y, z]: [i32; 3]) -> [i32; 3] {
        [self.origin[0] + x, self.origin[1] + y, self.origin[2] + z]
    }

    fn plant_trees(&self, voxels: &mut [Material]) {
        for tree in self.land.trees() {
            self.plant(tree, voxels);
        }
    }

    /// Sets a tree. Trees replace only air, and trunks also replace leaves.
    fn plant(&self, tree: &Tree, voxels: &mut [Material]) {
        let (low, high) = tree.bounds();
        let range = |axis: usize| {
            let from = (low[axis] - self.origin[axis]).max(0);
            from..=(high[axis] - self.origin[axis]).min(SIDE - 1)
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let position = self.world([x, y, z]);
                    let voxel = &mut voxels[index([x, y, z])];
                    match tree.part_at(position) {
                        Some(Part::Leaves(leaves)) if voxel.is_air() => *voxel = leaves,
                        Some(Part::Trunk(bark))
                            if voxel.is_air() || self.cover.palette.is_leaf(*voxel) =>
                        {
                            *voxel = bark;
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Sets flowers on grass under the open sky.
    fn plant_flowers(&self, carved: &Carved, voxels: &mut [Material]) {
        let p = self.cover.palette;
        for i in 0..SIDE * SIDE {
            let (x, z) = (i % SIDE, i / SIDE);
            let column = self.land.column(x, z);
            let y = column.ground.ceil() as i32 - self.origin[1];
            let meadow = (-0.35..0.1).contains(&column.wetness) && column.slope < 0.8;
            if !(0..SIDE).contains(&y) || !meadow || column.overhang > 0.0 {
                continue;
            }
            let rows = carved.rows(x, z) >> (y + BELOW - 1);
            let below = self.cover.ground(column, self.world([x, y - 1, z]), 0);
            let grows = rows & 3 == 1 && (below == p.grass || below == p.meadow);
            let [wx, _, wz] = self.world([x, y, z]);
            let mut dice = Dice::at(self.cover.terrain.seed, 2, wx, wz);
            if grows && dice.below(FLOWER_ODDS) == 0 {
                let voxel = &mut voxels[index([x, y, z])];
                // Flowers of one kind grow together.
                let kind = (column.wetness * 40.0).floor() as i32;
                let flower =
                    [p.buttercup, p.daisy, p.poppy, p.bluebell][kind.rem_euclid(4) as usize];
                if voxel.is_air() {
                    *voxel = flower;
                }
            }
        }
    }
}
