use drystone_formats::{Source, SourceError, Tiles};
use drystone_voxel::{ChunkBox, ChunkPos};
use rayon::prelude::*;

/// The positions of all chunks of a source.
pub(crate) enum ChunkList {
    /// All positions of a box, which may be too many for a list. The source has chunks in at least a quarter.
    Box(ChunkBox),
    /// Sorted positions.
    List(Vec<ChunkPos>),
}

/// Number of chunks up to which they are always listed.
const MAX_LISTED: u64 = 1 << 16;

impl ChunkList {
    /// # Errors
    /// A source that lists fewer chunks than it counts, because its list is damaged, and a tile that cannot
    /// be read.
    pub(crate) fn of(source: &dyn Source) -> Result<Self, SourceError> {
        // An unreadable tile is an error, which the lists of the whole source omit.
        let listed = match source.tiles() {
            Some(tiles) => {
                let mut positions = positions_in_tiles(tiles, &tiles.tile_positions())?;
                positions.sort_unstable();
                Some(positions)
            }
            None => None,
        };
        let count = listed.as_ref().map_or_else(|| source.chunk_count(), |it| it.len() as u64);
        if let Some(all) = dense_box(source, count) {
            return Ok(Self::Box(all));
        }
        let positions = listed.unwrap_or_else(|| source.chunk_positions());
        if positions.len() as u64 == count {
            return Ok(Self::List(positions));
        }
        let problem = format!("only {} of {count} chunks are listed", positions.len());
        let (path, location) = (source.name().into(), "directory".into());
        Err(SourceError::BadPacked { path, location, problem })
    }
}

/// The box of a source with many chunks that has chunks in at least a quarter of it.
fn dense_box(source: &dyn Source, count: u64) -> Option<ChunkBox> {
    let is_dense = |all: &ChunkBox| {
        let volume = all.size_chunks().into_iter().try_fold(1_u64, u64::checked_mul);
        volume.is_some_and(|volume| volume / 4 <= count)
    };
    source.extent().filter(|all| count > MAX_LISTED && is_dense(all))
}

/// The positions of all chunks in tiles of a source, tile by tile.
///
/// # Errors
/// A tile that cannot be read.
pub(crate) fn positions_in_tiles(
    tiles: &dyn Tiles,
    at: &[[i32; 2]],
) -> Result<Vec<ChunkPos>, SourceError> {
    let lists = at.par_iter().map(|&tile| tiles.chunk_positions_in(tile));
    Ok(lists.collect::<Result<Vec<_>, _>>()?.concat())
}
