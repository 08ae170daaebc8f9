//! Real chunks: greedy quads, rasterised back, are the visible faces.

use std::collections::HashMap;

use drystone_formats::VoxFile;
use drystone_mesh::{Face, Quad};
use drystone_voxel::{ChunkMesh, GreedyMesher, PaddedChunk, mesh_unit};
use drystone_world::World;

use crate::program::data_or_skip;

/// Returns each unit face that the mesh covers, with its material and the number of quads that
/// cover it.
fn faces(mesh: &ChunkMesh) -> HashMap<(bool, Face, [u32; 3], u16), u32> {
    let mut faces = HashMap::new();
    for (quad, translucent) in mesh.iter() {
        for (face, position) in unit_faces(quad) {
            *faces.entry((translucent, face, position, quad.material())).or_insert(0) += 1;
        }
    }
    faces
}

fn unit_faces(quad: Quad) -> impl Iterator<Item = (Face, [u32; 3])> {
    let face = quad.face().unwrap();
    let ([u, v], [width, height]) = (face.span_axes(), quad.size());
    (0..width * height).map(move |n| {
        let mut position = quad.position();
        position[u] += n % width;
        position[v] += n / width;
        (face, position)
    })
}

/// Splits the voxels into chunks of another side.
fn cut(world: &World, side: u32) -> World {
    let mut cut = World::with_side(world.name(), world.materials().clone(), side);
    for (position, chunk) in world.iter() {
        let origin = position.origin(world.side());
        for (local, material) in chunk.iter_solid() {
            let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
            let voxel = drystone_voxel::VoxelPos::new(origin.x + x, origin.y + y, origin.z + z);
            cut.set(voxel, material);
        }
    }
    cut
}

#[test]
fn greedy_quads_of_a_real_model_cover_its_visible_faces_at_every_chunk_size() {
    let test = "greedy_quads_of_a_real_model_cover_its_visible_faces_at_every_chunk_size";
    let Some(path) = data_or_skip(test, "teapot.vox") else { return };
    let model = World::load(&VoxFile::open(&path).unwrap()).unwrap();
    let mut mesher = GreedyMesher::new();
    let mut padded = PaddedChunk::new();
    let (mut greedy, mut unit) = (ChunkMesh::new(), ChunkMesh::new());
    let mut whole = None;
    for side in 1..=32 {
        let world = cut(&model, side);
        assert_eq!(world.solid_count(), model.solid_count());
        let mut face_count = 0;
        for position in world.positions() {
            world.pad(position, &mut padded);
            mesher.mesh(&padded, world.materials(), &mut greedy);
            mesh_unit(&padded, world.materials(), &mut unit);
            assert_eq!(faces(&greedy), faces(&unit), "side {side}, {position:?}");
            assert!(faces(&unit).values().all(|&times| times == 1));
            face_count += unit.len();
        }
        // The number of faces does not depend on the chunk size: none appears between chunks.
        assert_eq!(*whole.get_or_insert(face_count), face_count, "side {side}");
    }
}
