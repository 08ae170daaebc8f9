use drystone_mesh::FaceSet;
use drystone_voxel::{ChunkMesh, NodePos};
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::lod::config::Meshing;
use crate::lod::data::LodData;
use crate::lod::node_mesh::{NodeMesh, NodeMesher};

/// Number of meshes up to which the calling thread makes them. More are made on all cores.
const MAX_SERIAL: usize = 4;

/// Makes the meshes of edited nodes that are shown at once, and stores the bodies of those nodes for
/// their next edit.
pub(super) struct EditMesher {
    meshing: Meshing,
    mesher: NodeMesher,
    pub(super) bodies: EditedBodies,
    /// Number of the last edit that the tree has shown.
    last_edit: u64,
}

/// A node whose mesh has to be rebuilt.
pub(super) struct MeshJob {
    pub(super) node: NodePos,
    pub(super) skirts: FaceSet,
    /// Previous body, if that is stored, and the bounds of the voxels that may have changed since.
    pub(super) old: Option<(ChunkMesh, [[i32; 3]; 2])>,
}

impl EditMesher {
    /// Creates a mesher that stores at most `limit_bytes` of bodies.
    pub(super) fn new(limit_bytes: usize, meshing: Meshing) -> Self {
        let bodies = EditedBodies::new(limit_bytes);
        Self { meshing, mesher: NodeMesher::new(meshing), bodies, last_edit: 0 }
    }

    /// Makes all meshes with other options from now on. Stored bodies are outdated.
    pub(super) fn set_meshing(&mut self, meshing: Meshing) {
        self.meshing = meshing;
        self.mesher.set_meshing(meshing);
        self.bodies.clear();
    }

    /// Begins an edit. Stored bodies are outdated if another tree has edited the data since.
    pub(super) fn begin_edit(&mut self, number: u64) {
        if number != self.last_edit + 1 {
            self.bodies.clear();
        }
        self.last_edit = number;
    }

    pub(super) fn meshes(
        &mut self,
        data: &LodData,
        jobs: Vec<MeshJob>,
    ) -> Vec<(NodePos, NodeMesh)> {
        let mesh = |mesher: &mut NodeMesher, MeshJob { node, skirts, old }: MeshJob| {
            let old = old.as_ref().map(|(body, voxels)| (body, *voxels));
            (node, mesher.remesh(data, node, skirts, old))
        };
        if jobs.len() <= MAX_SERIAL {
            return jobs.into_iter().map(|job| mesh(&mut self.mesher, job)).collect();
        }
        let meshing = self.meshing;
        jobs.into_par_iter().map_init(|| NodeMesher::new(meshing), mesh).collect()
    }
}

/// Bodies of recently edited nodes as they are shown. With them, the next edit of a node rebuilds
/// only the changed layers.
///
/// Memory is limited by two generations, as in [`ChunkCache`](drystone_store::ChunkCache). New
/// bodies are young. When the young ones use half of the limit, the old ones are dropped and the
/// young ones become old.
pub(super) struct EditedBodies {
    limit_bytes: usize,
    young: HashMap<NodePos, ChunkMesh>,
    young_bytes: usize,
    old: HashMap<NodePos, ChunkMesh>,
}

impl EditedBodies {
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

    #[cfg(test)]
    pub(super) fn contains(&self, node: NodePos) -> bool {
        self.young.contains_key(&node) || self.old.contains_key(&node)
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
        let mut bodies = EditedBodies::new(LIMIT_BYTES);
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
