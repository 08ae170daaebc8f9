use std::path::Path;
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{Chunk, ChunkPos, Face};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use twox_hash::XxHash3_64;

use crate::publish::remove_leftovers;
use crate::stored::{CommitPolicy, StoreOptions, StoredWorld, is_damaged_part};

mod slabs;
#[cfg(test)]
mod tests;

use slabs::Slabs;

/// Options of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// Memory of the import in bytes, in addition to that of the source. At least
    /// [`MIN_MEMORY_BYTES`](Self::MIN_MEMORY_BYTES). Default: 256 MiB.
    pub memory_bytes: u64,
    /// Whether LOD chunks are made too, so that distant parts can be shown without reading every
    /// chunk. For land they add about a third to the file. Default: true.
    pub levels: bool,
}

impl ImportOptions {
    /// Minimum memory in bytes, for pages of the file and a slab of chunks on each side.
    pub const MIN_MEMORY_BYTES: u64 = 64 << 20;
}

/// Memory in bytes that does not depend on the size of a commit or the number of threads: pages of
/// the file, and slabs.
const FIXED_BYTES: u64 = 40 << 20;
/// Memory in bytes of one reading and one packing thread: their buffers, and the LOD chunks in
/// progress.
const THREAD_BYTES: u64 = 8 << 20;
/// Worst-case memory per byte of a commit. Up to four commits may wait while another is written,
/// packed and as pages.
const GATHERED_TIMES: u64 = 24;

/// Distribution of an import's memory.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// Number of reading threads, and of packing threads.
    threads: usize,
    /// Limit for the chunks of a commit, in bytes.
    max_bytes: u64,
}

impl Shares {
    /// Threads take at most half of the remaining memory. There is always at least one.
    fn of(memory_bytes: u64, cores: usize) -> Self {
        let memory_bytes = memory_bytes.max(ImportOptions::MIN_MEMORY_BYTES);
        let left_bytes = memory_bytes - FIXED_BYTES;
        let threads = (left_bytes / 2 / THREAD_BYTES).clamp(1, cores.max(1) as u64);
        let max_bytes = (left_bytes - threads * THREAD_BYTES) / GATHERED_TIMES;
        Self { threads: threads as usize, max_bytes }
    }
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { memory_bytes: 256 << 20, levels: true }
    }
}

impl ImportOptions {
    /// Replaces [`memory_bytes`](Self::memory_bytes).
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// Turns [`levels`](Self::levels) off.
    #[must_use]
    pub const fn without_levels(mut self) -> Self {
        self.levels = false;
        self
    }
}

/// Progress of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportProgress {
    /// Number of processed chunk positions, including those of an earlier run.
    pub done: u64,
    /// Number of all chunk positions.
    pub total: u64,
    /// Number of positions that an earlier run had processed.
    pub resumed: u64,
    /// Number of chunks that could not be read and were omitted, including those of an earlier run.
    /// [`Source::faults`] lists them.
    pub lost: u64,
    /// Number of finished steps for LOD chunks. They follow the last chunk position.
    pub levels_done: u64,
    /// Number of all steps for LOD chunks. 0 before they begin.
    pub levels_total: u64,
}

/// Copies a source of any size into a stored world, chunk by chunk. Each thread needs 16 MiB of
/// memory beyond the first 40 MiB, so little memory means few threads.
///
/// A stopped or killed import resumes after its last commit. Voxels that were edited into the world
/// in the meantime are kept.
///
/// ```text
///  source ──► slabs of 8 × 2 × 8 chunks ──► committed in groups, with the progress
///                                               └──► LOD chunks, level by level
/// ```
///
/// # Cost
/// The source's time, about 0.1 ms per chunk, and the same again for LOD chunks. Memory: as set in
/// the options, plus that of the source. A scattered source takes 12 bytes more per chunk.
///
/// # Errors
/// * A file that exists but was not begun by an import of this source.
/// * An error of the source, except damaged chunks of a stored world, which are skipped.
/// * A full disk.
///
/// Committed chunks stay, and the import can be resumed.
///
/// # Examples
/// ```
/// use drystone_formats::Source;
/// use drystone_store::{ImportOptions, import};
/// use drystone_world::{GeneratedWorld, GeneratorConfig};
///
/// let path = std::env::temp_dir().join(format!("import-{}.drystone", std::process::id()));
/// let config = GeneratorConfig::default().with_size_chunks([1, 4, 1]);
/// let source = GeneratedWorld::new(config)?;
/// let (world, progress) = import(&source, &path, &ImportOptions::default(), &mut |_| {})?;
/// assert_eq!((progress.done, progress.total), (4, 4));
/// assert!(world.chunk_count() > 0);
/// # world.close()?;
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub fn import(
    source: &dyn Source,
    path: &Path,
    options: &ImportOptions,
    each: &mut dyn FnMut(&ImportProgress),
) -> Result<(StoredWorld, ImportProgress), SourceError> {
    let slabs = Slabs::of(source)?;
    let mark = Mark { source: fingerprint(source), done: 0, lost: 0 };
    let Shares { threads, max_bytes } =
        Shares::of(options.memory_bytes, rayon::current_num_threads());
    let policy = CommitPolicy { max_delay: Duration::from_secs(5), max_bytes };
    let pool = pool_of(threads, path)?;
    if !path.exists() {
        StoredWorld::create_import(path, source.name(), source.materials(), mark.to_bytes())?;
    }
    remove_leftovers(path);
    let world = StoredWorld::open(path, &StoreOptions { threads, ..policy.into() })?;
    let refused = |problem| SourceError::NotResumed { path: path.into(), problem };
    let begun = world.import_progress()?.ok_or_else(|| refused("it has no stopped import"))?;
    let begun =
        Mark::of_bytes(&begun).ok_or_else(|| refused("its import was begun by another version"))?;
    if begun.source != mark.source {
        return Err(refused("its import has another source, or this source has changed"));
    }
    let (total, lost) = (slabs.position_count(), begun.lost);
    let mut progress = ImportProgress { total, lost, ..ImportProgress::default() };
    for slab in slabs {
        let count = slab.len() as u64;
        if progress.done < begun.done {
            (progress.done, progress.resumed) = (progress.done + count, progress.resumed + count);
            continue;
        }
        let (chunks, lost) = on(pool.as_ref(), || read(source, &world, slab))?;
        (progress.done, progress.lost) = (progress.done + count, progress.lost + lost);
        let ImportProgress { done, lost, .. } = progress;
        world.put_import(chunks, Mark { done, lost, ..mark }.to_bytes())?;
        each(&progress);
    }
    if options.levels {
        world.levels().make_all(pool.as_ref(), &mut |done, total| {
            (progress.levels_done, progress.levels_total) = (done, total);
            each(&progress);
        })?;
    }
    world.put_import([], Vec::new())?;
    world.flush()?;
    Ok((world, progress))
}

/// Returns the thread pool for reading, or `None` if `threads` allows
/// the whole global pool.
fn pool_of(threads: usize, path: &Path) -> Result<Option<ThreadPool>, SourceError> {
    if threads >= rayon::current_num_threads() {
        return Ok(None);
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(|n| format!("imports {n}")).build();
    pool.map(Some).map_err(|error| {
        let problem = std::io::Error::other(error);
        SourceError::Unreadable { path: path.into(), problem }
    })
}

fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Reads the chunks of a slab that are not all air and merges edits into them. Returns the number
/// of damaged chunks too.
fn read(
    source: &dyn Source,
    world: &StoredWorld,
    slab: Vec<ChunkPos>,
) -> Result<(Vec<(ChunkPos, Chunk)>, u64), SourceError> {
    let read_one = |at| (at, source.chunk(at).map(|chunk| with_edits(chunk, world.chunk(at))));
    let read: Vec<_> = slab.into_par_iter().map(read_one).collect();
    let (mut chunks, mut lost) = (Vec::new(), 0);
    for (at, chunk) in read {
        match chunk {
            Ok(chunk) if chunk.is_empty() => {}
            Ok(chunk) => chunks.push((at, chunk)),
            Err(error) if is_damaged_part(&error) => lost += 1,
            Err(error) => return Err(error),
        }
    }
    Ok((chunks, lost))
}

/// Merges voxels that were edited before the import into an imported chunk. The stored chunk was
/// all air then, so all other voxels are edits. Damaged edits are lost already.
fn with_edits(mut chunk: Chunk, edited: Result<Chunk, SourceError>) -> Chunk {
    for (at, material) in edited.iter().flat_map(Chunk::iter_solid) {
        chunk.set(at, material);
    }
    chunk
}

/// Progress of an import, as stored in the file.
#[derive(Clone, Copy)]
struct Mark {
    source: u64,
    done: u64,
    lost: u64,
}

impl Mark {
    fn to_bytes(self) -> Vec<u8> {
        [self.source, self.done, self.lost].map(u64::to_le_bytes).concat()
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks();
        match (numbers, rest) {
            (&[source, done, lost], []) => {
                let [source, done, lost] = [source, done, lost].map(u64::from_le_bytes);
                Some(Self { source, done, lost })
            }
            _ => None,
        }
    }
}

/// Returns a checksum that differs between sources, without reading all chunks.
pub(crate) fn fingerprint(source: &dyn Source) -> u64 {
    fingerprint_of(source, &format!("{:?}\n{}", source.extent(), source.chunk_count()))
}

/// Returns the fingerprint of some chunks of a source, which `chunks` describes.
pub(crate) fn fingerprint_of(source: &dyn Source, chunks: &str) -> u64 {
    let mut text = format!("{}\n{chunks}", source.identity());
    for (_, kind) in source.materials().iter() {
        text += &format!("\n{} {:?}", kind.name, kind.color);
        if kind.faces.is_some() || kind.emission != 0 {
            text += &format!(" {:?} {}", kind.faces, kind.emission);
        }
        if let Some(shape) = &kind.shape {
            text += &format!(" {shape:?}");
        }
        let textures = Face::ALL.map(|face| kind.texture(face));
        if kind.cut_out || textures != [None; Face::COUNT] {
            text += &format!(" {} {textures:?}", kind.cut_out);
        }
    }
    for texture in source.materials().textures() {
        text += &format!("\n{:x}", XxHash3_64::oneshot(texture.rgba()));
    }
    XxHash3_64::oneshot(text.as_bytes())
}
