use crate::fault::Fault;
use crate::identity;

/// Options for converting heights to voxels.
///
/// # Examples
/// ```
/// use drystone_formats::HeightMapOptions;
///
/// // Samples 75 m apart from west to east and 93 m from north to south.
/// let options =
///     HeightMapOptions::default().with_metres_per_sample(Some([75.0, 93.0]));
/// assert_eq!(options.vertical_scale, 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct HeightMapOptions {
    /// Distance of samples eastwards and southwards, in metres. Default: the distance in the file,
    /// else [`METRES_PER_SAMPLE`](Self::METRES_PER_SAMPLE). A GeoTIFF has a pixel scale; for `.hgt`
    /// the distance follows from the name, for example N47E011.
    pub metres_per_sample: Option<[f64; 2]>,
    /// Side of a voxel, in metres. Default: the smaller distance of samples.
    pub metres_per_voxel: Option<f64>,
    /// Factor by which heights are exaggerated. Default: 1.
    pub vertical_scale: f64,
    /// Height of the water surface, in metres. Default: 0.
    pub sea_level_metres: f64,
    /// Height above which there is snow, in metres. Vegetation zones end at quarters of the range
    /// from sea level to here. Default: 2500.
    pub snow_line_metres: f64,
    /// Treatment of samples without a height. Default: holes.
    pub voids: Voids,
}

/// Treatment of samples without a height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Voids {
    /// Show holes.
    #[default]
    Holes,
    /// Fill voids with the mean height of their neighbours, from the rim of a void inwards.
    Filled,
}

impl HeightMapOptions {
    /// Distance of samples in metres if neither the file nor the options contain one: an arc second
    /// of latitude, rounded.
    pub const METRES_PER_SAMPLE: f64 = 30.0;
    /// Smallest and largest supported distance, in metres.
    const DISTANCES: [f64; 2] = [1e-6, 1e9];
    /// Smallest and largest supported vertical scale.
    const SCALES: [f64; 2] = [1e-6, 1e6];

    /// The options in a stable text form, see [`identity`].
    pub(super) fn identity(&self) -> String {
        let Self { vertical_scale, sea_level_metres, snow_line_metres, .. } = self;
        let [east, south] = match self.metres_per_sample {
            Some(metres) => metres.map(|metres| identity::option(Some(metres))),
            None => [identity::option(None), identity::option(None)],
        };
        let voxel = identity::option(self.metres_per_voxel);
        let voids = match self.voids {
            Voids::Holes => "holes",
            Voids::Filled => "filled",
        };
        format!(
            "options 1: samples {east} {south}, voxel {voxel}, vertical {vertical_scale}, sea \
             {sea_level_metres}, snow {snow_line_metres}, voids {voids}"
        )
    }

    pub(super) fn check(&self) -> Result<(), Fault> {
        let bad = |problem: String, advice| Err(Fault::new("options", problem, advice));
        let within = |number: f64, [low, high]: [f64; 2]| (low..=high).contains(&number);
        let distances = self.metres_per_sample.iter().flatten().chain(&self.metres_per_voxel);
        if let Some(metres) = distances.copied().find(|it| !within(*it, Self::DISTANCES)) {
            return bad(format!("{metres} metres"), "give 0.000001 to 1000000000 metres");
        }
        if !within(self.vertical_scale, Self::SCALES) {
            let problem = format!("a vertical scale of {}", self.vertical_scale);
            return bad(problem, "give 0.000001 to 1000000");
        }
        let [_, far] = Self::DISTANCES;
        let levels = [self.sea_level_metres, self.snow_line_metres];
        if let Some(metres) = levels.into_iter().find(|it| !within(*it, [-far, far])) {
            return bad(format!("a level of {metres} metres"), "give less than 1000000000 metres");
        }
        if self.snow_line_metres <= self.sea_level_metres {
            let problem = format!("a snow line at {} metres", self.snow_line_metres);
            return bad(problem, "give a snow line above the sea level");
        }
        Ok(())
    }
}

impl Default for HeightMapOptions {
    fn default() -> Self {
        Self {
            metres_per_sample: None,
            metres_per_voxel: None,
            vertical_scale: 1.0,
            sea_level_metres: 0.0,
            snow_line_metres: 2500.0,
            voids: Voids::Holes,
        }
    }
}

impl HeightMapOptions {
    /// Replaces [`metres_per_sample`](Self::metres_per_sample).
    #[must_use]
    pub fn with_metres_per_sample(mut self, metres_per_sample: Option<[f64; 2]>) -> Self {
        self.metres_per_sample = metres_per_sample;
        self
    }

    /// Replaces [`metres_per_voxel`](Self::metres_per_voxel).
    #[must_use]
    pub fn with_metres_per_voxel(mut self, metres_per_voxel: Option<f64>) -> Self {
        self.metres_per_voxel = metres_per_voxel;
        self
    }

    /// Replaces [`vertical_scale`](Self::vertical_scale).
    #[must_use]
    pub fn with_vertical_scale(mut self, vertical_scale: f64) -> Self {
        self.vertical_scale = vertical_scale;
        self
    }

    /// Replaces [`sea_level_metres`](Self::sea_level_metres).
    #[must_use]
    pub fn with_sea_level_metres(mut self, sea_level_metres: f64) -> Self {
        self.sea_level_metres = sea_level_metres;
        self
    }

    /// Replaces [`snow_line_metres`](Self::snow_line_metres).
    #[must_use]
    pub fn with_snow_line_metres(mut self, snow_line_metres: f64) -> Self {
        self.snow_line_metres = snow_line_metres;
        self
    }

    /// Replaces [`voids`](Self::voids).
    #[must_use]
    pub fn with_voids(mut self, voids: Voids) -> Self {
        self.voids = voids;
        self
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use drystone_testing::{from_json, json_of};

    use super::*;

    #[test]
    fn options_survive_json() {
        for voids in [Voids::Holes, Voids::Filled] {
            let options = HeightMapOptions::default().with_voids(voids);
            json_of(
                &options.with_metres_per_sample(Some([75.5, 0.1])).with_metres_per_voxel(Some(1e9)),
            );
        }
        assert_eq!(json_of(&Voids::Filled), "\"Filled\"");
        assert_eq!(from_json("{}"), Ok(HeightMapOptions::default()));
        // Numbers out of range are read, and refused by the height map.
        let options = from_json::<HeightMapOptions>(r#"{"vertical_scale":0.0}"#).unwrap();
        assert!(options.check().is_err());
    }
}
