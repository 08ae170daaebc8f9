use drystone_voxel::{ChunkMesh, ChunkPos, GreedyMesher, PaddedChunk, ShapeMesher};
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
    let positions: Vec<ChunkPos> = world.positions().collect();
    positions
        .into_par_iter()
        .map_init(|| Mesher::new(meshing), |mesher, position| mesher.mesh(world, position))
        .filter(|chunk| !chunk.mesh.is_empty())
        .collect()
}

/// Meshes one chunk; a missing chunk has no quads.
pub fn mesh_chunk(world: &World, position: ChunkPos) -> ChunkQuads {
    Mesher::new(Meshing::default()).mesh(world, position)
}

/// Returns the number of quads, opaque and translucent.
pub fn quad_count(chunks: &[ChunkQuads]) -> u64 {
    chunks.iter().map(|chunk| chunk.mesh.len() as u64).sum()
}

/// Buffers for meshing on one thread, reused from chunk to chunk.
struct Mesher {
    padded: PaddedChunk,
    mesher: GreedyMesher,
    shapes: ShapeMesher,
    made: ChunkMesh,
}

impl Mesher {
    fn new(meshing: Meshing) -> Self {
        let mesher = GreedyMesher::with_options(meshing.into());
        let (padded, shapes) = (PaddedChunk::new(), ShapeMesher::new());
        Self { padded, mesher, shapes, made: ChunkMesh::new() }
    }

    /// Returns the mesh of a chunk, in an allocation of exact size.
    fn mesh(&mut self, world: &World, position: ChunkPos) -> ChunkQuads {
        self.made.clear();
        if world.chunk(position).is_some() {
            world.pad(position, &mut self.padded);
            let Self { padded, mesher, shapes, made } = self;
            shapes.take(padded, world.materials());
            mesher.mesh(padded, world.materials(), made);
            shapes.add_to(padded, world.materials(), made);
        }
        ChunkQuads { position, mesh: self.made.clone() }
    }
}
