//! Content of a scene: voxels or a polygon model, and the scene that shows it in a renderer.

mod levels;
mod shown;

pub use levels::ShownLevels;
pub use shown::{Amounts, Pace, Shown};

use std::sync::Arc;
use std::time::Duration;

use drystone_formats::{EditDestination, SeparateEdits, Source, SourceError};
use drystone_world::{LodConfig, LodData, Opened, World};

use crate::Progress;
use crate::scene::{
    self, Capacity, ChunkQuads, EditTarget, LodScene, MemoryBudget, Meshing, ModelScene,
    ModelTriangles, Shade,
};

/// Content without a renderer.
pub enum Content {
    /// A world in memory.
    World(Box<World>),
    /// A world at levels of detail: near parts fine, far parts coarse.
    Levels(Arc<LodData>, LodLimits),
    /// A polygon model.
    Model(ModelTriangles),
}

/// Limits of a scene at levels of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodLimits {
    /// Detail and budgets of the tree.
    pub config: LodConfig,
    /// Limit for vertices of visible meshes, in bytes.
    pub vertex_bytes: u64,
}

impl LodLimits {
    /// Returns the limits for this pace.
    fn at(self, pace: Pace) -> Self {
        match pace {
            Pace::Frames => self,
            Pace::Pictures => {
                let (frame_bytes, frame_time) = (usize::MAX, Duration::from_secs(1));
                Self { config: LodConfig { frame_bytes, frame_time, ..self.config }, ..self }
            }
        }
    }
}

impl From<MemoryBudget> for LodLimits {
    fn from(budget: MemoryBudget) -> Self {
        Self { config: budget.level_config(), vertex_bytes: budget.vertex_bytes() }
    }
}

/// Options for loading content.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Which worlds are shown at levels of detail.
    pub levels: LevelsFor,
    /// Limits of a scene at levels of detail.
    pub limits: LodLimits,
    /// Limit for cached voxels of a world at levels of detail, in bytes.
    pub cache_bytes: usize,
    /// Shading of polygon models.
    pub shade: Shade,
}

/// Worlds that are shown at levels of detail, instead of loaded whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelsFor {
    /// Every world.
    All,
    /// Worlds of more than this number of chunks.
    MoreChunksThan(u64),
    /// No world.
    None,
}

/// Content with the destination of its edits.
pub struct Loaded {
    /// The content.
    pub content: Content,
    /// Destination of edits.
    pub edit_target: EditTarget,
    /// Quads of a world in memory; `None` if they are not made yet.
    pub quads: Option<Vec<ChunkQuads>>,
    /// Descriptions of the damaged parts of a world in memory, which are left out.
    pub faults: Vec<String>,
}

/// Error of loading content.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The voxels cannot be read.
    #[error(transparent)]
    World(#[from] SourceError),
    /// The polygons of a model cannot be cut into triangles.
    #[error("the model cannot be triangulated: {0}")]
    Triangles(#[from] drystone_mesh::Error),
    /// All chunks are damaged.
    #[error("{first}; no chunk could be read ({count} faults)")]
    AllDamaged {
        /// Description of the first fault.
        first: String,
        /// Number of faults.
        count: usize,
    },
}

impl Loaded {
    /// Reads the whole content of an opened file, except for a world at levels of detail, which is
    /// read when needed. Reports to `progress`.
    ///
    /// # Errors
    /// If the file cannot be read, or is completely damaged.
    pub fn read(
        opened: Opened,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Self, LoadError> {
        let source: Arc<dyn Source> = match opened {
            Opened::Voxels(source) => source.into(),
            Opened::Model(model) => {
                let content = Content::Model(ModelTriangles::new(&model, options.shade)?);
                return Ok(Self::of(content, EditTarget::None, Vec::new()));
            }
        };
        Self::of_source(source, options, progress)
    }

    /// Reads a world as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read).
    pub fn of_source(
        source: Arc<dyn Source>,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Self, LoadError> {
        let has_levels = match options.levels {
            LevelsFor::All => true,
            LevelsFor::MoreChunksThan(count) => source.chunk_count() > count,
            LevelsFor::None => false,
        };
        if has_levels {
            let data = Arc::new(LodData::shared(source, options.cache_bytes));
            let content = Content::Levels(Arc::clone(&data), options.limits);
            return Ok(Self::of(content, EditTarget::Levels(data), Vec::new()));
        }
        let (world, faults) = load_world(source.as_ref(), progress)?;
        let content = Content::World(Box::new(world));
        let has_target = can_save_edits(source.as_ref());
        let edit_target = if has_target { EditTarget::Source(source) } else { EditTarget::None };
        Ok(Self::of(content, edit_target, faults))
    }

    /// Returns content without quads.
    pub const fn of(content: Content, edit_target: EditTarget, faults: Vec<String>) -> Self {
        Self { content, edit_target, quads: None, faults }
    }
}

/// Reads a whole world, and returns the descriptions of its damaged parts, which are left out.
///
/// # Errors
/// If the source cannot be read, or all of its chunks are damaged.
pub fn load_world(
    source: &dyn Source,
    progress: &Progress,
) -> Result<(World, Vec<String>), LoadError> {
    progress.begin(format!("reading {}", source.name()), source.chunk_count());
    let world = World::load_with_progress(source, || progress.step())?;
    let faults = source.faults();
    if let (true, [first, ..]) = (world.is_empty(), faults.as_slice()) {
        return Err(LoadError::AllDamaged { first: first.clone(), count: faults.len() });
    }
    Ok((world, faults))
}

/// Whether edits of a source can be saved, now or once a file is named.
fn can_save_edits(source: &dyn Source) -> bool {
    let is_none = |it: &dyn SeparateEdits| it.destination() == EditDestination::None;
    source.edit_store().is_some() || source.separate_edits().is_some_and(is_none)
}

impl Content {
    /// Splits a model into pieces that are uploaded to another renderer within a frame.
    #[must_use]
    pub fn in_pieces(self) -> Self {
        match self {
            Self::Model(model) => Self::Model(model.in_pieces(ModelScene::PIECE_BYTES)),
            voxels => voxels,
        }
    }

    /// Returns a name for display.
    pub fn name(&self) -> &str {
        match self {
            Self::World(world) => world.name(),
            Self::Levels(data, _) => data.source().name(),
            Self::Model(model) => &model.name,
        }
    }

    /// Meshes a world in memory; other content has no quads. Reports to `progress`.
    ///
    /// # Cost
    /// Meshing on all cores.
    pub fn quads(&self, meshing: Meshing, progress: &Progress) -> Vec<ChunkQuads> {
        match self {
            Self::World(world) => {
                progress.begin(format!("meshing {}", world.name()), world.positions().len() as u64);
                scene::mesh_world_with_progress(world, meshing, || progress.step())
            }
            Self::Levels(..) | Self::Model(_) => Vec::new(),
        }
    }

    /// Returns the capacity that a renderer needs.
    pub fn capacity(&self, quads: &[ChunkQuads]) -> Capacity {
        match self {
            Self::Levels(..) => LodScene::CAPACITY,
            Self::World(_) | Self::Model(_) => quads.into(),
        }
    }
}
