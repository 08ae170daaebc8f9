use std::any::Any;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::StoredWorld;
use crate::{
    ChunkBox, EditStore, GeneratedWorld, GeneratorConfig, HeightMap, HeightMapOptions,
    MinecraftWorld, Model, NodePos, VoxFile, WorldError,
};

/// What [`open_source`] and [`Model::open`](crate::Model::open) can open, as their errors
/// name it.
pub const SUPPORTED_SOURCES: &str = "MagicaVoxel files (.vox), Minecraft Java worlds (.mca, save folders), \
     height maps (.png, .tif, .hgt), stored worlds (.drystone), \
     polygon models (.obj, .gltf, .glb), \
     or no name for a generated world";

/// Where voxels come from: says which chunks there are and makes each on demand, from
/// any thread and in any order.
///
/// Where a thread panics that asks it, others may ask on. So a source takes its locks whether or
/// not they are poisoned, puts into what they guard only what is whole, and asks nothing again
/// that a panic came from and that may be half done, as [`StoredWorld`] its database.
///
/// `dyn Source` can be cast to `dyn Any` and from there to the source's own type, for what
/// only that type knows (as [`VoxFile::summary`]).
pub trait Source: Any + Send + Sync {
    /// A name to show: the file's, or what was generated.
    fn name(&self) -> &str;

    /// What tells this source from others whose chunks differ: of what kind it is, its file's
    /// name without folders, how long it is or what it holds, and the options that it was
    /// opened with where they change chunks. It stays the same where the file is moved and from
    /// one version of this crate to the next. An import that was stopped goes on only from a
    /// source of the same identity, and edits are shown only over such a one.
    /// By default [`name`](Self::name), for sources that have no file.
    fn identity(&self) -> String {
        self.name().into()
    }

    /// The materials that the chunks' numbers mean.
    fn materials(&self) -> &MaterialTable;

    /// Every chunk that may hold a voxel that is not air, sorted, each once.
    fn chunk_positions(&self) -> Vec<ChunkPos>;

    /// The chunk at `position`, of side [`Chunk::SIDE`]; all air where the source has
    /// nothing. The same position gives the same chunk every time.
    ///
    /// # Errors
    /// Where the source reads chunks late and finds one damaged.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError>;

    /// The box of chunks outside of which nothing is; `None` where nothing is at all.
    ///
    /// # Cost
    /// As [`chunk_positions`](Self::chunk_positions), unless the source knows it.
    fn extent(&self) -> Option<ChunkBox> {
        ChunkBox::around(self.chunk_positions())
    }

    /// How many [`chunk_positions`](Self::chunk_positions) there are: to be asked before
    /// them where they might be too many.
    fn chunk_count(&self) -> u64 {
        self.chunk_positions().len() as u64
    }

    /// The chunk of larger voxels at `node`, of a level above 0, if the source makes or keeps
    /// it itself. `None` where it does not: then it follows from the chunks, as
    /// [`downsample`](drystone_voxel::downsample) says.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        let _ = node;
        None
    }

    /// The chunk at `node` as it was before anything was edited, where this source keeps edits
    /// that may have changed it; `None` where it gives just that.
    fn original_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        let _ = node;
        None
    }

    /// Whether [`coarse_chunk`](Self::coarse_chunk) makes chunks of its own that do not follow
    /// from those below: then air may hide what is there. False where it has none, and where
    /// it keeps what follows.
    fn makes_levels(&self) -> bool {
        false
    }

    /// Whether there surely is nothing but air in the chunks that `node` covers, so that
    /// nobody need look; false where the source does not know.
    fn is_air(&self, node: NodePos) -> bool {
        let _ = node;
        false
    }

    /// What keeps edited chunks, so that this source gives them from then on, and shows them in
    /// larger voxels that it makes itself; `None` where nothing does, as of files of other
    /// programs and of what is only read.
    fn edit_store(&self) -> Option<&dyn EditStore> {
        None
    }

    /// Whether [`is_air`](Self::is_air) knows of every node, so that nobody need remember
    /// which chunks there are.
    fn has_exact_air(&self) -> bool {
        false
    }

    /// What was found damaged so far and left out, a line each: the rest of the source is
    /// still given. To be asked for after the chunks.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens what lies at `path`: a folder or `.mca` file as a Minecraft world, `.png`, `.tif` and
/// `.hgt` files as height maps at their own scale, anything else by its content, a stored
/// world to be read only; without a path, the generated world of the default configuration.
///
/// # Errors
/// A missing or unreadable file, a folder without regions, a file of another kind or a
/// damaged one: each names the file and what to do. `IsModel` for a polygon model, which has
/// no voxels: that is for [`Model::open`].
///
/// # Examples
/// ```
/// let source = drystone_world::open_source(None)?;
/// assert!(!source.chunk_positions().is_empty());
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub fn open_source(path: Option<&Path>) -> Result<Box<dyn Source>, WorldError> {
    match path {
        None => Ok(Box::new(GeneratedWorld::new(GeneratorConfig::default())?)),
        Some(path) if MinecraftWorld::is_minecraft(path) => {
            Ok(Box::new(MinecraftWorld::open(path)?))
        }
        Some(path) if HeightMap::is_height_map(path) => {
            Ok(Box::new(HeightMap::open(path, &HeightMapOptions::default())?))
        }
        Some(path) if StoredWorld::is_stored(path) => {
            Ok(Box::new(StoredWorld::open_read_only(path)?))
        }
        Some(path) => match VoxFile::open(path) {
            Err(WorldError::Unsupported { path, .. })
                if Model::is_model(&path) && path.is_file() =>
            {
                Err(WorldError::IsModel { path })
            }
            opened => Ok(Box::new(opened?)),
        },
    }
}

/// Reads the bytes of a file, as where there are no files: in a page that a file was dropped on.
/// By the name, `.mca` is a region of Minecraft and `.hgt` a height map; else the content tells.
///
/// # Errors
/// As [`open_source`].
///
/// # Examples
/// ```
/// // A plain at 100 m, samples 3 arc seconds apart.
/// let tile = [0, 100].repeat(1201 * 1201);
/// let source = drystone_world::parse_source(&tile, "N47E011.hgt")?;
/// assert!(source.chunk_count() > 0);
/// assert!(drystone_world::parse_source(b"some words", "notes.txt").is_err());
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub fn parse_source(bytes: &[u8], name: &str) -> Result<Box<dyn Source>, WorldError> {
    let path = Path::new(name);
    if path.extension().is_some_and(|it| it.eq_ignore_ascii_case("mca")) {
        return Ok(Box::new(MinecraftWorld::parse(bytes, name)?));
    }
    if HeightMap::is_height_map_of(bytes, path) {
        return Ok(Box::new(HeightMap::parse(bytes, name, &HeightMapOptions::default())?));
    }
    if StoredWorld::is_stored_of(bytes) {
        return Ok(Box::new(StoredWorld::parse(bytes, name)?));
    }
    if Model::is_model(path) {
        return Err(WorldError::IsModel { path: path.into() });
    }
    Ok(Box::new(VoxFile::parse(bytes, name)?))
}

/// The bytes of a plain file of at most `limit` bytes that begins with `magic`; `kind`
/// names what such a file is called.
pub(crate) fn read_file(
    path: &Path,
    magic: &[u8],
    kind: &str,
    limit_bytes: u64,
) -> Result<Vec<u8>, WorldError> {
    let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
    let unsupported = |found: String| WorldError::Unsupported { path: path.into(), found };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unsupported("a folder, not a file".into()));
    }
    if !metadata.is_file() {
        return Err(unsupported("a device or pipe, not a plain file".into()));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.by_ref().take(magic.len() as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    if metadata.len() == 0 {
        return Err(unsupported("an empty file".into()));
    }
    if bytes != magic {
        return Err(unsupported(format!(
            "not {kind}: it begins with \"{}\"",
            bytes.escape_ascii()
        )));
    }
    let too_large = |found| WorldError::TooLarge {
        what: path.display().to_string(),
        found,
        limit: limit_bytes,
        unit: "bytes",
        advice: "split the scene into several files",
    };
    if metadata.len() > limit_bytes {
        return Err(too_large(metadata.len()));
    }
    // A file that grows while it is read must not grow past the limit either.
    let rest = (limit_bytes + 1).saturating_sub(magic.len() as u64);
    file.take(rest).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}
