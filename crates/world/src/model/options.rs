/// How a model is read, and how much of it is taken.
///
/// # Examples
/// ```
/// use drystone_world::ModelOptions;
///
/// // Corners less than a thousandth apart become one.
/// let options = ModelOptions { merge_tolerance: 0.001, ..ModelOptions::default() };
/// assert_eq!(ModelOptions::default().merge_tolerance, 0.0);
/// # assert!(options.max_corners > 0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelOptions {
    /// How far apart two coordinates may be to become one, in the file's unit, for glTF
    /// after the nodes' transforms. A coordinate takes the place of the first one in the
    /// file that is as near as this and was not itself merged, so that nothing moves
    /// farther. Default: 0, which merges equal ones only, −0 being 0.
    pub merge_tolerance: f32,
    /// Bytes that the file and those that it names may have together. Default: 512 MiB.
    pub max_file_bytes: u64,
    /// Corners that all faces may have together, each counted as often as it is shown; at
    /// the least its vertices, and 16, for each shown part of a glTF file. Default: 2²⁴,
    /// which take some 3 GiB of memory where no two are alike.
    pub max_corners: u64,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { merge_tolerance: 0.0, max_file_bytes: 512 << 20, max_corners: 1 << 24 }
    }
}
