use std::path::PathBuf;

use drystone_render::RenderError;
use drystone_world::{NotClosed, WorldError};

/// Why a command failed, in one line: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("the model cannot be cut into triangles: {0}")]
    Triangles(#[from] drystone_mesh::Error),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("{first}; nothing else could be read ({count} places are damaged)")]
    AllDamaged { first: String, count: usize },
    #[error("{}: {count} places are damaged; see drystone check --repair", world.display())]
    Damaged { world: PathBuf, count: usize },
    #[error("{}: a polygon model has no voxels of its own; say how many: --voxels N", model.display())]
    NoVoxels { model: PathBuf },
    #[error("edits are not saved: {0}")]
    NotSaved(WorldError),
    #[error("{}{}: {problem}", path.display(), at_line(*line))]
    Way { path: PathBuf, line: usize, problem: String },
    #[error("{}: {problem}", path.display())]
    Pictures { path: PathBuf, problem: String },
    #[error("stopped; {} is not finished", path.display())]
    Stopped { path: PathBuf },
    #[error("the window cannot be opened: {0}; without a display, use: drystone shot -o FILE.png")]
    Window(String),
    #[error("the window failed: {0}")]
    WindowFailed(String),
    #[error("the file is not read: {0}")]
    NotRead(String),
    #[error("no memory for small objects ({0}); use --allocator system")]
    Allocator(#[from] drystone_alloc::Error),
    #[error("the report cannot be written: {0}")]
    Output(#[from] std::io::Error),
}

/// Where in a file, where that is known.
fn at_line(line: usize) -> String {
    if line == 0 { String::new() } else { format!(", line {line}") }
}

impl From<Box<NotClosed>> for AppError {
    fn from(not_closed: Box<NotClosed>) -> Self {
        Self::World(not_closed.error)
    }
}
