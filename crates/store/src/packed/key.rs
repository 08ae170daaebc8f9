use std::cmp::Ordering;

use drystone_voxel::{ChunkPos, NodePos};

/// Position of a group in a packed world: the eight children of one node, which are one record.
///
/// Groups are ordered as the file stores them: coarse levels first, and the groups of a level along
/// a Z-order curve (G. M. Morton, 1966), so that neighbours in space are mostly neighbours in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    /// Level of the eight chunks.
    pub(crate) level: u8,
    /// Rank of the group along the curve.
    pub(crate) rank: u128,
}

/// Number of chunks in a group.
pub(crate) const GROUP_CHUNKS: usize = NodePos::CHILDREN;

impl GroupKey {
    /// The group of a chunk, and the chunk's index in it.
    pub(crate) fn of(node: NodePos) -> (Self, usize) {
        let ChunkPos { x, y, z } = node.chunk;
        let rank = rank_of(ChunkPos::new(x >> 1, y >> 1, z >> 1));
        (Self { level: node.level, rank }, node.index_in_parent())
    }

    /// Whether all chunks of the group have positions, at a level that exists.
    pub(crate) fn is_valid(self) -> bool {
        self.level <= NodePos::MAX_LEVEL && Self::of(self.chunk(0)).0 == self
    }

    /// The chunk with an index below [`GROUP_CHUNKS`].
    pub(crate) fn chunk(self, index: usize) -> NodePos {
        let ChunkPos { x, y, z } = position_of(self.rank);
        let index = index as i32;
        let chunk =
            ChunkPos::new(x << 1 | index & 1, y << 1 | index >> 1 & 1, z << 1 | index >> 2 & 1);
        NodePos { level: self.level, chunk }
    }
}

impl Ord for GroupKey {
    fn cmp(&self, other: &Self) -> Ordering {
        other.level.cmp(&self.level).then(self.rank.cmp(&other.rank))
    }
}

impl PartialOrd for GroupKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Rank of a position along the Z-order curve. The bits of the coordinates alternate, X lowest. The
/// highest bit of a coordinate is inverted, so that negative positions come first.
pub(crate) fn rank_of(ChunkPos { x, y, z }: ChunkPos) -> u128 {
    let [x, y, z] = [x, y, z].map(|c| spread(c as u32 ^ 1 << 31));
    x | y << 1 | z << 2
}

/// Inverse of [`rank_of`].
pub(crate) fn position_of(rank: u128) -> ChunkPos {
    let [x, y, z] = [0, 1, 2].map(|axis| (gather(rank >> axis) ^ 1 << 31) as i32);
    ChunkPos::new(x, y, z)
}

/// Moves bit `n` to bit `3 * n`.
fn spread(word: u32) -> u128 {
    u128::from(spread_half(word >> 16)) << 48 | u128::from(spread_half(word & 0xffff))
}

fn spread_half(half: u32) -> u64 {
    let mut bits = u64::from(half);
    bits = (bits | bits << 16) & 0x001f_0000_ff00_00ff;
    bits = (bits | bits << 8) & 0x100f_00f0_0f00_f00f;
    bits = (bits | bits << 4) & 0x10c3_0c30_c30c_30c3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}

/// Moves bit `3 * n` to bit `n`.
fn gather(rank: u128) -> u32 {
    (0..32).fold(0, |word, bit| word | ((rank >> (3 * bit) & 1) as u32) << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [i32; 9] = [i32::MIN, i32::MIN + 1, -70_000, -1, 0, 1, 65_535, 1 << 26, i32::MAX];

    /// The twin of `spread`: bit by bit.
    #[test]
    fn bits_are_spread_over_every_third() {
        for word in EDGES.map(|it| it as u32).into_iter().chain((0..32).map(|bit| 1 << bit)) {
            let slow = (0..32).fold(0, |all, bit| all | u128::from(word >> bit & 1) << (3 * bit));
            assert_eq!(spread(word), slow, "{word:x}");
            assert_eq!(gather(spread(word)), word);
        }
    }

    #[test]
    fn ranks_are_invertible_and_keep_the_order_of_halves() {
        for x in EDGES {
            for (y, z) in [(0, -1), (i32::MAX, i32::MIN), (-3, 7)] {
                let position = ChunkPos::new(x, y, z);
                assert_eq!(position_of(rank_of(position)), position);
                let (key, index) = GroupKey::of(NodePos::new(3, position));
                assert_eq!(key.chunk(index), NodePos::new(3, position));
                assert!(key.is_valid());
                assert!(!GroupKey { rank: key.rank | 1 << 96, ..key }.is_valid());
                assert!(!GroupKey { rank: key.rank ^ 1 << 92, ..key }.is_valid(), "31 bits");
                assert!(!GroupKey { level: 25, ..key }.is_valid());
            }
        }
        let rank = |x, y, z| rank_of(ChunkPos::new(x, y, z));
        assert!(rank(-1, -1, -1) < rank(0, 0, 0) && rank(1, 1, 1) < rank(0, 0, 2));
    }

    #[test]
    fn coarse_groups_come_first() {
        let key = |level, x| GroupKey::of(NodePos::new(level, ChunkPos::new(x, 0, 0))).0;
        let mut keys = [key(0, 5), key(2, 9), key(0, -4), key(2, -9)];
        keys.sort();
        assert_eq!(keys, [key(2, -9), key(2, 9), key(0, -4), key(0, 5)]);
    }
}
