use drystone_mesh::{Face, QuadBuffer};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, Material, Merging, MesherOptions, PaddedChunk, mesh_unit,
};

use crate::scenes::{boxes, random, table};

/// Returns the distance of each quad towards a camera that sees this face direction.
fn nearness(quads: &QuadBuffer, face: Face) -> Vec<i32> {
    let quads = quads.quads().iter().filter(|quad| quad.face() == Some(face));
    quads
        .map(|quad| {
            let layer = quad.position()[face.axis()] as i32;
            if face.is_positive() { layer } else { -layer }
        })
        .collect()
}

fn check(mesh: &ChunkMesh) {
    for buffer in [&mesh.opaque, &mesh.translucent] {
        for face in Face::ALL {
            let nearness = nearness(buffer, face);
            assert!(nearness.len() > 1, "{face:?} has too few quads to check their order");
            assert!(nearness.is_sorted(), "{face:?} is not sorted back to front: {nearness:?}");
        }
    }
}

#[test]
fn layers_of_every_face_direction_are_sorted_back_to_front() {
    let table = table(0b1010);
    let chunks: [PaddedChunk; 3] = [random(9, 40, 4, 5), random(64, 10, 4, 6), boxes(33, 30, 4, 7)];
    let mut greedy = GreedyMesher::new();
    let mut mesh = ChunkMesh::new();
    for chunk in &chunks {
        greedy.mesh(chunk, &table, &mut mesh);
        check(&mesh);
        mesh_unit(chunk, &table, &mut mesh);
        check(&mesh);
    }
}

#[test]
fn meshing_replaces_the_old_content_of_the_mesh() {
    let table = table(0b1010);
    let mut greedy = GreedyMesher::new();
    let mut mesh = ChunkMesh::new();
    greedy.mesh(&random(9, 40, 4, 5), &table, &mut mesh);
    assert!(!mesh.opaque.is_empty() && !mesh.translucent.is_empty());
    greedy.mesh(&PaddedChunk::new(), &table, &mut mesh);
    assert!(mesh.is_empty());
    mesh_unit(&random(9, 40, 4, 5), &table, &mut mesh);
    mesh_unit(&PaddedChunk::new(), &table, &mut mesh);
    assert!(mesh.is_empty());
}

/// Every rule of merging, with and without ambient occlusion, translucent materials and a uniform
/// chunk.
#[test]
fn a_mesh_made_into_sinks_equals_a_mesh() {
    let mut uniform = PaddedChunk::new();
    uniform.fill(&Chunk::new(32, Material(3)), |_| None);
    let chunks = [
        random(9, 40, 4, 5),
        random(64, 10, 4, 6),
        boxes(33, 30, 4, 7),
        PaddedChunk::new(),
        uniform,
    ];
    for merging in [Merging::Greedy, Merging::Conforming, Merging::Unit] {
        for ambient_occlusion in [false, true] {
            let mut options = MesherOptions::default().with_merging(merging);
            options.ambient_occlusion = ambient_occlusion;
            let mut greedy = GreedyMesher::with_options(options);
            for chunk in &chunks {
                let mut mesh = ChunkMesh::new();
                greedy.mesh(chunk, &table(0b1010), &mut mesh);
                let (mut opaque, mut translucent) = (QuadBuffer::new(), QuadBuffer::new());
                greedy.mesh_into(chunk, &table(0b1010), &mut opaque, &mut translucent);
                let sinks = [(opaque, &mesh.opaque, false), (translucent, &mesh.translucent, true)];
                for (sink, buffer, is_translucent) in sinks {
                    assert_eq!(sink.counts(), buffer.counts());
                    assert_eq!(sink.quads(), buffer.quads());
                    let materials = sink.quads().iter().map(|quad| Material(quad.material()));
                    let table = table(0b1010);
                    assert!(
                        materials.map(|it| table.is_translucent(it)).all(|it| it == is_translucent)
                    );
                }
            }
        }
    }
}
