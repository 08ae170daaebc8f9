use crate::error::SourceError;

/// Advice for a file that ends too early or is inconsistent.
pub(super) const GET_AGAIN: &str = "the file is cut off or damaged: get it again";
/// Advice for a picture that is no height map.
pub(super) const CONVERT: &str = "save it as one channel of grey, 8 or 16 bits per sample";
/// Advice for a file with too many samples.
pub(super) const SMALLER: &str = "take a smaller part of it";
/// Advice for options with which the map has too many voxels.
pub(super) const COARSER: &str = "use more metres per voxel";

/// A problem with a height map, without the file's name.
#[derive(Debug)]
pub(super) struct Fault {
    location: String,
    problem: String,
    advice: &'static str,
}

impl Fault {
    pub(super) fn new(
        location: impl Into<String>,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self { location: location.into(), problem: problem.into(), advice }
    }

    pub(super) fn in_file(self, file: &str) -> SourceError {
        let Self { location, problem, advice } = self;
        SourceError::BadHeightMap { file: file.into(), location, problem, advice }
    }
}
