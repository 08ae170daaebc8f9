use std::collections::{BTreeMap, BTreeSet};

use drystone_voxel::{ChunkBox, ChunkPos, NodePos};
use twox_hash::XxHash3_64;

/// Set of present chunks: one bit each, in regions of 16³ chunks.
///
/// The index lists chunks without reading them. It also reveals damage: a listed chunk that is
/// missing from the file is lost, not air.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    regions: BTreeMap<RegionPos, Region>,
    chunk_count: u64,
}

/// Position of a region, in units of 16 chunks.
pub(super) type RegionPos = [i32; 3];

type Region = Box<[u64; WORDS]>;

const SIDE_LOG2: u32 = 4;
const WORDS: usize = (1 << (3 * SIDE_LOG2)) / u64::BITS as usize;
/// Length of a stored region, in bytes: its bits and a checksum.
const REGION_BYTES: usize = WORDS * 8 + 8;

/// The region of a chunk, and the index of its bit there.
pub(super) const fn region_of(chunk: ChunkPos) -> (RegionPos, usize) {
    let ChunkPos { x, y, z } = chunk;
    let mask = (1 << SIDE_LOG2) - 1;
    let bit = (x & mask) | (y & mask) << SIDE_LOG2 | (z & mask) << (2 * SIDE_LOG2);
    ([x >> SIDE_LOG2, y >> SIDE_LOG2, z >> SIDE_LOG2], bit as usize)
}

impl Index {
    pub(super) const fn chunk_count(&self) -> u64 {
        self.chunk_count
    }

    pub(super) fn region_count(&self) -> usize {
        self.regions.len()
    }

    pub(super) fn contains(&self, chunk: ChunkPos) -> bool {
        let (region, bit) = region_of(chunk);
        self.regions.get(&region).is_some_and(|bits| bits[bit / 64] >> (bit % 64) & 1 != 0)
    }

    /// Adds a chunk to the index or removes it.
    pub(super) fn set(&mut self, chunk: ChunkPos, is_there: bool) {
        let (region, bit) = region_of(chunk);
        if is_there {
            let bits = self.regions.entry(region).or_insert_with(|| Box::new([0; WORDS]));
            self.chunk_count += u64::from(bits[bit / 64] >> (bit % 64) & 1 == 0);
            bits[bit / 64] |= 1 << (bit % 64);
        } else if let Some(bits) = self.regions.get_mut(&region) {
            self.chunk_count -= bits[bit / 64] >> (bit % 64) & 1;
            bits[bit / 64] &= !(1 << (bit % 64));
            if bits.iter().all(|word| *word == 0) {
                self.regions.remove(&region);
            }
        }
    }

    /// Whether the index has any chunk below `node`.
    ///
    /// # Cost
    /// Above level 4 and without such a chunk: O(regions in the node's X range).
    pub(super) fn has_any(&self, node: NodePos) -> bool {
        let NodePos { level, chunk } = node;
        let Some(up) = u32::from(level).checked_sub(SIDE_LOG2) else {
            return self.has_any_in_region(node);
        };
        let span = |c: i32| {
            let low = i64::from(c) << up;
            let end = low + (1 << up) - 1;
            low.clamp(i32::MIN.into(), i32::MAX.into()) as i32
                ..=end.clamp(i32::MIN.into(), i32::MAX.into()) as i32
        };
        let (x, y, z) = (span(chunk.x), span(chunk.y), span(chunk.z));
        let regions =
            self.regions.range([*x.start(), i32::MIN, i32::MIN]..=[*x.end(), i32::MAX, i32::MAX]);
        regions.into_iter().any(|(at, _)| y.contains(&at[1]) && z.contains(&at[2]))
    }

    /// Whether the index has any chunk below a node that is smaller than a region.
    fn has_any_in_region(&self, node: NodePos) -> bool {
        let side = 1 << node.level;
        let NodePos { chunk: ChunkPos { x, y, z }, .. } = node;
        let scaled = |c: i32| c.checked_mul(side);
        let (Some(x), Some(y), Some(z)) = (scaled(x), scaled(y), scaled(z)) else { return false };
        let (region, first) = region_of(ChunkPos::new(x, y, z));
        let Some(bits) = self.regions.get(&region) else { return false };
        let row = (1_u64 << side) - 1;
        let rows = (0..side as usize).flat_map(|z| (0..side as usize).map(move |y| (y, z)));
        rows.map(|(y, z)| first + (y << SIDE_LOG2) + (z << (2 * SIDE_LOG2)))
            .any(|bit| bits[bit / 64] >> (bit % 64) & row != 0)
    }

    /// Nodes of `level` above at least one present chunk.
    pub(super) fn nodes(&self, level: u8) -> BTreeSet<NodePos> {
        self.iter().map(|chunk| NodePos::from(chunk).ancestor(level)).collect()
    }

    /// Every present chunk, region by region.
    pub(super) fn iter(&self) -> impl Iterator<Item = ChunkPos> + '_ {
        self.regions.iter().flat_map(|(&region, bits)| {
            let set = (0..WORDS * 64).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 != 0);
            set.map(move |bit| chunk_at(region, bit))
        })
    }

    pub(super) fn extent(&self) -> Option<ChunkBox> {
        ChunkBox::around(self.iter())
    }

    /// A region as bytes; `None` if it has no chunk.
    pub(super) fn region_bytes(&self, region: RegionPos) -> Option<Vec<u8>> {
        let bits = self.regions.get(&region)?;
        let mut bytes: Vec<u8> = bits.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(checksum(region, &bytes).to_le_bytes());
        Some(bytes)
    }

    /// Adds a stored region.
    pub(super) fn add_region(
        &mut self,
        region: RegionPos,
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        let (bits, sum) = bytes.split_last_chunk().ok_or("it ends too early")?;
        if bytes.len() != REGION_BYTES || u64::from_le_bytes(*sum) != checksum(region, bits) {
            return Err("its checksum is wrong");
        }
        let mut words = Box::new([0; WORDS]);
        for (word, bytes) in words.iter_mut().zip(bits.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
            self.chunk_count += u64::from(word.count_ones());
        }
        self.regions.insert(region, words);
        Ok(())
    }
}

fn chunk_at([x, y, z]: RegionPos, bit: usize) -> ChunkPos {
    let at = |low: i32, shift: u32| low << SIDE_LOG2 | (bit as i32 >> shift & 15);
    ChunkPos::new(at(x, 0), at(y, SIDE_LOG2), at(z, 2 * SIDE_LOG2))
}

/// Checksum of a region's bits and its position.
fn checksum(region: RegionPos, bits: &[u8]) -> u64 {
    let position = region.map(|c| u64::from(c as u32));
    let seed = position.iter().fold(0, |seed: u64, c| seed.wrapping_mul(0x1_0000_01b3) ^ c);
    XxHash3_64::oneshot_with_seed(seed, bits)
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use super::*;

    #[test]
    fn the_index_matches_a_set_and_regions_are_read_back() {
        let (mut index, mut shadow) = (Index::default(), BTreeSet::new());
        let mut random = Random::new(7);
        for step in 0..4000 {
            let mut c = || random.below(23) - 11;
            let chunk = ChunkPos::new(c(), c(), c());
            let is_there = step % 3 != 0;
            index.set(chunk, is_there);
            if is_there {
                shadow.insert(chunk)
            } else {
                shadow.remove(&chunk)
            };
            assert_eq!(index.contains(chunk), is_there);
        }
        assert_eq!(index.iter().collect::<BTreeSet<_>>(), shadow);
        assert_eq!(index.chunk_count(), shadow.len() as u64);
        assert_eq!(index.extent(), ChunkBox::around(shadow.iter().copied()));
        let mut read = Index::default();
        for &region in index.regions.keys() {
            let bytes = index.region_bytes(region).unwrap();
            read.add_region(region, &bytes).unwrap();
            let mut wrong = bytes.clone();
            wrong[9] ^= 4;
            assert!(Index::default().add_region(region, &wrong).is_err());
            assert!(Index::default().add_region([99; 3], &bytes).is_err());
            assert!(Index::default().add_region(region, &bytes[1..]).is_err());
        }
        assert_eq!(read.iter().collect::<BTreeSet<_>>(), shadow);
        assert_eq!(read.chunk_count(), index.chunk_count());
        shadow.iter().for_each(|&chunk| index.set(chunk, false));
        assert_eq!((index.chunk_count(), index.region_count()), (0, 0));
    }

    #[test]
    fn nodes_above_chunks_are_found() {
        let (mut index, mut random) = (Index::default(), Random::new(3));
        let mut chunks = Vec::new();
        for _ in 0..40 {
            let mut c = || random.below(97) - 48;
            chunks.push(ChunkPos::new(c(), c(), c()));
        }
        chunks.iter().for_each(|&chunk| index.set(chunk, true));
        for level in 0..=NodePos::MAX_LEVEL {
            let covered: BTreeSet<NodePos> =
                chunks.iter().map(|&chunk| NodePos::from(chunk).ancestor(level)).collect();
            assert_eq!(index.nodes(level), covered);
            for &node in &covered {
                for (x, y, z) in [(0, 0, 0), (1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 1, -1)] {
                    let Some(near) = node.offset([x, y, z]) else { continue };
                    assert_eq!(index.has_any(near), covered.contains(&near), "{near:?}");
                }
            }
        }
        let far = NodePos { level: 2, chunk: ChunkPos::new(i32::MAX, 0, i32::MIN) };
        assert!(!index.has_any(far) && !index.has_any(NodePos { level: 24, ..far }));
    }

    #[test]
    fn extreme_coordinates_work() {
        let mut index = Index::default();
        for c in [i32::MIN, -1, 0, i32::MAX] {
            let chunk = ChunkPos::new(c, -1, c);
            index.set(chunk, true);
            assert!(index.contains(chunk) && index.iter().any(|it| it == chunk));
        }
    }
}
