use std::mem;

use drystone_voxel::{ChunkMesh, ChunkPos, GreedyMesher, PaddedChunk, VoxelPos};
use drystone_world::{Meshing, World};
use rayon::prelude::*;

/// Quads of one chunk.
#[derive(Clone, Debug)]
pub struct ChunkQuads {
    /// Position of the chunk.
    pub position: ChunkPos,
    /// Mesh of the chunk.
    pub mesh: ChunkMesh,
}

/// Meshes every chunk of `world` with [`Meshing::default`], on all cores. Chunks without a visible
/// face are left out; the others have the world's order.
pub fn mesh_world(world: &World) -> Vec<ChunkQuads> {
    mesh_world_with(world, Meshing::default())
}

/// Meshes every chunk of `world` with `meshing`, as [`mesh_world`] does.
pub fn mesh_world_with(world: &World, meshing: Meshing) -> Vec<ChunkQuads> {
    mesh_world_with_progress(world, meshing, || {})
}

/// Meshes every chunk of `world` as [`mesh_world_with`] does, and calls `meshed` after each, from
/// any thread.
pub fn mesh_world_with_progress(
    world: &World,
    meshing: Meshing,
    meshed: impl Fn() + Sync,
) -> Vec<ChunkQuads> {
    let positions: Vec<ChunkPos> = world.positions().collect();
    positions
        .into_par_iter()
        .map_init(
            || Scratch::new(meshing),
            |scratch, position| {
                let mesh = scratch.mesh(world, position).clone();
                meshed();
                ChunkQuads { position, mesh }
            },
        )
        .filter(|chunk| !chunk.mesh.is_empty())
        .collect()
}

/// Meshes one chunk; a missing chunk has no quads.
pub fn mesh_chunk(world: &World, position: ChunkPos) -> ChunkQuads {
    ChunkQuads { position, mesh: Scratch::default().mesh(world, position).clone() }
}

/// Returns the number of quads, opaque and translucent.
pub fn quad_count(chunks: &[ChunkQuads]) -> u64 {
    chunks.iter().map(|chunk| chunk.mesh.len() as u64).sum()
}

/// Returns the chunks whose mesh depends on `voxel`: its own, and all that it borders on, at faces,
/// edges and corners.
pub(super) fn dependent_chunks(voxel: VoxelPos, side: u32) -> Vec<ChunkPos> {
    let mut chunks = Vec::new();
    for offset in 0..27 {
        let step = |digit: i32| offset / digit % 3 - 1;
        let [x, y, z] = [
            voxel.x.saturating_add(step(1)),
            voxel.y.saturating_add(step(3)),
            voxel.z.saturating_add(step(9)),
        ];
        let (chunk, _) = VoxelPos::new(x, y, z).split(side);
        if !chunks.contains(&chunk) {
            chunks.push(chunk);
        }
    }
    chunks
}

/// Buffers for meshing on one thread, reused from chunk to chunk.
#[derive(Default)]
pub(super) struct Scratch {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Scratch {
    /// Creates buffers for `meshing`.
    pub(super) fn new(meshing: Meshing) -> Self {
        Self { mesher: GreedyMesher::with_options(meshing.into()), ..Self::default() }
    }

    /// Returns the mesh of a chunk, valid until the next call.
    pub(super) fn mesh(&mut self, world: &World, position: ChunkPos) -> &ChunkMesh {
        let mut mesh = mem::take(&mut self.mesh);
        self.mesh_into(world, position, &mut mesh);
        self.mesh = mesh;
        &self.mesh
    }

    /// Replaces `mesh` by the mesh of a chunk.
    pub(super) fn mesh_into(&mut self, world: &World, position: ChunkPos, mesh: &mut ChunkMesh) {
        mesh.clear();
        if world.chunk(position).is_some() {
            world.pad(position, &mut self.padded);
            self.mesher.mesh(&self.padded, world.materials(), mesh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_chunks_depend_on_a_corner_voxel() {
        assert_eq!(dependent_chunks(VoxelPos::new(5, 5, 5), 32).len(), 1);
        assert_eq!(dependent_chunks(VoxelPos::new(0, 5, 5), 32).len(), 2);
        assert_eq!(dependent_chunks(VoxelPos::new(-1, 31, 64), 32).len(), 8);
        assert_eq!(dependent_chunks(VoxelPos::new(0, 0, 0), 1).len(), 27);
    }
}
