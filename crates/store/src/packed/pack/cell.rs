use drystone_formats::{Source, SourceError};
use drystone_voxel::{Chunk, ChunkPos, NodePos, downsample};

use super::used::UsedMaterials;
use super::{CELL_LEVEL, CellPositions};
use crate::packed::group::{self, Chunks};
use crate::packed::key::{GROUP_CHUNKS, GroupKey, rank_of};
use crate::stored::is_damaged_part;

/// A group that was encoded.
pub(super) type Made = (GroupKey, group::Encoded);

/// The encoded groups below a node of [`CELL_LEVEL`], and the node's own chunk.
pub(super) struct Cell {
    pub(super) node: NodePos,
    pub(super) chunk: Option<Chunk>,
    /// All groups, those of each level sorted along the curve.
    pub(super) groups: Vec<Made>,
    /// Positions of the lowest chunks that are not air.
    pub(super) solid: Vec<ChunkPos>,
    /// Number of chunks that could not be read.
    pub(super) lost: u64,
    pub(super) used: UsedMaterials,
}

impl Cell {
    /// Reads and encodes a cell.
    ///
    /// # Errors
    /// An error of the source, except damaged chunks.
    pub(super) fn make(source: &dyn Source, cell: &CellPositions) -> Result<Self, SourceError> {
        let node = cell.node;
        let (groups, solid, used) = (Vec::new(), Vec::new(), UsedMaterials::default());
        let mut made = Self { node, chunk: None, groups, solid, lost: 0, used };
        if !source.is_air(node) || source.makes_levels() {
            let mut positions = cell.positions.as_slice();
            made.chunk = made.node(node, source, &mut positions)?;
        }
        Ok(made)
    }

    /// Makes the chunk of a node, and the groups below it. `positions` begins with those of the node, which
    /// are removed. Returns `None` for air.
    fn node(
        &mut self,
        node: NodePos,
        source: &dyn Source,
        positions: &mut &[ChunkPos],
    ) -> Result<Option<Chunk>, SourceError> {
        let is_inside = |position: &ChunkPos| NodePos::from(*position).ancestor(node.level) == node;
        let Some(&first) = positions.first().filter(|position| is_inside(position)) else {
            return Ok(None);
        };
        if node.level == 0 {
            *positions = &positions[1..];
            return self.lowest(first, source);
        }
        let mut children = node.children().into_iter().flatten().collect::<Vec<_>>();
        children.sort_by_key(|child| rank_of(child.chunk));
        let mut chunks: Chunks = [const { None }; GROUP_CHUNKS];
        for child in children {
            chunks[child.index_in_parent()] = self.node(child, source, positions)?;
        }
        Ok(self.parent(node, &chunks, source))
    }

    fn lowest(&mut self, at: ChunkPos, source: &dyn Source) -> Result<Option<Chunk>, SourceError> {
        match source.chunk(at) {
            Ok(chunk) if chunk.is_empty() => Ok(None),
            Ok(chunk) => {
                self.used.add_chunk(&chunk);
                self.solid.push(at);
                Ok(Some(chunk))
            }
            Err(error) if is_damaged_part(&error) => {
                self.lost += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn parent(&mut self, node: NodePos, chunks: &Chunks, source: &dyn Source) -> Option<Chunk> {
        let encoded = group::encode(chunks)?;
        let key = GroupKey::of(node.children()?[0]).0;
        self.groups.push((key, encoded));
        let parent =
            downsample(Chunk::SIDE, chunks.each_ref().map(Option::as_ref), source.materials())?;
        self.used.add_chunk(&parent);
        Some(parent)
    }
}

const _: () = assert!(CELL_LEVEL > 0);
