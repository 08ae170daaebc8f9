use crate::WorldError;

/// What to do about a file that ends too early.
pub(super) const GET_AGAIN: &str = "the file is cut off or damaged: get it again";
/// What to do about a file whose content is wrong.
pub(super) const SAVE_AGAIN: &str =
    "the file is damaged: save it again with the program that made it";
/// What to do about a file that asks for too much.
pub(super) const SPLIT: &str = "split the scene into several files";

/// What is wrong with a `.vox` file, before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    place: String,
    problem: String,
    advice: &'static str,
}

impl Fault {
    pub(super) fn new(place: String, problem: String, advice: &'static str) -> Self {
        Self { place, problem, advice }
    }

    /// Something is wrong with a node of the scene.
    pub(super) fn node(id: u32, problem: String) -> Self {
        Self::new(format!("scene node {id}"), problem, SAVE_AGAIN)
    }

    /// The scene asks for more than is taken.
    pub(super) fn too_much(what: &str, found: u64, limit: u64) -> Self {
        let problem = format!("{found} {what} or more, at most {limit} are taken");
        Self::new("scene".into(), problem, SPLIT)
    }

    pub(super) fn in_file(self, file: &str) -> WorldError {
        let Self { place, problem, advice } = self;
        WorldError::BadVox { file: file.into(), location: place, problem, advice }
    }
}

/// There is no memory for the tables of the scene.
impl From<drystone_alloc::Error> for Fault {
    fn from(problem: drystone_alloc::Error) -> Self {
        Self::new("scene".into(), format!("no memory to read it: {problem}"), SPLIT)
    }
}
