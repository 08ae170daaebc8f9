use std::any::Any;
use std::path::{Path, PathBuf};

use drystone_voxel::{Chunk, ChunkBox, ChunkPos, MaterialTable, NodePos};

use crate::arrivals::Arrivals;
use crate::error::SourceError;
use crate::memory_file::MemoryFile;

/// A source of voxels: lists its chunks and makes each on demand, from any thread and in any order.
///
/// If a thread panics during a call, other threads may keep using the source. An implementation
/// therefore ignores poisoned locks and only stores complete data under them. It does not use
/// anything again that a panic may have left incomplete, such as the database of a
/// stored world.
///
/// `dyn Source` can be cast to `dyn Any` and from there to the concrete type, for methods such as
/// [`VoxFile::summary`](crate::VoxFile::summary).
///
/// # Examples
/// Voxels of a program, for example to export them:
/// ```
/// use drystone_formats::{Source, SourceError};
/// use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
///
/// struct Ball {
///     materials: MaterialTable,
///     color: Material,
/// }
///
/// impl Source for Ball {
///     fn name(&self) -> &str {
///         "ball"
///     }
///
///     fn materials(&self) -> &MaterialTable {
///         &self.materials
///     }
///
///     fn chunk_positions(&self) -> Vec<ChunkPos> {
///         vec![ChunkPos::new(0, 0, 0)]
///     }
///
///     fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
///         if position != ChunkPos::new(0, 0, 0) {
///             return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
///         }
///         Ok(Chunk::from_fn(Chunk::SIDE, |at| {
///             let from_middle = [at.x, at.y, at.z].map(|c| i32::from(c) - 16);
///             let square: i32 = from_middle.iter().map(|c| c * c).sum();
///             if square < 200 { self.color } else { Material::AIR }
///         }))
///     }
/// }
///
/// let mut materials = MaterialTable::new();
/// let color = materials.insert("red", [200, 40, 30, 255]).unwrap();
/// assert_eq!(Ball { materials, color }.chunk_count(), 1);
/// ```
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
    /// nothing. Repeated calls return the same chunk until the source [moves](Self::motion).
    ///
    /// # Errors
    /// When a source that reads chunks on demand finds a damaged one.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError>;

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
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        let _ = node;
        None
    }

    /// Returns the chunk at `node` without edits, if this source has edits that may have changed
    /// it. `None` means that there are no such edits.
    fn original_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        let _ = node;
        None
    }

    /// Whether [`coarse_chunk`](Self::coarse_chunk) returns chunks that are not downsampled from
    /// the level below. Air may then hide smaller voxels. False if the source has no LOD chunks or
    /// only stores downsampled ones.
    fn makes_levels(&self) -> bool {
        false
    }

    /// Returns the highest level at which this source makes or stores all LOD chunks, so that one is read without
    /// those below it. 0 if it has none, or may lack some.
    fn coarsest_level(&self) -> u8 {
        if self.makes_levels() { NodePos::MAX_LEVEL } else { 0 }
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

    /// Returns the edits of this source, if they are saved in a file that can be chosen and changed
    /// while the source is open.
    fn separate_edits(&self) -> Option<&dyn SeparateEdits> {
        None
    }

    /// Whether [`is_air`](Self::is_air) is exact for every node. Callers then need not track which
    /// chunks exist.
    fn has_exact_air(&self) -> bool {
        false
    }

    /// Returns the motion of a source whose chunks change by themselves. `None` if they never do.
    fn motion(&self) -> Option<&dyn Motion> {
        None
    }

    /// Returns the requests of nodes that come over a network. `None` if every node can be read at once.
    /// Where there are some, reading a missing node waits for it, or fails where waiting is not possible.
    fn arrivals(&self) -> Option<&dyn Arrivals> {
        None
    }

    /// Sets the limit in bytes for what this source keeps in memory because it was read recently. Sources that keep
    /// nothing, or everything, ignore it.
    fn limit_memory(&self, bytes: usize) {
        let _ = bytes;
    }

    /// Returns the tiles of a source that can list the chunks of a part without reading the rest. `None` if it
    /// lists all at once.
    fn tiles(&self) -> Option<&dyn Tiles> {
        None
    }

    /// Returns a line for each damaged part found so far. The rest of the source can still be read.
    /// Call this after reading the chunks.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The tiles of a source: squares of [`TILE_CHUNKS`] chunks along X and Z, of all heights.
/// Several machines share a large world by its tiles.
pub trait Tiles: Send + Sync {
    /// Returns the X and Z of all tiles that may contain voxels, in tiles, each once.
    fn tile_positions(&self) -> Vec<[i32; 2]>;

    /// Returns the position of every chunk of a tile that may not be all air, each once. Reads no other tile.
    ///
    /// # Errors
    /// When the tile cannot be read now, as from a disk that fails.
    fn chunk_positions_in(&self, tile: [i32; 2]) -> Result<Vec<ChunkPos>, SourceError>;
}

/// Side of [`Tiles`], in chunks: that of a region file of Minecraft.
pub const TILE_CHUNKS: i32 = 16;

/// Motion of a source whose chunks change by themselves, frame by frame.
pub trait Motion {
    /// Moves to the next frame, and returns the positions of the chunks that changed. From then on,
    /// [`Source::chunk`] returns the new ones.
    fn next_frame(&self) -> Vec<ChunkPos>;
}

/// Maximum number of chunks that are held in memory at once: those of a `World`, and those of a
/// file that lists its chunks when it is opened.
pub const MAX_LOADED_CHUNKS: usize = 1 << 16;

/// Persists edited chunks in a file.
pub trait EditStore {
    /// Returns the file that the edits are saved to.
    fn path(&self) -> PathBuf;

    /// Takes edited chunks, including empty ones. The source returns them from now on. They are
    /// committed later, many at once.
    ///
    /// # Errors
    /// When an earlier commit failed. Nothing is taken then until [`flush`](Self::flush) succeeds.
    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError>;

    /// Waits until all edits are on disk. Tries again what failed before.
    ///
    /// # Errors
    /// When the file cannot be written. The edits are kept and can be flushed again.
    fn flush(&self) -> Result<(), SourceError>;

    /// Returns the state of the edits that are not on disk yet.
    fn saving(&self) -> Saving;

    /// Returns the chunks that are not on disk yet.
    fn waiting(&self) -> Vec<(ChunkPos, Chunk)>;
}

/// State of the edits that are not on disk yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saving {
    /// Number of chunks that are not on disk yet.
    pub waiting_chunks: u64,
    /// Error of the last commit, if it failed.
    pub failure: Option<String>,
}

/// Edits that are saved apart from their source, in a file that can be chosen while it is open.
pub trait SeparateEdits {
    /// Returns where the edits are saved.
    fn destination(&self) -> EditDestination;

    /// Creates a file and saves all edits there from now on. Edits from a previous file are copied,
    /// and that file is not changed. Edits that the source itself has not written yet are moved to
    /// the new file. Damaged chunks of the previous file are not copied.
    ///
    /// # Errors
    /// A file that exists and is not empty, or cannot be created, or a source that was opened for
    /// reading only. Edits are then saved as before.
    fn save_to(&self, file: WorldFile<'_>) -> Result<(), SourceError>;
}

/// A file of a stored world or of edits.
#[derive(Clone, Copy, Debug)]
pub enum WorldFile<'a> {
    /// A file on disk.
    Path(&'a Path),
    /// A file in memory.
    Memory(&'a MemoryFile),
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for WorldFile<'a> {
    fn from(path: &'a P) -> Self {
        Self::Path(path.as_ref())
    }
}

impl<'a> From<&'a MemoryFile> for WorldFile<'a> {
    fn from(file: &'a MemoryFile) -> Self {
        Self::Memory(file)
    }
}

impl<'a> WorldFile<'a> {
    /// The path, or the name of the file in memory.
    pub fn path(self) -> &'a Path {
        match self {
            Self::Path(path) => path,
            Self::Memory(file) => file.name(),
        }
    }
}

/// Destination of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditDestination {
    /// Nowhere, until a file is chosen.
    None,
    /// By the source itself, as a stored world does.
    Source,
    /// In this file.
    File(PathBuf),
}
