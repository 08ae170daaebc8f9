/// Options and limits for reading a model.
///
/// # Examples
/// ```
/// use drystone_formats::ModelOptions;
///
/// // Merges corners that are at most a thousandth of a unit apart.
/// let options = ModelOptions { merge_tolerance: 0.001, ..ModelOptions::default() };
/// assert_eq!(ModelOptions::default().merge_tolerance, 0.0);
/// # assert!(options.max_corners > 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
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
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { merge_tolerance: 0.0, max_file_bytes: 512 << 20, max_corners: 1 << 24 }
    }
}
