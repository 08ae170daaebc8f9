use crate::WorldError;

/// What to do about a file that ends too early or does not hold together.
pub(super) const GET_AGAIN: &str = "the file is cut off or damaged: get it again";
/// What to do about a file of another kind than heights.
pub(super) const CONVERT: &str = "save it as one channel of grey, 8 or 16 bits a sample";
/// What to do about a file that asks for too much.
pub(super) const SMALLER: &str = "take a smaller part of it";
/// What to do about a picture that becomes too large.
pub(super) const COARSER: &str = "take more metres per voxel";

/// What is wrong with a height map, before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    place: String,
    problem: String,
    advice: &'static str,
}

impl Fault {
    pub(super) fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), advice }
    }

    pub(super) fn in_file(self, file: &str) -> WorldError {
        let Self { place, problem, advice } = self;
        WorldError::BadHeightMap { file: file.into(), location: place, problem, advice }
    }
}
