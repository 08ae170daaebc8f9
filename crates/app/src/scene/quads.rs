use std::mem;

use drystone_voxel::{ChunkMesh, ChunkPos, GreedyMesher, PaddedChunk, VoxelPos};
use drystone_world::World;
use rayon::prelude::*;

/// The quads of one chunk.
#[derive(Clone, Debug)]
pub struct ChunkQuads {
    /// Which chunk.
    pub position: ChunkPos,
    /// Its quads.
    pub mesh: ChunkMesh,
}

/// How chunks are made into quads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meshing {
    /// Whether quads carry how far corners of faces are darkened by what is near them, to be
    /// shown where [`Atmosphere::ambient_occlusion`](drystone_render::Atmosphere::ambient_occlusion) says how
    /// dark that is. Takes more quads, since only faces that shade alike are merged. The
    /// instanced renderer refuses such meshes: its cubes have no room for shades. Default:
    /// not.
    pub occlusion: bool,
}

/// Meshes every chunk of `world` as [`Meshing::default`] says, on all cores. Chunks without
/// a visible face are left out; the rest come in the world's order.
pub fn mesh_world(world: &World) -> Vec<ChunkQuads> {
    mesh_world_with(world, Meshing::default())
}

/// The same in any other way.
pub fn mesh_world_with(world: &World, meshing: Meshing) -> Vec<ChunkQuads> {
    mesh_world_with_progress(world, meshing, || {})
}

/// The same; `meshed` is called when a chunk is done, by whichever thread has done it.
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

/// Meshes one chunk; a chunk that the world does not have gives no quads.
pub fn mesh_chunk(world: &World, position: ChunkPos) -> ChunkQuads {
    ChunkQuads { position, mesh: Scratch::default().mesh(world, position).clone() }
}

/// How many quads there are in all, opaque and translucent.
pub fn quad_count(chunks: &[ChunkQuads]) -> u64 {
    chunks.iter().map(|chunk| chunk.mesh.len() as u64).sum()
}

/// The chunks whose mesh depends on `voxel`: its own, and where it lies on a border, those
/// beyond (edges and corners included).
pub(super) fn chunks_that_see(voxel: VoxelPos, side: u32) -> Vec<ChunkPos> {
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

/// What one thread meshes with, kept warm from chunk to chunk.
#[derive(Default)]
pub(super) struct Scratch {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    mesh: ChunkMesh,
}

impl Scratch {
    /// Scratch to mesh so.
    pub(super) fn new(meshing: Meshing) -> Self {
        let mesher = GreedyMesher::new().ambient_occlusion(meshing.occlusion);
        Self { mesher, ..Self::default() }
    }

    /// The quads of a chunk, until the next is meshed.
    pub(super) fn mesh(&mut self, world: &World, position: ChunkPos) -> &ChunkMesh {
        let mut mesh = mem::take(&mut self.mesh);
        self.mesh_into(world, position, &mut mesh);
        self.mesh = mesh;
        &self.mesh
    }

    /// Replaces what is in `mesh` by the quads of a chunk.
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
    fn a_corner_voxel_is_seen_by_eight_chunks() {
        assert_eq!(chunks_that_see(VoxelPos::new(5, 5, 5), 32).len(), 1);
        assert_eq!(chunks_that_see(VoxelPos::new(0, 5, 5), 32).len(), 2);
        assert_eq!(chunks_that_see(VoxelPos::new(-1, 31, 64), 32).len(), 8);
        assert_eq!(chunks_that_see(VoxelPos::new(0, 0, 0), 1).len(), 27);
    }
}
