//! Options of height maps.

use clap::{Args, ValueEnum};
use drystone_formats::{HeightMapOptions, Voids};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default)]
#[command(next_help_heading = "Height maps")]
pub(crate) struct HeightMapArgs {
    /// Metres between samples; two numbers if west-east and north-south differ (default: from the
    /// GeoTIFF or the name of the .hgt, else 30)
    #[arg(long, value_name = "M[xM]", value_parser = metres_per_sample, requires = "path")]
    metres_per_sample: Option<[f64; 2]>,
    /// Side of a voxel in metres (default: the smaller distance between samples)
    #[arg(long, value_name = "M", value_parser = positive, requires = "path")]
    metres_per_voxel: Option<f64>,
    /// Vertical exaggeration (default: 1)
    #[arg(long, value_name = "FACTOR", value_parser = positive, requires = "path")]
    vertical_scale: Option<f64>,
    /// Sea level in metres; lower land is under water (default: 0)
    #[arg(long, value_name = "M", value_parser = metres, requires = "path", allow_hyphen_values = true)]
    sea_level: Option<f64>,
    /// Metres above zero where snow begins; grass, forest, meadow and scree share the range below
    /// (default: 2500)
    #[arg(long, value_name = "M", value_parser = metres, requires = "path", allow_hyphen_values = true)]
    snow_line: Option<f64>,
    /// Samples without a height: holes, or filled from the samples around them (default: holes)
    #[arg(long, value_enum, value_name = "KIND", requires = "path")]
    voids: Option<VoidsKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VoidsKind {
    Holes,
    Filled,
}

impl HeightMapArgs {
    /// Returns the options, with defaults for those that are not set.
    pub(crate) fn options(&self) -> HeightMapOptions {
        let default = HeightMapOptions::default();
        let voids = match self.voids {
            Some(VoidsKind::Holes) => Voids::Holes,
            Some(VoidsKind::Filled) => Voids::Filled,
            None => default.voids,
        };
        HeightMapOptions::default()
            .with_metres_per_sample(self.metres_per_sample.or(default.metres_per_sample))
            .with_metres_per_voxel(self.metres_per_voxel.or(default.metres_per_voxel))
            .with_vertical_scale(self.vertical_scale.unwrap_or(default.vertical_scale))
            .with_sea_level_metres(self.sea_level.unwrap_or(default.sea_level_metres))
            .with_snow_line_metres(self.snow_line.unwrap_or(default.snow_line_metres))
            .with_voids(voids)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0, such as 7.5".into()),
    }
}

fn metres(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("a height is a number of metres, such as -12.5".into()),
    }
}

fn metres_per_sample(text: &str) -> Result<[f64; 2], String> {
    let parts: Result<Vec<f64>, String> = text.split('x').map(positive).collect();
    match parts.as_deref() {
        Ok(&[both]) => Ok([both; 2]),
        Ok(&[east, south]) => Ok([east, south]),
        _ => Err("distances are M or MxM in metres, such as 30 or 75x93".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Options;

    #[test]
    fn explicit_options_are_used_and_the_rest_is_default() {
        let parse = |words: &str| {
            let options = Options::try_parse_from(words.split(' ')).unwrap();
            options.scene.source.height_map.options()
        };
        assert_eq!(parse("drystone a.png"), HeightMapOptions::default());
        let all = "drystone a.png --metres-per-sample 75x93 --metres-per-voxel 7.5 \
                   --vertical-scale 2 --sea-level -5 --snow-line 900 --voids filled";
        let expected = HeightMapOptions::default()
            .with_metres_per_sample(Some([75.0, 93.0]))
            .with_metres_per_voxel(Some(7.5))
            .with_vertical_scale(2.0)
            .with_sea_level_metres(-5.0)
            .with_snow_line_metres(900.0)
            .with_voids(Voids::Filled);
        assert_eq!(parse(&all.split_whitespace().collect::<Vec<_>>().join(" ")), expected);
        let one = parse("drystone a.png --metres-per-sample 30");
        assert_eq!(one.metres_per_sample, Some([30.0; 2]));
    }
}
