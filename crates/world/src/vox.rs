use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelPos};

use crate::source::read_file;
use crate::{Source, WorldError, identity};

mod colors;
mod decode;
mod fault;
mod model;
mod node;
mod outline;
mod packed;
mod pile;
mod placement;
mod scene;
mod transform;

use colors::Colors;
use model::Model;
use placement::Placements;

/// A MagicaVoxel `.vox` file: models, and a scene that says where each stands.
///
/// ```text
///  bytes ─outline─► every chunk's size and counts hold ─dot_vox─► models, nodes, colours
///        nodes ─scene─► instances (model, rotation, place) ─placement─► which chunk they touch
/// ```
/// The bytes are kept as models; a chunk is put together when it is asked for, so an open
/// file takes about as much memory as it has bytes, however often a model is repeated.
///
/// * **Axes.** MagicaVoxel's Z is up. Its voxel (x, y, z) becomes ours (x, z, −y − 1): a
///   rotation, so nothing is mirrored.
/// * **Scene.** Transforms, groups and shapes from node 0 down. A model turns about the
///   corner at ⌊size / 2⌋, by any of the 48 rotations and reflections. Of an animation the
///   first frame stands.
/// * **Hidden.** What is marked `_hidden`, or lies on a layer that is, stays out, and all
///   below it. Layer −1, and a layer that the file does not describe, are visible.
/// * **Teardown.** The models that the game Teardown and its tools pack (chunks named TDCZ) are
///   read as all others are.
/// * **No scene** (old files): the models stand side by side along X in the order of the
///   file, one voxel apart, the lowest corner of the first at the origin.
/// * **Overlaps.** Where two voxels fall on one place the later one wins: later in the
///   model, later in the scene.
/// * **Colours.** The palette's, or MagicaVoxel's default one. Opacity below 255 is
///   translucent; 0 reads as opaque, since programs that know no opacity write that. A
///   material of type glass is translucent by its `_trans` or `_alpha`. An index map
///   (`IMAP`) only orders the palette on screen and changes no voxel's colour. Colour
///   number 0, which no program should write, reads as 1.
///
/// # Limits
/// 512 MiB a file, 64 MiB of it other than voxels; models up to 256³; 2²⁰ nodes, a node
/// counted as often as it is shown; 2²⁷ placed voxels; 2²⁶ voxels in packed models, whose
/// sizes come to at most 2³⁰ places; [`World::MAX_CHUNKS`] chunks
/// touched; coordinates to ±2²⁴. What exceeds them is an error, found before memory is
/// spent on it. So is a voxel outside its model's size.
///
/// [`World::MAX_CHUNKS`]: crate::World::MAX_CHUNKS
pub struct VoxFile {
    name: String,
    identity: String,
    summary: VoxSummary,
    colors: Colors,
    models: Vec<Model>,
    placements: Placements,
}

/// What a `.vox` file holds, beyond its voxels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VoxSummary {
    /// The version that the file gives itself: 150, or 200 for newer ones.
    pub version: u32,
    /// Models in the file, shown or not.
    pub model_count: usize,
    /// Models that are shown, each as often as it is.
    pub instance_count: usize,
    /// Models that would be shown if nothing were hidden, less those that are.
    pub hidden_count: usize,
    /// Names given to visible parts of the scene, each once, in the scene's order.
    pub names: Vec<String>,
    /// The layers that the file describes, in its order.
    pub layers: Vec<VoxLayer>,
}

/// A layer of a `.vox` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoxLayer {
    /// Its number.
    pub id: u32,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Whether what lies on it is hidden.
    pub hidden: bool,
}

impl VoxFile {
    /// The most bytes that a file may have.
    pub const MAX_FILE_BYTES: u64 = 512 << 20;

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no `.vox`, is too large or damaged. The message
    /// names the file, the place in it where that is known, and what to do.
    pub fn open(path: &Path) -> Result<Self, WorldError> {
        let bytes = read_file(path, outline::MAGIC, "a .vox file", Self::MAX_FILE_BYTES)?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// Reads the bytes of a file; `name` stands in messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// let error = drystone_world::VoxFile::parse(b"VOX \x96\0\0\0MAIN", "cut.vox");
    /// assert!(error.is_err_and(|e| e.to_string().starts_with("cut.vox: byte 8: ")));
    /// ```
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, WorldError> {
        Self::build(bytes, name).map_err(|fault| fault.in_file(name))
    }

    fn build(bytes: &[u8], name: &str) -> Result<Self, fault::Fault> {
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

    /// What the file holds, beyond its voxels.
    pub fn summary(&self) -> &VoxSummary {
        &self.summary
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

    /// The chunk at `position`; looks at the parts of models, 32³ each, that touch it.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
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
