//! Content of a scene: voxels or a polygon model, and the scene that shows it in a renderer.

mod shown;
mod shown_voxels;

pub use shown::{Amounts, Pace, Shown};

use std::sync::Arc;
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{MaterialTable, NodePos};
use drystone_world::{LodConfig, LodData, Opened, World};

use crate::Progress;
use crate::scene::{
    Capacity, LandChunks, MemoryBudget, ModelScene, ModelTriangles, Shade, VoxelScene,
};

/// Content without a renderer.
pub enum Content {
    /// Voxels, in full detail or at levels of detail.
    Voxels(Arc<LodData>, LodLimits),
    /// A polygon model.
    Model(ModelTriangles),
}

/// Limits on the detail and memory of voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodLimits {
    /// Detail and budgets of the tree.
    pub config: LodConfig,
    /// Limit for vertices of visible meshes at levels of detail, in bytes. Full detail has no
    /// limit.
    pub vertex_bytes: u64,
    /// Limit for cached voxels at levels of detail, in bytes. Full detail has no limit.
    pub cache_bytes: usize,
    /// Limit for what the source keeps because it was read recently, in bytes.
    pub source_bytes: usize,
}

impl LodLimits {
    /// Returns the limits without levels of detail: everything is shown in full detail.
    #[must_use]
    pub fn full_detail(self) -> Self {
        Self { config: self.config.with_max_level(0), ..self }
    }

    /// Returns the limits with all levels of detail.
    #[must_use]
    pub fn all_levels(self) -> Self {
        Self { config: self.config.with_max_level(NodePos::MAX_LEVEL), ..self }
    }

    /// Whether there are levels of detail.
    pub const fn has_levels(&self) -> bool {
        self.config.max_level > 0
    }

    /// Returns the limit for cached voxels, in bytes.
    const fn max_cache_bytes(&self) -> usize {
        if self.has_levels() { self.cache_bytes } else { usize::MAX }
    }

    /// Returns the limit for vertices of visible meshes, in bytes.
    const fn max_vertex_bytes(&self) -> u64 {
        if self.has_levels() { self.vertex_bytes } else { u64::MAX }
    }

    /// Returns the limits for this pace.
    fn at(self, pace: Pace) -> Self {
        match pace {
            Pace::Frames => self,
            Pace::Pictures => {
                let (frame_bytes, frame_time) = (usize::MAX, Duration::from_secs(1));
                Self {
                    config: self.config.with_frame_bytes(frame_bytes).with_frame_time(frame_time),
                    ..self
                }
            }
        }
    }
}

impl From<MemoryBudget> for LodLimits {
    fn from(budget: MemoryBudget) -> Self {
        let (vertex_bytes, cache_bytes) = (budget.vertex_bytes(), budget.cache_bytes());
        let source_bytes = budget.source_bytes();
        Self { config: budget.level_config(), vertex_bytes, cache_bytes, source_bytes }
    }
}

/// Options for loading content.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Which worlds are shown at levels of detail.
    pub levels: LevelsFor,
    /// Limits of voxels, with all levels of detail.
    pub limits: LodLimits,
    /// Shading of polygon models.
    pub shade: Shade,
}

/// Worlds that are shown at levels of detail, instead of being read whole and shown in full detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelsFor {
    /// Every world.
    All,
    /// Worlds of more than this number of chunks.
    MoreChunksThan(u64),
    /// No world.
    None,
}

/// Error of loading content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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

impl Content {
    /// Reads an opened file. A world that is shown in full detail is read whole; one at levels of
    /// detail is read when needed. Reports to `progress`.
    ///
    /// # Errors
    /// If the file cannot be read, or is completely damaged.
    pub fn read(
        opened: Opened,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Self, LoadError> {
        match opened {
            Opened::Voxels(source) => Self::read_voxels(source, options, progress),
            Opened::Model(model) => Ok(Self::Model(ModelTriangles::new(&model, options.shade)?)),
        }
    }

    /// Reads voxels as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read).
    pub fn read_voxels(
        source: Box<dyn Source>,
        options: &LoadOptions,
        progress: &Progress,
    ) -> Result<Self, LoadError> {
        source.limit_memory(options.limits.source_bytes);
        let has_levels = match options.levels {
            LevelsFor::All => true,
            LevelsFor::MoreChunksThan(count) => source.chunk_count() > count,
            LevelsFor::None => false,
        };
        if has_levels {
            let data = LodData::new(source, options.limits.cache_bytes);
            // The camera needs these chunks first, on a thread that must not wait for a network.
            data.fetch(&Self::first_nodes(data.source()));
            return Ok(Self::Voxels(Arc::new(data), options.limits));
        }
        progress.begin(format!("reading {}", source.name()), source.chunk_count());
        let data = LodData::new(source, usize::MAX);
        let count = data.read_all(|| progress.step())?;
        check_damage(&data.faults(), count)?;
        Ok(Self::Voxels(Arc::new(data), options.limits.full_detail()))
    }

    /// Returns the nodes that the default camera needs of a world at levels of detail, before any is shown.
    /// If they come over a network, request them together.
    pub fn first_nodes(source: &dyn Source) -> Vec<NodePos> {
        Self::land(source).map(|land| land.nodes()).unwrap_or_default()
    }

    /// Returns the chunks from which the height of a land is sampled at levels of detail; `None` of an empty
    /// source.
    pub(crate) fn land(source: &dyn Source) -> Option<LandChunks> {
        Some(LandChunks::new(source.extent()?, source.coarsest_level()))
    }

    /// Returns a world without voxels.
    pub fn empty(name: &str, limits: LodLimits) -> Self {
        let world = World::new(name, MaterialTable::new());
        Self::Voxels(Arc::new(LodData::new(Box::new(world), 0)), limits.full_detail())
    }

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
            Self::Voxels(data, _) => data.source().name(),
            Self::Model(model) => &model.name,
        }
    }

    /// Returns the voxels; a model has none.
    pub const fn voxels(&self) -> Option<&Arc<LodData>> {
        match self {
            Self::Voxels(data, _) => Some(data),
            Self::Model(_) => None,
        }
    }

    /// Returns the capacity that a renderer needs.
    ///
    /// # Cost
    /// The cost of [`Source::chunk_count`].
    pub fn capacity(&self) -> Capacity {
        match self {
            Self::Voxels(data, limits) if !limits.has_levels() => {
                let meshes = Capacity::of_chunks(data.source().chunk_count()).meshes;
                Capacity { meshes: meshes.max(VoxelScene::CAPACITY.meshes), ..VoxelScene::CAPACITY }
            }
            Self::Voxels(..) => VoxelScene::CAPACITY,
            Self::Model(_) => Capacity::default(),
        }
    }
}

/// Reads a whole world, and returns the descriptions of its damaged parts, which are left out.
///
/// # Errors
/// If the source cannot be read, or all of its chunks are damaged.
pub fn load_world(source: &dyn Source) -> Result<(World, Vec<String>), LoadError> {
    let world = World::load(source)?;
    let faults = source.faults();
    check_damage(&faults, world.chunk_count())?;
    Ok((world, faults))
}

/// Returns an error if there are faults, and `count`, the number of chunks that are not all air, is
/// 0.
fn check_damage(faults: &[String], count: usize) -> Result<(), LoadError> {
    match (faults, count) {
        ([first, ..], 0) => {
            Err(LoadError::AllDamaged { first: first.clone(), count: faults.len() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use drystone_formats::SourceError;
    use drystone_voxel::{Chunk, ChunkPos, Material};

    use super::*;
    use crate::scene::MemoryBudget;

    /// An empty source that remembers its limit.
    struct Limited(MaterialTable, Arc<AtomicUsize>);

    impl Source for Limited {
        fn name(&self) -> &str {
            "limited"
        }
        fn materials(&self) -> &MaterialTable {
            &self.0
        }
        fn chunk_positions(&self) -> Vec<ChunkPos> {
            Vec::new()
        }
        fn chunk(&self, _: ChunkPos) -> Result<Chunk, SourceError> {
            Ok(Chunk::new(Chunk::SIDE, Material::AIR))
        }
        fn limit_memory(&self, bytes: usize) {
            self.1.store(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_source_is_told_its_share_of_the_memory() {
        let budget = MemoryBudget::new(512 << 20);
        for levels in [LevelsFor::All, LevelsFor::None] {
            let options = LoadOptions { levels, limits: budget.into(), shade: Shade::default() };
            let told = Arc::<AtomicUsize>::default();
            let source = Box::new(Limited(MaterialTable::new(), Arc::clone(&told)));
            Content::read_voxels(source, &options, &Progress::default()).unwrap();
            assert_eq!(told.load(Ordering::Relaxed), 32 << 20);
        }
    }
}
