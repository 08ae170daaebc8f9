use drystone_voxel::{Material, MaterialTable};

use super::options::HeightMapOptions;

/// Slope above which ground is bare rock, in metres per metre.
const STEEP: f64 = 0.6;
/// Slope above which snow slides off too.
const MAX_SNOW_SLOPE: f64 = 1.0;
/// Upper limits of sand, grass, forest and alpine meadow, as fractions of the range from sea level
/// to snow line. Above them is scree.
const BEACH: f64 = 0.002;
const GRASS: f64 = 0.25;
const FOREST: f64 = 0.5;
const MEADOW: f64 = 0.75;

/// Surface materials by height and slope.
pub(super) struct Cover {
    sand: Material,
    grass: Material,
    forest: Material,
    meadow: Material,
    scree: Material,
    snow: Material,
    pub(super) rock: Material,
    pub(super) dirt: Material,
    pub(super) stone: Material,
    pub(super) water: Material,
    sea_metres: f64,
    snow_metres: f64,
}

impl Cover {
    /// Adds the materials to an empty table, which has capacity for all of them.
    pub(super) fn new(table: &mut MaterialTable, options: &HeightMapOptions) -> Self {
        let mut add = |name, color| table.insert(name, color).unwrap_or_default();
        Self {
            sand: add("sand", [222, 206, 154, 255]),
            grass: add("grass", [132, 174, 76, 255]),
            forest: add("forest", [84, 138, 62, 255]),
            meadow: add("alpine meadow", [150, 160, 88, 255]),
            scree: add("scree", [148, 141, 131, 255]),
            snow: add("snow", [241, 245, 250, 255]),
            rock: add("rock", [118, 114, 112, 255]),
            dirt: add("dirt", [122, 88, 60, 255]),
            stone: add("stone", [134, 134, 136, 255]),
            water: add("water", [46, 116, 178, 150]),
            sea_metres: options.sea_level_metres,
            snow_metres: options.snow_line_metres,
        }
    }

    /// Surface material at a height in metres, for a slope in metres per metre.
    pub(super) fn top(&self, metres: f64, slope: f64) -> Material {
        let fraction = (metres - self.sea_metres) / (self.snow_metres - self.sea_metres);
        match fraction {
            _ if slope > MAX_SNOW_SLOPE || (slope > STEEP && fraction < 1.0) => self.rock,
            ..BEACH => self.sand,
            ..GRASS => self.grass,
            ..FOREST => self.forest,
            ..MEADOW => self.meadow,
            ..1.0 => self.scree,
            _ => self.snow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_match_the_documented_table() {
        let mut table = MaterialTable::new();
        let cover = Cover::new(&mut table, &HeightMapOptions::default());
        let name = |metres, slope| table.get(cover.top(metres, slope)).unwrap().name.as_str();
        for (metres, flat, steep, steeper) in [
            (-30.0, "sand", "rock", "rock"),
            (4.9, "sand", "rock", "rock"),
            (5.1, "grass", "rock", "rock"),
            (624.0, "grass", "rock", "rock"),
            (626.0, "forest", "rock", "rock"),
            (1_251.0, "alpine meadow", "rock", "rock"),
            (1_876.0, "scree", "rock", "rock"),
            (2_500.0, "snow", "snow", "rock"),
        ] {
            let seen = [0.59, 0.61, 1.01].map(|slope| name(metres, slope));
            assert_eq!(seen, [flat, steep, steeper], "{metres}");
        }
        assert!(table.is_translucent(cover.water));
    }
}
