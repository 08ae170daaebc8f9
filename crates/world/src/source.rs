use std::any::Any;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::{ChunkBox, EditStore, NodePos, WorldError};

/// A source of voxels: lists its chunks and makes each on demand, from any thread and in any order.
///
/// If a thread panics during a call, other threads may keep using the source. An implementation
/// therefore ignores poisoned locks and only stores complete data under them. It does not use
/// anything again that a panic may have left incomplete, such as the database of a [`StoredWorld`](crate::StoredWorld).
///
/// `dyn Source` can be cast to `dyn Any` and from there to the concrete type, for methods such as
/// [`VoxFile::summary`](crate::VoxFile::summary).
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
