use crate::error::SourceError;

/// Advice for a file that ends too early.
pub(super) const GET_AGAIN: &str = "the file is cut off or damaged: get it again";
/// Advice for a file with invalid content.
pub(super) const SAVE_AGAIN: &str =
    "the file is damaged: save it again with the program that made it";
/// Advice for a file that exceeds a limit.
pub(super) const SPLIT: &str = "split the scene into several files";

/// A problem with a `.vox` file, without the file's name.
#[derive(Debug)]
pub(super) struct Fault {
    location: String,
    problem: String,
    advice: &'static str,
}

impl Fault {
    pub(super) fn new(location: String, problem: String, advice: &'static str) -> Self {
        Self { location, problem, advice }
    }

    /// A problem with a node of the scene.
    pub(super) fn node(id: u32, problem: String) -> Self {
        Self::new(format!("scene node {id}"), problem, SAVE_AGAIN)
    }

    /// The scene exceeds a limit.
    pub(super) fn too_much(what: &str, found: u64, limit: u64) -> Self {
        let problem = format!("{found} {what} or more, at most {limit} are taken");
        Self::new("scene".into(), problem, SPLIT)
    }

    pub(super) fn in_file(self, file: &str) -> SourceError {
        let Self { location, problem, advice } = self;
        SourceError::BadVox { file: file.into(), location, problem, advice }
    }
}

/// Out of memory for the tables of the scene.
impl From<drystone_memory::Error> for Fault {
    fn from(problem: drystone_memory::Error) -> Self {
        Self::new("scene".into(), format!("out of memory while reading it: {problem}"), SPLIT)
    }
}
