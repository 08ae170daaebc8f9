use std::path::Path;
use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use twox_hash::XxHash3_64;

use crate::stored::DATABASE;
use crate::{CommitPolicy, Source, StoredWorld, WorldError};

mod slabs;
#[cfg(test)]
mod tests;

use slabs::Slabs;

/// How a source is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The memory that the import may take beside the source's own, in bytes: at least
    /// [`MIN_MEMORY_BYTES`](Self::MIN_MEMORY_BYTES). Default 256 MiB.
    pub memory_bytes: u64,
    /// Whether chunks of larger voxels are made too, so that the world is seen from afar
    /// without reading all of it: a third as many again for land. Default true.
    pub levels: bool,
}

impl ImportOptions {
    /// The least: pages of the file, and a slab of chunks on each side.
    pub const MIN_MEMORY_BYTES: u64 = 64 << 20;
}

/// What an import takes that depends neither on how much is gathered for a commit nor on how
/// many threads there are: the file's pages, and slabs.
const FIXED_BYTES: u64 = 40 << 20;
/// What a thread that reads and one that packs take: what they pack and unpack with, and the
/// chunks of larger voxels under way.
const THREAD_BYTES: u64 = 8 << 20;
/// How often what is gathered for a commit is in memory at worst: four times it may wait while
/// as much is written, packed and as pages.
const GATHERED_TIMES: u64 = 24;

/// How an import uses its memory.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// Threads that read, and as many that pack.
    threads: usize,
    /// What is gathered for a commit.
    max_bytes: u64,
}

impl Shares {
    /// Threads take at most half of what is left; one there is always.
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

/// How far an import has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Places of chunks that were looked at, those of an earlier run included.
    pub done: u64,
    /// All places.
    pub total: u64,
    /// How many the earlier run had done that this one goes on from.
    pub resumed: u64,
    /// Chunks that could not be read and were left out, those of an earlier run included;
    /// [`Source::faults`] names them.
    pub lost: u64,
    /// Steps of making larger voxels that are done, after all places are.
    pub levels_done: u64,
    /// All such steps; 0 before they begin.
    pub levels_total: u64,
}

/// Copies a source of any size into a stored world, chunk by chunk, on all cores, or on as
/// many as the memory is for: 16 MiB each beyond 40. What was
/// committed of an import that was stopped, or killed, is not done again. Voxels that were edited
/// into the world meanwhile stay, wherever they are.
///
/// ```text
///  source ──► slabs of 8 × 2 × 8 chunks ──► committed in groups, with how many were done
///                                               └──► larger voxels, level by level
/// ```
///
/// # Cost
/// The source's, some 0.1 ms a chunk, and as much again for larger voxels. Memory: as the options say, beside what the source
/// takes itself; 12 bytes a chunk where the source is scattered.
///
/// # Errors
/// A file that is there already and was not begun by an import of this source; what the
/// source returns, and damage to a stored one's file as a whole; a disk that is full. What was
/// committed stays, to be gone on from.
///
/// # Examples
/// ```
/// use drystone_world::{GeneratedWorld, GeneratorConfig, ImportOptions, Source, import};
///
/// let path = std::env::temp_dir().join(format!("import-{}.drystone", std::process::id()));
/// let config = GeneratorConfig { size_chunks: [1, 4, 1], ..GeneratorConfig::default() };
/// let source = GeneratedWorld::new(config)?;
/// let (world, progress) = import(&source, &path, &ImportOptions::default(), &mut |_| {})?;
/// assert_eq!((progress.done, progress.total), (4, 4));
/// assert!(world.chunk_count() > 0);
/// # world.close()?;
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub fn import(
    source: &dyn Source,
    path: &Path,
    options: &ImportOptions,
    each: &mut dyn FnMut(&ImportProgress),
) -> Result<(StoredWorld, ImportProgress), WorldError> {
    let slabs = Slabs::of(source);
    let mark = Mark { source: fingerprint(source), done: 0, lost: 0 };
    let Shares { threads, max_bytes } =
        Shares::of(options.memory_bytes, rayon::current_num_threads());
    let policy = CommitPolicy { max_delay: Duration::from_secs(5), max_bytes };
    let pool = pool_of(threads, path)?;
    if !path.exists() {
        let progress = Some(mark.to_bytes());
        StoredWorld::create_with(path, source.name(), source.materials(), progress)?;
    }
    let world = StoredWorld::open_import(path, policy, threads)?;
    let refused = |problem| WorldError::NotResumed { path: path.into(), problem };
    let begun = world.import_progress()?.ok_or_else(|| refused("no import was stopped here"))?;
    let begun = Mark::of_bytes(&begun).ok_or_else(|| refused("another version began it"))?;
    if begun.source != mark.source {
        return Err(refused("another source was being imported, or this one has changed"));
    }
    let (total, lost) = (slabs.place_count(), begun.lost);
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
        world.derive_levels_on(pool.as_ref(), &mut |done, total| {
            (progress.levels_done, progress.levels_total) = (done, total);
            each(&progress);
        })?;
    }
    world.put_import([], Vec::new())?;
    world.flush()?;
    Ok((world, progress))
}

/// Threads to read on; `None` where those that all share are no more.
fn pool_of(threads: usize, path: &Path) -> Result<Option<ThreadPool>, WorldError> {
    if threads >= rayon::current_num_threads() {
        return Ok(None);
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(|n| format!("imports {n}")).build();
    pool.map(Some).map_err(|error| {
        let problem = std::io::Error::other(error);
        WorldError::Unreadable { path: path.into(), problem }
    })
}

fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The chunks of a slab that hold anything, with what was edited of them, and how many are damaged.
fn read(
    source: &dyn Source,
    world: &StoredWorld,
    slab: Vec<ChunkPos>,
) -> Result<(Vec<(ChunkPos, Chunk)>, u64), WorldError> {
    let read_one = |at| (at, source.chunk(at).map(|chunk| with_edits(chunk, world.chunk(at))));
    let read: Vec<_> = slab.into_par_iter().map(read_one).collect();
    let (mut chunks, mut lost) = (Vec::new(), 0);
    for (at, chunk) in read {
        match chunk {
            Ok(chunk) if chunk.is_empty() => {}
            Ok(chunk) => chunks.push((at, chunk)),
            Err(WorldError::BadStored { place, .. }) if place != DATABASE => lost += 1,
            Err(error) => return Err(error),
        }
    }
    Ok((chunks, lost))
}

/// An imported chunk with the voxels that an edit has put there before: all was air then, so only
/// what is not air was edited. Edits that are damaged are lost already.
fn with_edits(mut chunk: Chunk, edited: Result<Chunk, WorldError>) -> Chunk {
    for (at, material) in edited.iter().flat_map(Chunk::iter_solid) {
        chunk.set(at, material);
    }
    chunk
}

/// How far an import has come, as it is kept.
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

/// What tells one source from another without reading it all.
fn fingerprint(source: &dyn Source) -> u64 {
    let mut text = format!("{}\n{:?}\n", source.identity(), source.extent());
    text += &source.chunk_count().to_string();
    for (_, kind) in source.materials().iter() {
        text += &format!("\n{} {:?}", kind.name, kind.color);
    }
    XxHash3_64::oneshot(text.as_bytes())
}
