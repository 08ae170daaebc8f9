//! Material of the ground, selected by height, slope and wetness.

use drystone_voxel::Material;

use super::column::Column;
use super::hash::Dice;
use super::palette::Palette;
use super::terrain::Terrain;

/// Slope above which the ground is bare rock, as height per horizontal distance.
const STEEP: f32 = 1.25;
/// Depth in voxels below which all ground is rock.
pub(super) const COVER: u32 = 4;

/// Rules for the ground of one world.
#[derive(Clone, Copy)]
pub(super) struct Cover<'a> {
    pub(super) terrain: &'a Terrain,
    pub(super) palette: &'a Palette,
}

impl Cover<'_> {
    /// Returns the material of a solid voxel below `depth` other solid voxels.
    pub(super) fn ground(&self, column: &Column, position: [i32; 3], depth: u32) -> Material {
        let [x, height, z] = position;
        let palette = self.palette;
        // Floors and walls of caves and deep ground are rock.
        let buried = column.ground - column.overhang - height as f32;
        if depth >= COVER || buried > 5.0 {
            return self.rock(column, self.scaled(height.into()));
        }
        let rock = || self.rock(column, self.scaled(height.into()));
        let sea = self.terrain.sea_level();
        let beach = sea + 2 + i32::from(column.wetness < 0.0);
        if height < beach && column.slope < STEEP {
            let gravel = height < sea - 3 && column.wetness > 0.1;
            return if gravel { palette.gravel } else { palette.sand };
        }
        let steep = column.slope > STEEP || (column.overhang > 1.5 && column.slope > 0.8);
        let snow_line = self.terrain.snow_line(column) + self.ragged([x, z]);
        if height as f32 > snow_line && column.slope < 2.2 {
            return if depth < 2 { palette.snow } else { rock() };
        }
        // Scree lies between the trees and the snow.
        let scree = height as f32 > snow_line - 7.0 * self.terrain.scale;
        match (steep, scree, depth) {
            (true, ..) => rock(),
            (_, true, 0) if column.slope > 0.7 => palette.gravel,
            (_, true, 1..) => rock(),
            (_, _, 0) => self.turf(column),
            _ => palette.dirt,
        }
    }

    /// Returns an offset of one or two voxels, so that borders between heights are not straight.
    fn ragged(&self, [x, z]: [i32; 2]) -> f32 {
        Dice::at(self.terrain.seed, 3, x >> 1, z >> 1).unit() * 3.0 - 1.5
    }

    /// Returns the layer of rock at a [scaled](Self::scaled) height. Layers are tilted with the land.
    pub(super) fn rock(&self, column: &Column, scaled: f32) -> Material {
        let layer = (scaled + column.wetness * 9.0) as i32;
        match layer.rem_euclid(19) {
            0..3 => self.palette.dark_stone,
            9..11 => self.palette.light_stone,
            13 => self.palette.dark_stone,
            _ => self.palette.stone,
        }
    }

    /// Returns a height in the unit of layers of rock.
    pub(super) fn scaled(&self, height: i64) -> f32 {
        height as f32 / self.terrain.scale.max(0.5)
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
