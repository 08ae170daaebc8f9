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
///   at ⌊size / 2⌋, by any of the 48 rotations and reflections.
/// * **Frames.** One frame of an animation is read: frame 0, or [`VoxOptions::frame`]. Transforms and
///   shapes have keys (`_f`). The last key at or before the frame is used, without interpolation.
///   Nodes marked `_loop` repeat their keys. The models of an old file without a scene but with a
///   PACK chunk are the frames.
/// * **Hidden.** Nodes marked `_hidden` or on a hidden layer are skipped, with everything below
///   them. Layer −1 and layers without a description are visible.
/// * **Teardown.** Supports the packed models of the game Teardown and its tools (chunks named
///   TDCZ).
/// * **No scene and no PACK chunk**: the models are placed along X in file order, one voxel apart.
///   The lowest corner of the first is at the origin.
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

/// Options for reading a `.vox` file.
///
/// # Examples
/// ```
/// use drystone_formats::VoxOptions;
///
/// assert_eq!(VoxOptions::default().with_frame(3).frame, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VoxOptions {
    /// Frame of an animation, counted from 0. Default: 0.
    pub frame: u32,
}

impl VoxOptions {
    /// Replaces [`frame`](Self::frame).
    #[must_use]
    pub const fn with_frame(mut self, frame: u32) -> Self {
        self.frame = frame;
        self
    }
}

/// Metadata of a `.vox` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VoxSummary {
    /// Version in the file's header: 150, or 200 for newer files.
    pub version: u32,
    /// Number of frames, at least 1.
    pub frame_count: u32,
    /// Frame that was read, counted from 0.
    pub frame: u32,
    /// Number of models in the file, including hidden ones.
    pub model_count: usize,
    /// Number of visible instances of models in the frame.
    pub instance_count: usize,
    /// Number of hidden instances of models in the frame.
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

    /// Opens and reads a file, with the default options.
    ///
    /// # Errors
    /// A file that cannot be read, is no `.vox` file, is too large or damaged. The message names
    /// the file, the location in it if known, and what to do.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Self::open_with(path, &VoxOptions::default())
    }

    /// Opens and reads a file.
    ///
    /// # Errors
    /// See [`open`](Self::open). Also a frame that the file does not have.
    pub fn open_with(path: &Path, options: &VoxOptions) -> Result<Self, SourceError> {
        let bytes = read_file(path, outline::MAGIC, "a .vox file", Self::MAX_FILE_BYTES, SPLIT)?;
        Self::parse_with(&bytes, &path.display().to_string(), options)
    }

    /// Parses the bytes of a file, with the default options. `name` is used in messages.
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
        Self::parse_with(bytes, name, &VoxOptions::default())
    }

    /// Parses the bytes of a file. `name` is used in messages.
    ///
    /// # Errors
    /// See [`open_with`](Self::open_with).
    pub fn parse_with(bytes: &[u8], name: &str, options: &VoxOptions) -> Result<Self, SourceError> {
        let file = Self::build(bytes, name, options.frame);
        file.map_err(|fault| fault.in_file(Format::MagicaVoxel, name))
    }

    fn build(bytes: &[u8], name: &str, frame: u32) -> Result<Self, Fault> {
        let outline = outline::outline(bytes)?;
        let data = decode::decode(bytes, &outline)?;
        let mut summary = VoxSummary {
            version: data.version,
            frame_count: 1,
            frame,
            model_count: data.models.len(),
            layers: scene::layers(&data.layers, &outline),
            ..VoxSummary::default()
        };
        let instances = if !data.scenes.is_empty() {
            scene::instances(&data, &outline, &mut summary)?
        } else if outline.is_animation {
            summary.frame_count = u32::try_from(data.models.len()).unwrap_or(u32::MAX);
            expect_frame(&summary)?;
            placement::alone(frame as usize, &data.models)
        } else {
            expect_frame(&summary)?;
            placement::side_by_side(&data.models)
        };
        summary.instance_count = instances.len();
        let (palette, materials) = (data.palette, data.materials);
        let models: Vec<Model> = data.models.into_iter().map(Model::new).collect();
        let placements = Placements::new(instances, &models)?;
        let colors = Colors::new(&palette, &materials, &placements.used_colors(&models));
        let mut identity = identity::of_bytes("MagicaVoxel file", name, bytes);
        if frame > 0 {
            identity += &format!(", frame {frame}");
        }
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

/// Returns an error if the file does not have the requested frame.
fn expect_frame(summary: &VoxSummary) -> Result<(), Fault> {
    let VoxSummary { frame, frame_count, .. } = *summary;
    let problem = match frame_count {
        _ if frame < frame_count => return Ok(()),
        1 => "the file is not animated: it has only frame 0".into(),
        count => format!("the file has {count} frames, 0 to {}", count - 1),
    };
    Err(Fault::new(format_args!("frame {frame}"), problem, "choose a frame that it has"))
}

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
