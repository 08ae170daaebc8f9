use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelPos};

use crate::error::SourceError;
use crate::fault::{Fault, SPLIT};
use crate::file::read_file;
use crate::format::Format;
use crate::identity;
use crate::source::Source;

mod colors;
mod decode;
mod model;
mod node;
mod outline;
mod packed;
mod placement;
mod scene;
mod transform;

use colors::Colors;
use model::Model;
use placement::Placements;

/// A MagicaVoxel `.vox` file: models, and a scene that places them.
///
/// ```text
///  bytes ─outline─► chunk sizes and counts are valid ─dot_vox─► models, nodes, colours
///        nodes ─scene─► instances (model, rotation, offset) ─placement─► chunks that they touch
/// ```
/// The file is kept as models, and chunks are built on request. An open file takes about as much
/// memory as it has bytes, however often a model is repeated.
///
/// * **Axes.** Z is up in MagicaVoxel. Its voxel (x, y, z) becomes (x, z, −y − 1) here. This is a
///   rotation, so nothing is mirrored.
/// * **Scene.** Transforms, groups and shapes, from node 0 down. A model rotates about the corner
///   at ⌊size / 2⌋, by any of the 48 rotations and reflections. Only the first frame of an
///   animation is used.
/// * **Hidden.** Nodes marked `_hidden` or on a hidden layer are skipped, with everything below
///   them. Layer −1 and layers without a description are visible.
/// * **Teardown.** Supports the packed models of the game Teardown and its tools (chunks named
///   TDCZ).
/// * **No scene** (old files): the models are placed along X in file order, one voxel apart. The
///   lowest corner of the first is at the origin.
/// * **Overlaps.** If two voxels are at one position, the later one is used: later in the model,
///   later in the scene.
/// * **Colours.** The file's palette, or MagicaVoxel's default. An opacity below 255 is
///   translucent. Opacity 0 is treated as opaque, since programs without opacity write it. A glass
///   material is translucent according to its `_trans` or `_alpha`. A material of type `_emit` emits light,
///   as much as `_emit` and `_flux` state. Metal is drawn in its plain colour: there are no reflections.
///   An index map (`IMAP`) only
///   sorts the palette on screen and is ignored. Colour number 0 is invalid and treated as 1.
///
/// # Limits
/// 512 MiB per file, 64 MiB of it other than voxels; models up to 256³; 2²⁰ nodes, counted once per
/// instance; 2²⁷ placed voxels; 2²⁶ voxels in packed models, with total sizes up to 2³⁰ voxels;
/// [`MAX_LOADED_CHUNKS`](crate::MAX_LOADED_CHUNKS) touched chunks; coordinates to ±2²⁴. A file beyond a limit is an error,
/// found before memory is allocated for it. A voxel outside its model's size is an error too.
pub struct VoxFile {
    name: String,
    identity: String,
    summary: VoxSummary,
    colors: Colors,
    models: Vec<Model>,
    placements: Placements,
}

/// Metadata of a `.vox` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VoxSummary {
    /// Version in the file's header: 150, or 200 for newer files.
    pub version: u32,
    /// Number of models in the file, including hidden ones.
    pub model_count: usize,
    /// Number of visible instances of models.
    pub instance_count: usize,
    /// Number of hidden instances of models.
    pub hidden_count: usize,
    /// Names of visible nodes, without duplicates, in scene order.
    pub names: Vec<String>,
    /// Layers, in file order.
    pub layers: Vec<VoxLayer>,
}

/// A layer of a `.vox` file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VoxLayer {
    /// Number of the layer.
    pub id: u32,
    /// Name of the layer, if any.
    pub name: Option<String>,
    /// Whether everything on the layer is hidden.
    pub hidden: bool,
}

impl VoxFile {
    /// Maximum size of a file, in bytes.
    pub const MAX_FILE_BYTES: u64 = 512 << 20;

    /// Whether a file with these first bytes is a `.vox` file.
    pub(crate) fn has_signature(head: &[u8]) -> bool {
        head.starts_with(outline::MAGIC)
    }

    /// Opens and reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no `.vox` file, is too large or damaged. The message names
    /// the file, the location in it if known, and what to do.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let bytes = read_file(path, outline::MAGIC, "a .vox file", Self::MAX_FILE_BYTES, SPLIT)?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// Parses the bytes of a file. `name` is used in messages.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// let error = drystone_formats::VoxFile::parse(b"VOX \x96\0\0\0MAIN", "cut.vox");
    /// assert!(error.is_err_and(|e| e.to_string().starts_with("cut.vox: byte 8: ")));
    /// ```
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, SourceError> {
        Self::build(bytes, name).map_err(|fault| fault.in_file(Format::MagicaVoxel, name))
    }

    fn build(bytes: &[u8], name: &str) -> Result<Self, Fault> {
        let outline = outline::outline(bytes)?;
        let data = decode::decode(bytes, &outline)?;
        let mut summary = VoxSummary {
            version: data.version,
            model_count: data.models.len(),
            layers: scene::layers(&data.layers, &outline),
            ..VoxSummary::default()
        };
        let instances = if data.scenes.is_empty() {
            placement::side_by_side(&data.models)
        } else {
            scene::instances(&data, &outline, &mut summary)?
        };
        summary.instance_count = instances.len();
        let (palette, materials) = (data.palette, data.materials);
        let models: Vec<Model> = data.models.into_iter().map(Model::new).collect();
        let placements = Placements::new(instances, &models)?;
        let colors = Colors::new(&palette, &materials, &placements.used_colors(&models));
        let identity = identity::of_bytes("MagicaVoxel file", name, bytes);
        Ok(Self { name: name.into(), identity, summary, colors, models, placements })
    }

    /// Metadata of the file.
    pub fn summary(&self) -> &VoxSummary {
        &self.summary
    }
}

/// Advice for a file with invalid content.
const SAVE_AGAIN: &str = "the file is damaged: save it again with the program that made it";
/// Advice for a file of another kind.
const NOT_VOX: &str = "check that this is a MagicaVoxel file, not another file with its name";

/// A problem with a node of the scene.
fn node_fault(id: u32, problem: impl Into<String>) -> Fault {
    Fault::new(format_args!("scene node {id}"), problem, SAVE_AGAIN)
}

/// Out of memory for the tables of the scene.
impl From<drystone_memory::Error> for Fault {
    fn from(problem: drystone_memory::Error) -> Self {
        Self::new("scene", format!("out of memory while reading it: {problem}"), SPLIT)
    }
}

impl Source for VoxFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn materials(&self) -> &MaterialTable {
        self.colors.table()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.placements.chunk_positions()
    }

    /// Builds the chunk at `position` from the bricks (32³ voxels) of the models that touch it.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let mut chunk = Chunk::new(Chunk::SIDE, Material::AIR);
        for (instance, brick) in self.placements.touching(position) {
            for voxel in self.models[instance.model].brick_voxels(brick) {
                let [x, y, z] = instance.transform.cell(voxel.position).map(|c| c as i32);
                let (owner, local) = VoxelPos::new(x, y, z).split(Chunk::SIDE);
                if owner == position {
                    chunk.set(local, self.colors.material(voxel.color));
                }
            }
        }
        chunk.compact();
        Ok(chunk)
    }
}

impl std::fmt::Debug for VoxFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VoxFile")
            .field("name", &self.name)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}
