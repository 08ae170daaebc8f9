use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos, NodePos};
use hashbrown::HashMap;

use crate::epochs::Epochs;
use crate::recent::Recent;

/// Recently used chunks, within a limit in bytes. Chunks in use stay, and unused ones leave.
pub struct ChunkCache {
    recent: Recent<NodePos, Chunk>,
    epochs: Epochs,
    /// Nodes that could not be read, or only without some of their parts.
    broken: HashMap<NodePos, Broken>,
}

/// A node that could not be read completely.
struct Broken {
    /// The chunk without the missing parts. `None` if the node itself could not be read.
    chunk: Option<Chunk>,
    /// Time at which the node is read again.
    until: Duration,
}

/// Limit for the number of stored damaged nodes. Beyond it, nodes are read again earlier.
const MAX_BROKEN: usize = 4_096;

impl ChunkCache {
    /// Creates an empty cache.
    pub fn new(limit_bytes: usize) -> Self {
        Self { recent: Recent::new(limit_bytes), epochs: Epochs::default(), broken: HashMap::new() }
    }

    /// Sets the limit in bytes. Beyond it, some chunks are dropped at once.
    pub fn set_limit_bytes(&mut self, limit_bytes: usize) {
        self.recent.set_limit_bytes(limit_bytes);
    }

    /// Returns a node that could not be read completely, until its next attempt is due. The outer
    /// `None` means that no failure is stored.
    pub fn broken(&self, node: NodePos, now: Duration) -> Option<Option<Chunk>> {
        let broken = self.broken.get(&node).filter(|it| now < it.until)?;
        Some(broken.chunk.clone())
    }

    /// Stores a node that could not be read completely until the time `until`. Ignored if the
    /// node's epoch has changed since it was read.
    pub fn insert_broken(
        &mut self,
        node: NodePos,
        chunk: Option<Chunk>,
        epoch: u64,
        until: Duration,
    ) {
        if epoch != self.epoch(node) {
            return;
        }
        if self.broken.len() >= MAX_BROKEN {
            self.broken.clear();
        }
        self.broken.insert(node, Broken { chunk, until });
    }

    /// Drops all failures, so that the nodes are read again.
    pub fn forget_broken(&mut self) {
        self.broken.clear();
    }

    /// Returns the epoch of a node. It changes whenever the node's content changes.
    pub fn epoch(&self, node: NodePos) -> u64 {
        self.epochs.of(node)
    }

    /// Begins a new epoch for changed chunks and their ancestors. Chunks of these nodes that are
    /// being made are then not stored.
    pub fn begin_epoch(&mut self, chunks: impl IntoIterator<Item = ChunkPos>) {
        self.epochs.begin_above(chunks);
        self.forget_broken();
    }

    /// Stores a chunk that was begun in `epoch`. Returns false, and stores nothing, if the node's
    /// epoch has changed since.
    pub fn insert_made(&mut self, node: NodePos, chunk: &Chunk, epoch: u64) -> bool {
        let is_new = epoch == self.epoch(node);
        if is_new {
            self.insert(node, chunk.clone());
        }
        is_new
    }

    /// Returns a chunk that shares its voxels with the stored one.
    pub fn get(&mut self, node: NodePos) -> Option<Chunk> {
        self.recent.get(node)
    }

    /// Stores a chunk, or replaces the stored one. A chunk over half of the limit is not stored.
    pub fn insert(&mut self, node: NodePos, chunk: Chunk) {
        let bytes = entry_bytes(&chunk);
        self.recent.insert(node, chunk, bytes);
    }

    /// Removes the chunk of a node.
    pub fn remove(&mut self, node: NodePos) {
        self.recent.remove(node);
    }

    /// Size of the stored chunks, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.recent.size_bytes()
    }
}

fn entry_bytes(chunk: &Chunk) -> usize {
    // The hash table is up to half empty.
    chunk.size_bytes() + 2 * size_of::<(NodePos, Chunk)>()
}

#[cfg(test)]
mod tests {
    use drystone_voxel::{ChunkPos, LocalPos, Material};

    use super::*;

    fn node(x: i32) -> NodePos {
        NodePos::from(ChunkPos::new(x, 0, 0))
    }

    fn chunk(seed: i32) -> Chunk {
        let dice =
            |at: LocalPos| i32::from(at.x) * 7 + i32::from(at.y) * 31 + i32::from(at.z) + seed;
        Chunk::from_fn(32, |at| Material((dice(at) % 5) as u16))
    }

    #[test]
    fn recently_used_chunks_stay_within_the_limit() {
        let limit = 40 * entry_bytes(&chunk(0));
        let mut cache = ChunkCache::new(limit);
        for i in 0..1_000 {
            cache.insert(node(i), chunk(i));
            assert!(cache.size_bytes() <= limit);
            assert_eq!(cache.get(node(0)), Some(chunk(0)), "after {i}");
        }
        assert_eq!(cache.get(node(999)), Some(chunk(999)));
        assert_eq!(cache.get(node(500)), None);
    }

    #[test]
    fn a_chunk_made_before_a_new_epoch_is_not_stored() {
        let mut cache = ChunkCache::new(1 << 20);
        let epoch = cache.epoch(node(1));
        assert!(cache.insert_made(node(1), &chunk(1), epoch));
        cache.begin_epoch([node(0).chunk]);
        assert!(cache.insert_made(node(1), &chunk(1), epoch));
        cache.begin_epoch([node(1).chunk]);
        assert!(!cache.insert_made(node(1), &chunk(2), epoch));
        assert_eq!(cache.get(node(1)), Some(chunk(1)));
        let parent = node(1).parent();
        assert_eq!(cache.epoch(parent), 2);
        let epoch = cache.epoch(node(1));
        assert!(cache.insert_made(node(1), &chunk(3), epoch));
        assert_eq!(cache.get(node(1)), Some(chunk(3)));
    }

    #[test]
    fn inserting_a_node_again_replaces_its_chunk() {
        let mut cache = ChunkCache::new(1 << 20);
        for i in 0..50 {
            cache.insert(node(7), chunk(i));
        }
        assert_eq!(cache.get(node(7)), Some(chunk(49)));
        assert!(cache.size_bytes() < 2 * entry_bytes(&chunk(49)));
        // A chunk that does not fit still removes the previous one.
        let mut small = ChunkCache::new(2 * entry_bytes(&Chunk::new(32, Material(1))));
        small.insert(node(7), Chunk::new(32, Material(1)));
        assert_eq!(small.get(node(7)), Some(Chunk::new(32, Material(1))));
        small.insert(node(7), chunk(0));
        assert_eq!((small.get(node(7)), small.size_bytes()), (None, 0));
        // A lower limit drops chunks at once.
        let mut large = ChunkCache::new(usize::MAX);
        (0..50).for_each(|i| large.insert(node(i), chunk(i)));
        large.set_limit_bytes(10 * entry_bytes(&chunk(0)));
        assert!(large.size_bytes() <= 10 * entry_bytes(&chunk(0)));
        large.insert(node(1), chunk(1));
        assert_eq!(large.get(node(1)), Some(chunk(1)));
        let mut none = ChunkCache::new(0);
        none.insert(node(1), chunk(1));
        assert_eq!((none.get(node(1)), none.size_bytes()), (None, 0));
    }
}
