use std::any::Any;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{ChunkBox, NodePos};
use rayon::prelude::*;
use twox_hash::XxHash3_64;
use web_time::Instant;

use super::part::{PackPart, PartInfo};
use crate::import::{fingerprint, fingerprint_of};
use crate::stored::StoredWorld;

mod cell;
mod cells;
mod finish;
mod merge;
mod pyramid;
mod spools;
mod used;

use cell::Cell;
use cells::Cells;
use finish::Finished;
pub use merge::{MergeProgress, merge};
use pyramid::Pyramid;
use spools::{Begun, Spools};

/// Options of [`pack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackOptions {
    /// Memory in bytes, in addition to that of the source. At least one part of 8³ chunks is processed at
    /// a time, which takes 8 MiB for land and 48 MiB for noise. More parts are processed at a time, each by one
    /// core, for each 48 MiB. Default: 256 MiB.
    pub memory_bytes: u64,
    /// Time between two states from which a killed run is resumed. Default: 5 s.
    pub save_interval: Duration,
    /// The part of the world that is packed. `None`, the default, packs all of it.
    pub part: Option<PackPart>,
}

impl Default for PackOptions {
    fn default() -> Self {
        Self { memory_bytes: 256 << 20, save_interval: Duration::from_secs(5), part: None }
    }
}

impl PackOptions {
    /// Replaces [`memory_bytes`](Self::memory_bytes).
    #[must_use]
    pub const fn with_memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// Replaces [`save_interval`](Self::save_interval).
    #[must_use]
    pub const fn with_save_interval(mut self, save_interval: Duration) -> Self {
        self.save_interval = save_interval;
        self
    }

    /// Replaces [`part`](Self::part).
    #[must_use]
    pub const fn with_part(mut self, part: Option<PackPart>) -> Self {
        self.part = part;
        self
    }
}

/// Progress of [`pack`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackProgress {
    /// Number of processed chunk positions, including those of an earlier run.
    pub done: u64,
    /// Number of all chunk positions.
    pub total: u64,
    /// Number of positions that an earlier run had processed.
    pub resumed: u64,
    /// Number of chunks that could not be read and were omitted, including those of an earlier run.
    /// [`Source::faults`] lists them.
    pub lost: u64,
}

/// Level of the nodes that are packed at a time: 8³ chunks.
const CELL_LEVEL: u8 = 3;
/// Memory of a cell in bytes, if its chunks are noise.
const CELL_BYTES: u64 = 48 << 20;

/// Writes a source of any size as a [packed world](super::PackedWorld), with all levels of detail. The same
/// source gives the same bytes, whatever the number of threads and interruptions.
///
/// Records are collected in the folder `path` + `.part`, one file a level. A stopped or killed run resumes
/// from there. At the end they are joined, and the new file replaces an older one under its name.
///
/// ```text
///  source ─► cells of 8³ chunks, along the curve ─► levels 0 to 2 ─┬─► records of each level ─► file
///                                                                  └─► upper levels ──┘
/// ```
///
/// # Cost
/// The source's time, and about 0.5 ms per chunk of land, on as many cores as the memory allows. Memory: as
/// set in the options. A part, and a source that does not fill its box, takes 12 bytes more per chunk. Disk: twice the
/// size of the file.
///
/// # Errors
/// * A folder of an interrupted run of another source.
/// * An error of the source, except damaged chunks of a stored or packed world, which are omitted.
/// * A full disk, or a world with more than 98 million groups of chunks.
///
/// What was done stays, and the next call resumes.
pub fn pack(
    source: &dyn Source,
    path: &Path,
    options: &PackOptions,
    each: &mut dyn FnMut(&PackProgress),
) -> Result<PackProgress, SourceError> {
    let cells = Cells::of(source, options.part)?;
    let part = options.part.zip(cells.tiles());
    let part = part.map(|(part, tiles)| PartInfo { part, source: version_of(source, tiles) });
    let chunks = (cells.extent(), cells.position_count());
    let mut spools = Spools::open(path, state_of(source, part.map(|part| (part, chunks))))?;
    let mut pyramid = Pyramid::new(cells.extent().map_or(0, |extent| extent.top_level()));
    let mut at = Begun::default();
    if let Some((begun, state)) = spools.resume()? {
        let restored = pyramid.restore(&state);
        restored.ok_or_else(|| spools.refused("another version began it"))?;
        at = begun;
    }
    let (total, resumed) = (cells.position_count(), at.done);
    let progress = |at: &Begun| PackProgress { done: at.done, total, resumed, lost: at.lost };
    let at_once =
        (options.memory_bytes / CELL_BYTES).clamp(1, 4 * rayon::current_num_threads() as u64);
    let mut cells = cells.skip(at.cells as usize);
    let mut saved = Instant::now();
    loop {
        let batch: Vec<_> = cells.by_ref().take(at_once as usize).collect();
        if batch.is_empty() {
            break;
        }
        at.cells += batch.len() as u64;
        at.done += batch.iter().map(|cell| cell.positions.len() as u64).sum::<u64>();
        let made: Vec<_> = batch.into_par_iter().map(|cell| Cell::make(source, &cell)).collect();
        for cell in made {
            let cell = cell?;
            at.lost += cell.lost;
            pyramid.add(cell, source.materials(), &mut spools)?;
        }
        if saved.elapsed() >= options.save_interval {
            spools.save(at, &pyramid.to_bytes())?;
            saved = Instant::now();
        }
        each(&progress(&at));
    }
    spools.save(at, &pyramid.to_bytes())?;
    pyramid.complete(source.materials(), &mut spools)?;
    let finished = Finished {
        name: finish::name_of(source),
        extent: pyramid.extent,
        top_level: pyramid.top_level(),
        chunk_count: pyramid.chunk_count,
        materials: pyramid.used.table(source.materials()),
        part,
    };
    finish::finish(finished, spools)?;
    Ok(progress(&at))
}

/// A node of [`CELL_LEVEL`] and the positions of its chunks, sorted along the curve.
struct CellPositions {
    node: NodePos,
    positions: Vec<drystone_voxel::ChunkPos>,
}

/// A number that changes with the state of a source, and with the version of this crate, which may encode
/// otherwise. A stored world may be edited between two runs.
fn state_of(source: &dyn Source, part: Option<(PartInfo, (Option<ChunkBox>, u64))>) -> u64 {
    match part {
        None => version_of(source, fingerprint(source)),
        // Without the list of all chunks.
        Some(part) => version_of(source, fingerprint_of(source, &format!("{part:?}"))),
    }
}

/// A number that changes with the state of a source and the version of this crate. `chunks` describes its chunks.
fn version_of(source: &dyn Source, chunks: u64) -> u64 {
    let any: &dyn Any = source;
    let revision = any.downcast_ref::<StoredWorld>().map_or(0, StoredWorld::revision);
    let text = format!("{} {chunks} {revision} {}", source.identity(), env!("CARGO_PKG_VERSION"));
    XxHash3_64::oneshot(text.as_bytes())
}

/// The folder in which the records of a file are collected.
fn folder_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests;
