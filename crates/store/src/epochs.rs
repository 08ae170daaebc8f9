use drystone_voxel::{ChunkPos, NodePos};

/// Change counters for nodes. Compare them before and after making a node to detect changes.
///
/// Nodes share a few counters by a hash of their positions, so there is no search and no growth. A
/// collision makes a node needlessly again now and then.
pub(crate) struct Epochs {
    counts: Box<[u64; COUNTERS]>,
}

const COUNTERS_LOG2: u32 = 10;
const COUNTERS: usize = 1 << COUNTERS_LOG2;

impl Default for Epochs {
    fn default() -> Self {
        Self { counts: Box::new([0; COUNTERS]) }
    }
}

impl Epochs {
    /// Returns the epoch of `node`.
    pub(crate) fn of(&self, node: NodePos) -> u64 {
        self.counts[counter_of(node)]
    }

    /// Begins a new epoch of a node.
    pub(crate) fn begin(&mut self, node: NodePos) {
        self.counts[counter_of(node)] += 1;
    }

    /// Begins a new epoch of the chunks and all of their ancestors.
    pub(crate) fn begin_above(&mut self, chunks: impl IntoIterator<Item = ChunkPos>) {
        for chunk in chunks {
            let mut node = NodePos::from(chunk);
            self.begin(node);
            while node.level < NodePos::MAX_LEVEL {
                node = node.parent();
                self.begin(node);
            }
        }
    }
}

const fn counter_of(node: NodePos) -> usize {
    // Odd numbers without a pattern spread neighbours over the counters.
    const FACTORS: [u64; 4] = [
        0x9e37_79b9_7f4a_7c15,
        0xc2b2_ae3d_27d4_eb4f,
        0x1656_67b1_9e37_79f9,
        0x27d4_eb2f_1656_67c5,
    ];
    let ChunkPos { x, y, z } = node.chunk;
    let sum = (x as u64)
        .wrapping_mul(FACTORS[0])
        .wrapping_add((y as u64).wrapping_mul(FACTORS[1]))
        .wrapping_add((z as u64).wrapping_mul(FACTORS[2]))
        .wrapping_add((node.level as u64).wrapping_mul(FACTORS[3]));
    ((sum ^ sum >> 32).wrapping_mul(FACTORS[0]) >> (u64::BITS - COUNTERS_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_new_epoch_begins_for_all_ancestors_and_few_other_nodes() {
        let mut epochs = Epochs::default();
        let chunk = ChunkPos::new(-70, 3, 1_000);
        let nodes = |chunk: ChunkPos| {
            (0..=NodePos::MAX_LEVEL).map(move |l| NodePos::from(chunk).ancestor(l))
        };
        let before: Vec<u64> = nodes(chunk).map(|node| epochs.of(node)).collect();
        epochs.begin_above([chunk]);
        assert!(nodes(chunk).zip(&before).all(|(node, before)| epochs.of(node) > *before));
        // Among some thousand other nodes.
        let others: Vec<NodePos> =
            (0..4_096).map(|n| ChunkPos::new(n % 16, n / 16 % 16, n / 256).into()).collect();
        let changed = others.iter().filter(|node| epochs.of(**node) > 0).count();
        assert!(changed < 4_096 / 20, "{changed}");
        let used: HashSet<usize> = others.iter().map(|node| counter_of(*node)).collect();
        assert!(used.len() > COUNTERS / 2, "{}", used.len());
    }
}
