//! A chunk's voxels, from what is solid: which material, water, trees, flowers.

use drystone_voxel::{Chunk, ChunkPos, Material};

use super::carve::{ABOVE, BELOW, Carved};
use super::hash::Dice;
use super::palette::Palette;
use super::terrain::{Column, Terrain};
use super::tree::{MAX_HEIGHT, Part, Tree, trees_near};

const SIDE: i32 = Chunk::SIDE as i32;
/// Steeper ground than this, in voxels of height a voxel of way, is bare rock.
const STEEP: f32 = 1.25;
/// Of how many places on grass one bears a flower, where flowers grow at all.
const FLOWER_ODDS: u32 = 20;

/// The chunk at `position`, as it is in a world without end.
pub(super) fn chunk(terrain: &Terrain, palette: &Palette, position: ChunkPos) -> Chunk {
    let origin = position.origin(Chunk::SIDE).to_array();
    let maker = Maker { terrain, palette, origin };
    let carved = Carved::new(terrain, origin);
    let mut voxels = vec![Material::AIR; (SIDE * SIDE * SIDE) as usize];
    for i in 0..SIDE * SIDE {
        maker.fill_column(&carved, i % SIDE, i / SIDE, &mut voxels);
    }
    maker.plant_trees(&mut voxels);
    maker.plant_flowers(&carved, &mut voxels);
    into_chunk(&voxels)
}

/// The place of a voxel of the chunk: X fastest, then Y, then Z.
fn index([x, y, z]: [i32; 3]) -> usize {
    (x + SIDE * (y + SIDE * z)) as usize
}

fn into_chunk(voxels: &[Material]) -> Chunk {
    let chunk = Chunk::from_voxels(Chunk::SIDE, voxels);
    chunk.unwrap_or_else(|| unreachable!("there are as many voxels as a chunk has"))
}

struct Maker<'a> {
    terrain: &'a Terrain,
    palette: &'a Palette,
    /// The chunk's lowest voxel.
    origin: [i32; 3],
}

impl Maker<'_> {
    /// Ground and water of one column.
    fn fill_column(&self, carved: &Carved, x: i32, z: i32, voxels: &mut [Material]) {
        let column = carved.column(x, z);
        let rows = carved.rows(x, z);
        let sea = self.terrain.sea_level();
        for y in 0..SIDE {
            let height = self.origin[1] + y;
            let here = rows >> (y + BELOW);
            let material = if here & 1 != 0 {
                // How many solid voxels lie straight above, as far as is known.
                let depth = (here >> 1).trailing_ones().min(ABOVE as u32);
                self.ground(column, [x, height, z], depth)
            } else if height <= sea && height as f32 >= column.ground {
                self.palette.water
            } else {
                continue;
            };
            voxels[index([x, y, z])] = material;
        }
    }

    /// What a solid voxel is made of; `x` and `z` in the chunk, the height in the world.
    fn ground(&self, column: &Column, [x, height, z]: [i32; 3], depth: u32) -> Material {
        let palette = self.palette;
        // Floors and walls of caves, and what lies deep, are rock.
        let buried = column.ground - column.overhang - height as f32;
        if depth >= ABOVE as u32 || buried > 5.0 {
            return self.rock(column, height);
        }
        let sea = self.terrain.sea_level();
        let world = [self.origin[0] + x, self.origin[2] + z];
        let beach = sea + 2 + i32::from(column.wetness < 0.0);
        if height < beach && column.slope < STEEP {
            let gravel = height < sea - 3 && column.wetness > 0.1;
            return if gravel { palette.gravel } else { palette.sand };
        }
        let steep = column.slope > STEEP || (column.overhang > 1.5 && column.slope > 0.8);
        let snow_line = self.terrain.snow_line(column) + self.ragged(world);
        if height as f32 > snow_line && column.slope < 2.2 {
            return if depth < 2 { palette.snow } else { self.rock(column, height) };
        }
        // Between the trees and the snow, scree.
        let scree = height as f32 > snow_line - 7.0 * self.terrain.scale;
        match (steep, scree, depth) {
            (true, ..) => self.rock(column, height),
            (_, true, 0) if column.slope > 0.7 => palette.gravel,
            (_, true, 1..) => self.rock(column, height),
            (_, _, 0) => self.turf(column),
            _ => palette.dirt,
        }
    }

    /// One or two voxels up or down, so that borders of height are not drawn with a ruler.
    fn ragged(&self, [x, z]: [i32; 2]) -> f32 {
        Dice::at(self.terrain.seed, 3, x >> 1, z >> 1).unit() * 3.0 - 1.5
    }

    /// Layers of rock, tilted with the land.
    fn rock(&self, column: &Column, height: i32) -> Material {
        let layer = (height as f32 / self.terrain.scale.max(0.5) + column.wetness * 9.0) as i32;
        match layer.rem_euclid(19) {
            0..3 => self.palette.dark_stone,
            9..11 => self.palette.light_stone,
            13 => self.palette.dark_stone,
            _ => self.palette.stone,
        }
    }

    fn turf(&self, column: &Column) -> Material {
        match column.wetness {
            w if w > 0.16 => self.palette.forest_floor,
            w if w > -0.12 => self.palette.grass,
            w if w > -0.4 => self.palette.meadow,
            _ => self.palette.dry_grass,
        }
    }

    fn plant_trees(&self, voxels: &mut [Material]) {
        let [x, y, z] = self.origin;
        let high = [x + SIDE - 1, z + SIDE - 1];
        for tree in trees_near(self.terrain, self.palette, [x, z], high) {
            if tree.root[1] < y + SIDE && tree.root[1] + MAX_HEIGHT >= y {
                self.plant(&tree, voxels);
            }
        }
    }

    /// Trees grow into air only, and a trunk wins over leaves.
    fn plant(&self, tree: &Tree, voxels: &mut [Material]) {
        let (low, high) = tree.bounds();
        let range = |axis: usize| {
            let from = (low[axis] - self.origin[axis]).max(0);
            from..=(high[axis] - self.origin[axis]).min(SIDE - 1)
        };
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let place = [0, 1, 2].map(|i| self.origin[i] + [x, y, z][i]);
                    let voxel = &mut voxels[index([x, y, z])];
                    match tree.part_at(place) {
                        Some(Part::Leaves(leaves)) if voxel.is_air() => *voxel = leaves,
                        Some(Part::Trunk(bark)) if voxel.is_air() || self.is_leaf(*voxel) => {
                            *voxel = bark;
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn is_leaf(&self, material: Material) -> bool {
        let p = self.palette;
        [
            p.oak_leaves,
            p.young_leaves,
            p.birch_leaves,
            p.pine_needles,
            p.autumn_leaves,
            p.red_leaves,
        ]
        .contains(&material)
    }

    /// A flower here and there, on grass and under the open sky.
    fn plant_flowers(&self, carved: &Carved, voxels: &mut [Material]) {
        let p = self.palette;
        for i in 0..SIDE * SIDE {
            let (x, z) = (i % SIDE, i / SIDE);
            let column = carved.column(x, z);
            let y = column.ground.ceil() as i32 - self.origin[1];
            let meadow = (-0.35..0.1).contains(&column.wetness) && column.slope < 0.8;
            if !(0..SIDE).contains(&y) || !meadow || column.overhang > 0.0 {
                continue;
            }
            let rows = carved.rows(x, z) >> (y + BELOW - 1);
            let below = self.ground(column, [x, self.origin[1] + y - 1, z], 0);
            let grows = rows & 3 == 1 && (below == p.grass || below == p.meadow);
            let mut dice = Dice::at(self.terrain.seed, 2, self.origin[0] + x, self.origin[2] + z);
            if grows && dice.below(FLOWER_ODDS) == 0 {
                let voxel = &mut voxels[index([x, y, z])];
                // Flowers of a kind grow together.
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
