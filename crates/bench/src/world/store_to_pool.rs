//! Stored chunks to quads in a vertex pool, on one thread.

use std::{collections::HashMap, time::Instant};

use drystone_formats::Source;
use drystone_mesh::{Face, Quad, QuadBuffer};
use drystone_pool::{Access, MeshHandle, PoolConfig, VertexPool};
use drystone_voxel::{
    Chunk, ChunkMesh, ChunkPos, GreedyMesher, MaterialTable, PaddedChunk, mesh_unit,
};

use super::input::Input;
use crate::{
    Failure, Figure,
    plain_memory::PlainMemory,
    rounds::{Round, elapsed_ns},
};

/// Quads for which the pool reserves memory before the clock starts, as an engine does.
const RESERVED_QUADS: u64 = 1 << 22;

/// Opens the world, reads and decompresses each chunk once, meshes each chunk with its neighbours,
/// and inserts the quads into a pool. Plain memory stands for that of a GPU. Returns the time per
/// chunk with quads. The number of faces is compared with that of a mesher that makes one quad for
/// each.
pub(super) fn round(input: &Input) -> Round {
    let mut memory = PlainMemory::new(Access::Direct);
    let mut pool = VertexPool::new(PoolConfig::default())?;
    pool.reserve(RESERVED_QUADS, &mut memory)?;
    let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
    let mut mesher = GreedyMesher::new();
    let mut handles = Vec::new();
    let mut meshed = 0_u32;

    let start = Instant::now();
    let world = input.open()?;
    let materials = world.materials();
    let positions = world.chunk_positions();
    let chunks = read(&world, &positions)?;
    for at in positions {
        padded.fill(&chunks[&at], |offset| chunks.get(&at.offset(offset)?));
        mesher.mesh(&padded, materials, &mut mesh);
        meshed += u32::from(!mesh.is_empty());
        for quads in [&mesh.opaque, &mesh.translucent] {
            if !quads.quads().is_empty() {
                handles.push(insert(&mut pool, quads, &mut memory)?);
            }
        }
    }
    let elapsed_ns = elapsed_ns(start);

    let stored = handles.iter().map(|&handle| area_in(&pool, handle, &memory)).sum::<u64>();
    let expected = face_count(&chunks, materials);
    if stored != expected || meshed == 0 {
        return Err(format!("the pool has {stored} faces, not {expected}").into());
    }
    Ok(vec![Figure::new("store-to-pool", "us/chunk", elapsed_ns / 1e3 / f64::from(meshed))])
}

fn read(world: &dyn Source, positions: &[ChunkPos]) -> Result<HashMap<ChunkPos, Chunk>, Failure> {
    let mut chunks = HashMap::with_capacity(positions.len());
    for &at in positions {
        chunks.insert(at, world.chunk(at)?);
    }
    Ok(chunks)
}

fn insert(
    pool: &mut VertexPool<Quad, u32>,
    quads: &QuadBuffer,
    memory: &mut PlainMemory,
) -> Result<MeshHandle, Failure> {
    Ok(pool.insert(quads.quads(), &quads.counts(), 0, memory)?)
}

/// Returns the number of faces that a mesh in the pool covers.
fn area_in(pool: &VertexPool<Quad, u32>, mesh: MeshHandle, memory: &PlainMemory) -> u64 {
    let quads = pool.ranges_of(mesh).flat_map(|range| {
        let count = range.part_counts[..Face::COUNT].iter().sum::<u32>() as usize;
        memory.elements::<Quad>(range.buffer)[range.first as usize..][..count].iter()
    });
    quads.map(|quad| quad.size().iter().map(|&side| u64::from(side)).product::<u64>()).sum()
}

/// Returns the number of visible faces, counted one by one.
fn face_count(chunks: &HashMap<ChunkPos, Chunk>, materials: &MaterialTable) -> u64 {
    let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
    let faces = chunks.iter().map(|(at, chunk)| {
        padded.fill(chunk, |offset| chunks.get(&at.offset(offset)?));
        mesh.clear();
        mesh_unit(&padded, materials, &mut mesh);
        mesh.len() as u64
    });
    faces.sum()
}
