use drystone_formats::{Source, SourceError};
use drystone_voxel::{ChunkBox, ChunkPos, NodePos};

use super::{CELL_LEVEL, CellPositions};
use crate::chunk_list::ChunkList;
use crate::packed::key::{position_of, rank_of};
use crate::packed::part::{PackPart, positions_of_part};

/// Chunk positions of a source in cells of 8³ chunks, sorted along the curve.
pub(super) enum Cells {
    /// All positions of a box, without a list, and the nodes that are left, last first.
    Box { all: ChunkBox, nodes: Vec<NodePos> },
    /// Listed positions sorted along the curve, and the index of the next one. Of a part, also a checksum of
    /// the tiles of the whole source.
    List { positions: Vec<ChunkPos>, next: usize, tiles: Option<u64> },
}

impl Cells {
    /// # Errors
    /// A source whose list of chunks is damaged or cannot be read.
    pub(super) fn of(source: &dyn Source, part: Option<PackPart>) -> Result<Self, SourceError> {
        if let Some(part) = part {
            let (positions, tiles) = positions_of_part(source, part)?;
            return Ok(Self::list(positions, Some(tiles)));
        }
        Ok(match ChunkList::of(source)? {
            ChunkList::Box(all) => Self::Box { all, nodes: sorted(roots(all)) },
            ChunkList::List(positions) => Self::list(positions, None),
        })
    }

    fn list(mut positions: Vec<ChunkPos>, tiles: Option<u64>) -> Self {
        positions.sort_unstable_by_key(|position| rank_of(*position));
        Self::List { positions, next: 0, tiles }
    }

    /// Checksum of the tiles of the whole source, of a part.
    pub(super) fn tiles(&self) -> Option<u64> {
        match self {
            Self::Box { .. } => None,
            Self::List { tiles, .. } => *tiles,
        }
    }

    /// A box around all positions. `None` if there are none.
    pub(super) fn extent(&self) -> Option<ChunkBox> {
        match self {
            Self::Box { all, .. } => Some(*all),
            Self::List { positions, .. } => ChunkBox::around(positions.iter().copied()),
        }
    }

    /// Number of all positions.
    pub(super) fn position_count(&self) -> u64 {
        match self {
            Self::Box { all, .. } => all.size_chunks().into_iter().product(),
            Self::List { positions, .. } => positions.len() as u64,
        }
    }
}

/// The nodes of a level at or above the cells that cover a box, at most eight.
fn roots(all: ChunkBox) -> Vec<NodePos> {
    let level = all.top_level().max(CELL_LEVEL);
    let ChunkBox { min, max } = all.at_level(level);
    let mut nodes = Vec::new();
    for x in min.x..=max.x {
        for y in min.y..=max.y {
            nodes.extend((min.z..=max.z).map(|z| NodePos::new(level, ChunkPos::new(x, y, z))));
        }
    }
    nodes
}

/// Sorts nodes of one level along the curve, last first.
fn sorted(mut nodes: Vec<NodePos>) -> Vec<NodePos> {
    nodes.sort_by_cached_key(|node| rank_of(node.chunk));
    nodes.reverse();
    nodes
}

impl Iterator for Cells {
    type Item = CellPositions;

    fn next(&mut self) -> Option<CellPositions> {
        match self {
            Self::Box { all, nodes } => loop {
                let node = nodes.pop()?;
                if !all.at_level(node.level).contains(node.chunk) {
                    continue;
                }
                if node.level > CELL_LEVEL {
                    nodes.extend(sorted(node.children().into_iter().flatten().collect()));
                    continue;
                }
                // The ranks of the chunks below a node are consecutive.
                let ChunkPos { x, y, z } = node.chunk;
                let [x, y, z] = [x, y, z].map(|c| c << CELL_LEVEL);
                let first = rank_of(ChunkPos::new(x, y, z));
                let positions = (first..first + (1 << (3 * CELL_LEVEL))).map(position_of);
                let positions = positions.filter(|position| all.contains(*position)).collect();
                return Some(CellPositions { node, positions });
            },
            Self::List { positions, next, .. } => {
                let rest = positions.get(*next..)?;
                let cell = |position: &ChunkPos| NodePos::from(*position).ancestor(CELL_LEVEL);
                let node = cell(rest.first()?);
                let count = rest.iter().take_while(|position| cell(position) == node).count();
                *next += count;
                Some(CellPositions { node, positions: rest[..count].to_vec() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_and_a_list_give_the_same_cells() {
        for (min, max) in [
            (ChunkPos::new(0, 0, 0), ChunkPos::new(0, 0, 0)),
            (ChunkPos::new(-9, -3, 4), ChunkPos::new(10, 4, 17)),
            (
                ChunkPos::new(1 << 25, 0, -(1 << 26)),
                ChunkPos::new((1 << 25) + 9, 8, -(1 << 26) + 3),
            ),
        ] {
            let all = ChunkBox { min, max };
            let mut positions = Vec::new();
            for x in min.x..=max.x {
                for y in min.y..=max.y {
                    positions.extend((min.z..=max.z).map(|z| ChunkPos::new(x, y, z)));
                }
            }
            positions.sort_by_cached_key(|position| rank_of(*position));
            let boxed = Cells::Box { all, nodes: sorted(roots(all)) };
            let listed = Cells::List { positions: positions.clone(), next: 0, tiles: None };
            assert_eq!(boxed.position_count(), listed.position_count());
            let all_of = |cells: Cells| -> Vec<(NodePos, Vec<ChunkPos>)> {
                cells.map(|cell| (cell.node, cell.positions)).collect()
            };
            let (boxed, listed) = (all_of(boxed), all_of(listed));
            assert_eq!(boxed, listed);
            assert_eq!(boxed.into_iter().flat_map(|it| it.1).collect::<Vec<_>>(), positions);
        }
    }
}
