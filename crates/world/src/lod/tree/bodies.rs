use drystone_voxel::{ChunkMesh, NodePos};
use hashbrown::HashMap;

#[cfg(test)]
use super::LodTree;

/// Bodies of recently edited nodes as they are shown. With them, the next edit of a node rebuilds
/// only the changed layers.
///
/// Memory is limited by two generations, as in [`Cache`](crate::lod::Cache). New bodies are young.
/// When the young ones use half of the limit, the old ones are dropped and the young ones become
/// old.
pub(super) struct Bodies {
    limit_bytes: usize,
    young: HashMap<NodePos, ChunkMesh>,
    young_bytes: usize,
    old: HashMap<NodePos, ChunkMesh>,
}

impl Bodies {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, young: HashMap::new(), young_bytes: 0, old: HashMap::new() }
    }

    /// Sets the limit in bytes.
    pub(super) fn set_limit(&mut self, limit_bytes: usize) {
        if limit_bytes < self.limit_bytes {
            self.clear();
        }
        self.limit_bytes = limit_bytes;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.limit_bytes);
    }

    /// Stores the body of a node. The node must not have one here.
    pub(super) fn insert(&mut self, node: NodePos, body: ChunkMesh) {
        let bytes = size_bytes(&body);
        if self.young_bytes + bytes > self.limit_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if bytes <= self.limit_bytes / 2 {
            self.young_bytes += bytes;
            self.young.insert(node, body);
        }
    }

    /// Removes and returns the body of a node, because it changes or becomes outdated.
    pub(super) fn take(&mut self, node: NodePos) -> Option<ChunkMesh> {
        if let Some(body) = self.young.remove(&node) {
            self.young_bytes -= size_bytes(&body);
            return Some(body);
        }
        self.old.remove(&node)
    }
}

#[cfg(test)]
impl LodTree {
    /// Whether the next edit of a node rebuilds only layers of its body.
    pub(in crate::lod) fn has_old_body(&self, node: NodePos) -> bool {
        let Bodies { young, old, .. } = &self.bodies;
        young.contains_key(&node) || old.contains_key(&node)
    }
}

fn size_bytes(body: &ChunkMesh) -> usize {
    // The hash table is up to half empty.
    body.len() * size_of::<drystone_mesh::Quad>() + 2 * size_of::<(NodePos, ChunkMesh)>()
}

#[cfg(test)]
mod tests {
    use drystone_mesh::{Face, Quad, QuadSink};
    use drystone_voxel::ChunkPos;

    use super::*;

    fn node(x: i32) -> NodePos {
        NodePos::from(ChunkPos::new(x, 0, 0))
    }

    fn body(quads: usize) -> ChunkMesh {
        let mut body = ChunkMesh::new();
        (0..quads).for_each(|_| body.opaque.push(Quad::new([0; 3], [1; 2], Face::NegX, 1)));
        body
    }

    #[test]
    fn recently_edited_bodies_stay_within_the_limit() {
        const LIMIT_BYTES: usize = 4 << 20;
        let mut bodies = Bodies::new(LIMIT_BYTES);
        for i in 1..5_000 {
            bodies.insert(node(i), body(1_000));
            let all = bodies.young.values().chain(bodies.old.values());
            assert!(all.map(size_bytes).sum::<usize>() <= LIMIT_BYTES);
            if let Some(kept) = bodies.take(node(0)) {
                assert_eq!(kept.len(), 7);
            } else {
                assert_eq!(i, 1);
            }
            bodies.insert(node(0), body(7));
        }
        assert!(bodies.take(node(4_999)).is_some() && bodies.take(node(4_999)).is_none());
        assert!(bodies.take(node(1)).is_none() && bodies.old.len() > 100);
        // A body above the limit is not stored, and does not displace others for long.
        bodies.insert(node(9_999), body(1 << 20));
        assert!(bodies.take(node(9_999)).is_none());
        bodies.insert(node(0), body(7));
        bodies.set_limit(0);
        bodies.insert(node(1), body(7));
        assert!(bodies.take(node(0)).is_none() && bodies.take(node(1)).is_none());
    }
}
