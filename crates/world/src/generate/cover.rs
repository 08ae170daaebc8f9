//! What the ground is made of: by height, slope and wetness.

use drystone_voxel::Material;

use super::hash::Dice;
use super::palette::Palette;
use super::terrain::{Column, Terrain};

/// Steeper ground than this, in voxels of height a voxel of way, is bare rock.
const STEEP: f32 = 1.25;
/// Under so many voxels all is rock.
pub(super) const COVER: u32 = 4;

/// The rules of one world.
#[derive(Clone, Copy)]
pub(super) struct Cover<'a> {
    pub(super) terrain: &'a Terrain,
    pub(super) palette: &'a Palette,
}

impl Cover<'_> {
    /// What a solid voxel of the world is made of, under `depth` others.
    pub(super) fn ground(&self, column: &Column, place: [i32; 3], depth: u32) -> Material {
        let [x, height, z] = place;
        let palette = self.palette;
        // Floors and walls of caves, and what lies deep, are rock.
        let buried = column.ground - column.overhang - height as f32;
        if depth >= COVER || buried > 5.0 {
            return self.rock(column, height);
        }
        let sea = self.terrain.sea_level();
        let beach = sea + 2 + i32::from(column.wetness < 0.0);
        if height < beach && column.slope < STEEP {
            let gravel = height < sea - 3 && column.wetness > 0.1;
            return if gravel { palette.gravel } else { palette.sand };
        }
        let steep = column.slope > STEEP || (column.overhang > 1.5 && column.slope > 0.8);
        let snow_line = self.terrain.snow_line(column) + self.ragged([x, z]);
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
}
