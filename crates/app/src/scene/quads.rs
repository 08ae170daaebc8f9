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

/// Meshes every chunk of `world`, on all cores. Chunks without a visible face are left
/// out; the rest come in the world's order.
pub fn mesh_world(world: &World) -> Vec<ChunkQuads> {
    let positions: Vec<ChunkPos> = world.positions().collect();
    positions
        .into_par_iter()
        .map_init(Scratch::default, |scratch, position| ChunkQuads {
            position,
            mesh: scratch.mesh(world, position).clone(),
        })
        .filter(|chunk| !chunk.mesh.is_empty())
        .collect()
}

/// Meshes one chunk; a chunk that the world does not have gives no quads.
pub fn mesh_chunk(world: &World, position: ChunkPos) -> ChunkQuads {
    ChunkQuads { position, mesh: Scratch::default().mesh(world, position).clone() }
}

/// How many quads there are in all, opaque and see-through.
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
    /// The quads of a chunk, until the next is meshed.
    pub(super) fn mesh(&mut self, world: &World, position: ChunkPos) -> &ChunkMesh {
        self.mesh.clear();
        if world.chunk(position).is_some() {
            world.pad(position, &mut self.padded);
            self.mesher.mesh(&self.padded, world.materials(), &mut self.mesh);
        }
        &self.mesh
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
