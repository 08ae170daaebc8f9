use drystone_formats::{Source, SourceError, TILE_CHUNKS, Tiles};
use drystone_voxel::{ChunkBox, ChunkPos, NodePos};

use super::EditedSource;

/// The tiles of the source, and those of edited chunks.
impl Tiles for EditedSource {
    fn tile_positions(&self) -> Vec<[i32; 2]> {
        let mut tiles = self.source.tiles().map(Tiles::tile_positions).unwrap_or_default();
        let edited = self.edits.chunk_positions();
        tiles.extend(edited.iter().map(|at| [at.x, at.z].map(|c| c.div_euclid(TILE_CHUNKS))));
        tiles.sort_unstable();
        tiles.dedup();
        tiles
    }

    fn chunk_positions_in(&self, tile: [i32; 2]) -> Result<Vec<ChunkPos>, SourceError> {
        let Some(tiles) = self.source.tiles() else { return Ok(Vec::new()) };
        let mut positions = tiles.chunk_positions_in(tile)?;
        positions.extend(self.edited_in(tile));
        positions.sort_unstable();
        positions.dedup();
        Ok(positions)
    }
}

impl EditedSource {
    /// Positions of the edited chunks in a tile. Looks only at nodes above edited chunks of the tile.
    fn edited_in(&self, [x, z]: [i32; 2]) -> Vec<ChunkPos> {
        let Some(ChunkBox { min, max }) = self.edits.extent() else { return Vec::new() };
        let [first, last] = [0, TILE_CHUNKS - 1].map(|c| [x, z].map(|tile| tile * TILE_CHUNKS + c));
        let all = ChunkBox {
            min: ChunkPos::new(first[0], min.y, first[1]),
            max: ChunkPos::new(last[0], max.y, last[1]),
        };
        let top = all.at_level(NodePos::MAX_LEVEL);
        let at = |y| NodePos::new(NodePos::MAX_LEVEL, ChunkPos::new(top.min.x, y, top.min.z));
        let mut nodes: Vec<_> = (top.min.y..=top.max.y).map(at).collect();
        let mut positions = Vec::new();
        while let Some(node) = nodes.pop() {
            if !all.at_level(node.level).contains(node.chunk) || !self.is_edited(node) {
                continue;
            }
            match node.level {
                0 => positions.push(node.chunk),
                _ => nodes.extend(node.children().into_iter().flatten()),
            }
        }
        positions
    }
}
