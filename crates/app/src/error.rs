use std::path::PathBuf;

use drystone::LoadError;
use drystone_formats::SourceError;
use drystone_render::RenderError;
use drystone_store::NotClosed;

/// Error of a command, in one line: what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error(transparent)]
    World(#[from] SourceError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("the model cannot be triangulated: {0}")]
    Triangles(#[from] drystone_mesh::Error),
    #[error(transparent)]
    Render(#[from] RenderError),
    #[error("{0}: {count} faults; to repair: drystone check --repair {0}", world.display())]
    Damaged { world: PathBuf, count: usize },
    #[error("{}: {count} faults; copy or download the file again, or pack the world again", world.display())]
    DamagedPacked { world: PathBuf, count: usize },
    #[error("{}: a polygon model has to be converted to voxels; set the resolution: --voxels N", model.display())]
    NoVoxels { model: PathBuf },
    #[error("edits were not saved: {0}")]
    NotSaved(SourceError),
    #[error("{}{}: {problem}", path.display(), at_line(*line))]
    CameraPath { path: PathBuf, line: usize, problem: String },
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error("{name}: there is no level {level}; the highest is {top}")]
    NoLevel { name: String, level: u8, top: u8 },
    #[error("stopped; {} is incomplete", path.display())]
    Stopped { path: PathBuf },
    #[error("stopped; {} was not written", path.display())]
    NotWritten { path: PathBuf },
    #[error("cannot open a window: {0}; without a display, use: drystone shot -o FILE.png")]
    Window(String),
    #[error("the window failed: {0}")]
    WindowFailed(String),
    #[error("cannot read the file: {0}")]
    NotRead(String),
    #[error("cannot reserve memory for small objects ({0}); use --allocator system")]
    Allocator(#[from] drystone_memory::Error),
    #[error("cannot write the report: {0}")]
    Output(#[from] std::io::Error),
}

/// The line in a file as a suffix, or nothing for line 0.
fn at_line(line: usize) -> String {
    if line == 0 { String::new() } else { format!(", line {line}") }
}

impl From<Box<NotClosed>> for AppError {
    fn from(not_closed: Box<NotClosed>) -> Self {
        Self::World(not_closed.error)
    }
}
