//! LOD nodes of a stored world: where they are stored, and which are above changed chunks.

use std::collections::HashSet;

use drystone_voxel::{ChunkPos, NodePos};

/// Bits of X that a level-1 node needs. The bits above are free, since voxel coordinates end there.
const X_BITS: u32 = 26;

/// Position under which a LOD node is stored, in the same form as a chunk's. The node's level is in
/// X, above the bits that nodes use. `None` for nodes that are not stored: those of level 0, and
/// those beyond the range of voxel coordinates.
pub(super) fn stored_position(node: NodePos) -> Option<ChunkPos> {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    let own = x & ((1 << X_BITS) - 1);
    let is_stored = level > 0 && sign_extended(own) == x;
    is_stored.then(|| ChunkPos::new(i32::from(level) << X_BITS | own, y, z))
}

/// Inverse of [`stored_position`]; `None` if the position belongs to no node.
pub(super) fn node_at_stored_position(position: ChunkPos) -> Option<NodePos> {
    let level = u8::try_from(position.x >> X_BITS).ok()?;
    let chunk = ChunkPos::new(sign_extended(position.x), position.y, position.z);
    (1..=NodePos::MAX_LEVEL).contains(&level).then_some(NodePos { level, chunk })
}

const fn sign_extended(x: i32) -> i32 {
    x << (i32::BITS - X_BITS) >> (i32::BITS - X_BITS)
}

/// All nodes above `chunks`. Their LOD chunks are outdated when the chunks change.
pub(super) fn nodes_above<'a>(chunks: impl Iterator<Item = &'a ChunkPos>) -> HashSet<NodePos> {
    let mut nodes = HashSet::new();
    for &chunk in chunks {
        let mut node = NodePos::from(chunk).parent();
        while nodes.insert(node) && node.level < NodePos::MAX_LEVEL {
            node = node.parent();
        }
    }
    nodes
}

/// Text for a LOD node in messages.
pub(super) fn location_of_node(node: NodePos) -> String {
    let NodePos { level, chunk: ChunkPos { x, y, z } } = node;
    format!("level {level}, chunk {x},{y},{z}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_positions_are_unique_and_invertible() {
        let mut positions = HashSet::new();
        let far = 1 << (X_BITS - 1);
        for level in 1..=NodePos::MAX_LEVEL {
            for x in [-far, -1, 0, 5, far - 1] {
                for y in [i32::MIN, 0, i32::MAX] {
                    let node = NodePos::new(level, ChunkPos::new(x, y, -7));
                    let position = stored_position(node).unwrap();
                    assert_eq!(node_at_stored_position(position), Some(node));
                    assert!(positions.insert(position));
                }
            }
            for x in [far, -far - 1, i32::MIN, i32::MAX] {
                assert_eq!(stored_position(NodePos::new(level, ChunkPos::new(x, 0, 0))), None);
            }
        }
        assert_eq!(stored_position(NodePos::default()), None);
        for x in [0, -1, i32::MIN, 25 << X_BITS] {
            assert_eq!(node_at_stored_position(ChunkPos::new(x, 0, 0)), None);
        }
    }

    #[test]
    fn nodes_above_include_every_ancestor() {
        let chunks = [ChunkPos::new(5, -3, 0), ChunkPos::new(-1, 9, 70)];
        let nodes = nodes_above(chunks.iter());
        for level in 1..=NodePos::MAX_LEVEL {
            assert!(chunks.iter().all(|&it| nodes.contains(&NodePos::from(it).ancestor(level))));
        }
        assert!(nodes.iter().all(|it| it.level > 0));
    }
}
