use std::collections::BTreeMap;

use drystone_mesh::quads_to_triangles;
use drystone_voxel::{ChunkMesh, GreedyMesher, MaterialTable, Merging, MesherOptions};

use crate::scenes::{boxes, random};

/// Every edge of a triangle is also an edge of another triangle, in the other direction.
#[test]
fn triangles_of_solids_are_watertight() {
    let options = MesherOptions::default().with_merging(Merging::Conforming);
    let mut mesher = GreedyMesher::with_options(options);
    let mut mesh = ChunkMesh::new();
    for (side, seed) in [(3, 1), (8, 2), (16, 3), (32, 4)] {
        for chunk in [random(side, 40, 1, seed), boxes(side, 9, 1, seed)] {
            // Without a halo, every solid is closed.
            let mut bare = drystone_voxel::PaddedChunk::new();
            let inner = drystone_voxel::Chunk::from_fn(side, |at| {
                chunk.get([at.x, at.y, at.z].map(|c| u32::from(c) + 1))
            });
            bare.fill(&inner, |_| None);
            mesher.mesh(&bare, &MaterialTable::new(), &mut mesh);
            let quads = mesh.opaque.quads().iter().map(|&quad| (quad, [0; 4]));
            let triangles = quads_to_triangles(quads);
            assert!(!triangles.indices.is_empty());
            let at = |index: u32| triangles.positions[index as usize].map(|c| c as i32);
            let mut edges = BTreeMap::new();
            for corners in triangles.indices.chunks(3) {
                for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                    let (from, to) = (at(corners[from]), at(corners[to]));
                    let (edge, step) = if from < to { ((from, to), 1) } else { ((to, from), -1) };
                    *edges.entry(edge).or_insert(0) += step;
                }
            }
            let open = edges.iter().find(|(_, balance)| **balance != 0);
            assert_eq!(open, None, "side {side}, seed {seed}: an edge is open");
        }
    }
}
