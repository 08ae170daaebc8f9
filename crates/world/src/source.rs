use std::any::Any;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::StoredWorld;
use crate::{
    ChunkBox, EditStore, GeneratedWorld, GeneratorConfig, HeightMap, HeightMapOptions,
    MinecraftWorld, Model, NodePos, QbFile, VoxFile, WorldError,
};

/// Supported file formats, as listed in the errors of [`open_source`] and
/// [`Model::open`](crate::Model::open).
pub const SUPPORTED_SOURCES: &str = "MagicaVoxel files (.vox), Qubicle files (.qb), Minecraft Java worlds (.mca, save folders), \
     height maps (.png, .tif, .hgt), stored worlds (.drystone), \
     polygon models (.obj, .gltf, .glb), \
     or no name for a generated world";

/// A source of voxels: lists its chunks and makes each on demand, from any thread and in any order.
///
/// If a thread panics during a call, other threads may keep using the source. An implementation
/// therefore ignores poisoned locks and only stores complete data under them. It does not use
/// anything again that a panic may have left incomplete, such as the database of a [`StoredWorld`].
///
/// `dyn Source` can be cast to `dyn Any` and from there to the concrete type, for methods such as
/// [`VoxFile::summary`].
pub trait Source: Any + Send + Sync {
    /// Returns the display name: the name of the file, or a description of the generated world.
    fn name(&self) -> &str;

    /// Returns a text that differs between sources with different chunks. It contains the kind of
    /// source, the file name without folders, its length or content, and options that change
    /// chunks.
    ///
    /// The text stays the same when the file is moved and between versions of this crate. A stopped
    /// import resumes only from a source with the same identity, and edits are only shown over such
    /// a source. The default is [`name`](Self::name), for sources without a file.
    fn identity(&self) -> String {
        self.name().into()
    }

    /// Returns the materials that voxels refer to.
    fn materials(&self) -> &MaterialTable;

    /// Returns the position of every chunk that may not be all air, sorted, each once.
    fn chunk_positions(&self) -> Vec<ChunkPos>;

    /// Returns the chunk at `position`, of side [`Chunk::SIDE`]. It is all air where the source has
    /// nothing. Repeated calls return the same chunk.
    ///
    /// # Errors
    /// When a source that reads chunks on demand finds a damaged one.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError>;

    /// Returns the box that contains all chunks, or `None` if there are none.
    ///
    /// # Cost
    /// The cost of [`chunk_positions`](Self::chunk_positions), unless the source stores the box.
    fn extent(&self) -> Option<ChunkBox> {
        ChunkBox::around(self.chunk_positions())
    }

    /// Number of [`chunk_positions`](Self::chunk_positions). Check it first if they may be too
    /// many.
    fn chunk_count(&self) -> u64 {
        self.chunk_positions().len() as u64
    }

    /// Returns the LOD chunk at `node`, of a level above 0, if the source makes or stores it.
    /// `None` means that it is [downsampled](drystone_voxel::downsample) from the level below.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        let _ = node;
        None
    }

    /// Returns the chunk at `node` without edits, if this source has edits that may have changed
    /// it. `None` means that there are no such edits.
    fn original_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        let _ = node;
        None
    }

    /// Whether [`coarse_chunk`](Self::coarse_chunk) returns chunks that are not downsampled from
    /// the level below. Air may then hide smaller voxels. False if the source has no LOD chunks or
    /// only stores downsampled ones.
    fn makes_levels(&self) -> bool {
        false
    }

    /// Whether all chunks that `node` covers are certainly all air, so that they need not be read.
    /// False if that is unknown.
    fn is_air(&self, node: NodePos) -> bool {
        let _ = node;
        false
    }

    /// Returns the edit store of this source, or `None` if it cannot save edits. The source returns
    /// saved chunks from then on, and shows them in LOD voxels that it makes. Files of other
    /// programs and sources opened for reading only have no edit store.
    fn edit_store(&self) -> Option<&dyn EditStore> {
        None
    }

    /// Whether [`is_air`](Self::is_air) is exact for every node. Callers then need not track which
    /// chunks exist.
    fn has_exact_air(&self) -> bool {
        false
    }

    /// Returns a line for each damaged part found so far. The rest of the source can still be read.
    /// Call this after reading the chunks.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens the source at `path`. A folder or `.mca` file is a Minecraft world, and `.png`, `.tif` and
/// `.hgt` files are height maps at their own scale. Other files are recognized by their content.
/// Stored worlds are opened for reading only. Without a path, this returns the generated world of
/// the default configuration.
///
/// # Errors
/// A missing, unreadable, unsupported or damaged file, or a folder without regions. Each error
/// names the file and what to do. `IsModel` for a polygon model, which has no voxels: use
/// [`Model::open`].
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
        Some(path) if QbFile::is_qb(path) => Ok(Box::new(QbFile::open(path)?)),
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

/// Parses a source from the bytes of a file, for example in a web page. A `.mca` name means a
/// Minecraft region and `.hgt` a height map. Other formats are recognized by their content.
///
/// # Errors
/// The errors of [`open_source`], except those of the file system.
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
    if QbFile::is_qb(path) {
        return Ok(Box::new(QbFile::parse(bytes, name)?));
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

/// Reads a plain file of at most `limit_bytes` bytes that begins with `magic`. `kind` names the
/// file format in errors.
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
