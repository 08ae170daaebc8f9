use std::collections::BTreeMap;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelBox, VoxelPos};

/// All chunks of a source that are not all air. A plain twin of `drystone_world::World`, which
/// depends on this crate with other features.
pub(crate) struct World {
    name: String,
    materials: MaterialTable,
    chunks: BTreeMap<ChunkPos, Chunk>,
}

impl World {
    pub(crate) fn new(name: &str, materials: MaterialTable) -> Self {
        Self { name: name.into(), materials, chunks: BTreeMap::new() }
    }

    /// Reads every chunk of a source.
    pub(crate) fn load(source: &dyn Source) -> Result<Self, SourceError> {
        let mut world = Self::new(source.name(), source.materials().clone());
        for position in source.chunk_positions() {
            let chunk = source.chunk(position)?;
            if !chunk.is_empty() {
                world.chunks.insert(position, chunk);
            }
        }
        Ok(world)
    }

    pub(crate) fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = ChunkPos> {
        self.chunks.keys().copied()
    }

    pub(crate) fn get(&self, voxel: VoxelPos) -> Material {
        let (position, local) = voxel.split(Chunk::SIDE);
        self.chunks.get(&position).map_or(Material::AIR, |chunk| chunk.get(local))
    }

    /// Sets a voxel of air. Does nothing if the material is air.
    pub(crate) fn set(&mut self, voxel: VoxelPos, material: Material) {
        if material.is_air() {
            return;
        }
        let (position, local) = voxel.split(Chunk::SIDE);
        let chunk = self.chunks.entry(position);
        chunk.or_insert_with(|| Chunk::new(Chunk::SIDE, Material::AIR)).set(local, material);
    }

    pub(crate) fn solid_count(&self) -> u64 {
        self.chunks.values().map(|chunk| u64::from(chunk.solid_count())).sum()
    }

    /// Iterates over all voxels that are not air.
    pub(crate) fn voxels(&self) -> impl Iterator<Item = (VoxelPos, Material)> {
        self.chunks.iter().flat_map(|(position, chunk)| {
            let origin = position.origin(Chunk::SIDE);
            chunk.iter_solid().map(move |(local, material)| {
                let [x, y, z] = [local.x, local.y, local.z].map(i32::from);
                (VoxelPos::new(origin.x + x, origin.y + y, origin.z + z), material)
            })
        })
    }

    pub(crate) fn bounds(&self) -> Option<VoxelBox> {
        self.voxels().map(|(at, _)| VoxelBox::of(at)).reduce(VoxelBox::union)
    }
}

impl Source for World {
    fn name(&self) -> &str {
        &self.name
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.chunks.keys().copied().collect()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        Ok(self.chunks.get(&position).map_or_else(air, Clone::clone))
    }
}

/// Returns the name of a Minecraft block's material without the state that gives it a shape.
pub(crate) fn without_state(name: &str) -> String {
    let words: Vec<_> = name.split(' ').filter(|word| !word.contains('=')).collect();
    words.join(" ")
}
