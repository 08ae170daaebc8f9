use crate::up_axis::UpAxis;

/// Options and limits for reading a model.
///
/// # Examples
/// ```
/// use drystone_formats::ModelOptions;
///
/// // Merges corners that are at most a thousandth of a unit apart.
/// let options = ModelOptions::default().with_merge_tolerance(0.001);
/// assert_eq!(ModelOptions::default().merge_tolerance, 0.0);
/// # assert!(options.max_corners > 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct ModelOptions {
    /// Largest distance of two coordinates that are merged, in the file's unit. For glTF, distances
    /// are measured after the nodes' transforms. A coordinate is merged into the first unmerged
    /// coordinate of the file within this distance, so no coordinate moves farther. Default: 0,
    /// which merges only equal coordinates (−0 equals 0).
    pub merge_tolerance: f32,
    /// Maximum size of the file and the files that it names together, in bytes. Default: 512 MiB.
    pub max_file_bytes: u64,
    /// Maximum number of corners of all faces, with every instance counted. Each instance of a glTF
    /// primitive counts at least its vertices, and at least 16. Default: 2²⁴, which takes up to 3
    /// GiB of memory if no corners are shared.
    pub max_corners: u64,
    /// Maximum size of all decoded textures together, in bytes: four for each texel. Images that
    /// exceed what is left are halved until they fit, and refused if they cannot. Images of more
    /// than 8192 texels a side are refused. Default: 256 MiB, for 16 images of 2048×2048.
    pub max_texture_bytes: u64,
    /// Axis that points up in the file. `None`, the default, means Y for glTF, as its specification
    /// says. For `.obj` files, which do not tell, [`UpReason`](super::UpReason) says how it is guessed.
    pub up: Option<UpAxis>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            merge_tolerance: 0.0,
            max_file_bytes: 512 << 20,
            max_corners: 1 << 24,
            max_texture_bytes: 256 << 20,
            up: None,
        }
    }
}

impl ModelOptions {
    /// Replaces [`merge_tolerance`](Self::merge_tolerance).
    #[must_use]
    pub fn with_merge_tolerance(mut self, merge_tolerance: f32) -> Self {
        self.merge_tolerance = merge_tolerance;
        self
    }

    /// Replaces [`max_file_bytes`](Self::max_file_bytes).
    #[must_use]
    pub fn with_max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.max_file_bytes = max_file_bytes;
        self
    }

    /// Replaces [`max_corners`](Self::max_corners).
    #[must_use]
    pub fn with_max_corners(mut self, max_corners: u64) -> Self {
        self.max_corners = max_corners;
        self
    }

    /// Replaces [`max_texture_bytes`](Self::max_texture_bytes).
    #[must_use]
    pub fn with_max_texture_bytes(mut self, max_texture_bytes: u64) -> Self {
        self.max_texture_bytes = max_texture_bytes;
        self
    }

    /// Replaces [`up`](Self::up).
    #[must_use]
    pub fn with_up(mut self, up: Option<UpAxis>) -> Self {
        self.up = up;
        self
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;

    #[test]
    fn options_survive_json() {
        use drystone_testing::{from_json, json_of};

        let options = ModelOptions::default().with_merge_tolerance(0.1).with_max_corners(u64::MAX);
        let options = options.with_up(Some(UpAxis::Z));
        let text = r#"{"merge_tolerance":0.1,"max_file_bytes":536870912,"max_corners":18446744073709551615,"max_texture_bytes":268435456,"up":"Z"}"#;
        assert_eq!(json_of(&options), text);
        assert_eq!(from_json("{}"), Ok(ModelOptions::default()));
        assert!(from_json::<ModelOptions>(r#"{"max_corners":-1}"#).is_err());
    }
}
