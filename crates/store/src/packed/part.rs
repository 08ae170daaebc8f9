use std::collections::HashSet;

use drystone_formats::{Source, SourceError, TILE_CHUNKS, Tiles};
use drystone_voxel::{ChunkBox, ChunkPos};
use twox_hash::XxHash3_64;

use super::key::rank_of;
use crate::chunk_list::{ChunkList, positions_in_tiles};

/// A part of a world. Several processes [`pack`](crate::pack) a part each, and [`merge`](crate::merge) joins
/// them.
///
/// The tiles of the source, squares of 16 × 16 chunks along X and Z, are divided into `count` rows of equal
/// length along a Z-order curve. So no chunk is in two parts, and a part only depends on the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackPart {
    index: u32,
    count: u32,
}

impl PackPart {
    /// Maximum number of parts of a world. Each is an open file while they are merged.
    pub const MAX_COUNT: u32 = 1_000;

    /// Creates part `index` of `count`. The first index is 1. `None` if the index is 0 or above `count`, or the
    /// count above [`MAX_COUNT`](Self::MAX_COUNT).
    pub fn new(index: u32, count: u32) -> Option<Self> {
        let is_valid = (1..=count).contains(&index) && count <= Self::MAX_COUNT;
        is_valid.then_some(Self { index, count })
    }

    /// Number of this part, 1 for the first.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Number of all parts.
    pub const fn count(self) -> u32 {
        self.count
    }
}

/// Description of a part in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartInfo {
    pub(crate) part: PackPart,
    /// Checksum of the source's state and of how it is divided, which all parts have.
    pub(crate) source: u64,
}

/// A tile's X and Z, in tiles.
type Tile = [i32; 2];

/// Returns the positions of the chunks in the tiles of a part, and a checksum of all tiles. Only those of the part
/// are read, if the source has tiles.
///
/// # Errors
/// A source whose list of chunks is damaged or cannot be read.
pub(crate) fn positions_of_part(
    source: &dyn Source,
    part: PackPart,
) -> Result<(Vec<ChunkPos>, u64), SourceError> {
    let all = All::of(source)?;
    let mut tiles = all.tiles();
    tiles.sort_unstable_by_key(|[x, z]| rank_of(ChunkPos::new(*x, 0, *z)));
    tiles.dedup();
    let end = |index: u32| tiles.len() as u64 * u64::from(index) / u64::from(part.count);
    let range = end(part.index - 1) as usize..end(part.index) as usize;
    let bytes: Vec<u8> = tiles.iter().flatten().flat_map(|c| c.to_le_bytes()).collect();
    let positions = all.positions(&tiles[range])?;
    Ok((positions, XxHash3_64::oneshot(&bytes)))
}

/// Chunk positions of a whole source.
enum All<'a> {
    Tiles(&'a dyn Tiles),
    Chunks(ChunkList),
}

impl<'a> All<'a> {
    fn of(source: &'a dyn Source) -> Result<Self, SourceError> {
        if let Some(tiles) = source.tiles() {
            return Ok(Self::Tiles(tiles));
        }
        ChunkList::of(source).map(Self::Chunks)
    }

    /// All tiles, some more than once.
    fn tiles(&self) -> Vec<Tile> {
        match self {
            Self::Tiles(tiles) => tiles.tile_positions(),
            Self::Chunks(ChunkList::Box(all)) => {
                let [min, max] = [tile_of(all.min), tile_of(all.max)];
                let row = |x| (min[1]..=max[1]).map(move |z| [x, z]);
                (min[0]..=max[0]).flat_map(row).collect()
            }
            Self::Chunks(ChunkList::List(positions)) => {
                positions.iter().map(|at| tile_of(*at)).collect()
            }
        }
    }

    /// The positions in tiles.
    fn positions(&self, tiles: &[Tile]) -> Result<Vec<ChunkPos>, SourceError> {
        match self {
            Self::Tiles(all) => positions_in_tiles(*all, tiles),
            Self::Chunks(ChunkList::Box(all)) => {
                Ok(tiles.iter().flat_map(|it| positions_in(all, *it)).collect())
            }
            Self::Chunks(ChunkList::List(all)) => {
                let tiles: HashSet<Tile> = tiles.iter().copied().collect();
                Ok(all.iter().copied().filter(|at| tiles.contains(&tile_of(*at))).collect())
            }
        }
    }
}

fn tile_of(position: ChunkPos) -> Tile {
    [position.x, position.z].map(|c| c.div_euclid(TILE_CHUNKS))
}

/// The chunk positions of a box in a tile.
fn positions_in(all: &ChunkBox, [x, z]: Tile) -> impl Iterator<Item = ChunkPos> + use<> {
    let range = |tile: i32, min: i32, max: i32| {
        let first = tile * TILE_CHUNKS;
        first.max(min)..=(first + TILE_CHUNKS - 1).min(max)
    };
    let (ys, zs) = (all.min.y..=all.max.y, range(z, all.min.z, all.max.z));
    range(x, all.min.x, all.max.x).flat_map(move |x| {
        let zs = zs.clone();
        ys.clone().flat_map(move |y| zs.clone().map(move |z| ChunkPos::new(x, y, z)))
    })
}
