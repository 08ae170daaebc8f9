use std::sync::Arc;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use crate::{ChunkBox, NodePos, Source, WorldError};

mod carve;
mod coarse;
mod cover;
mod fill;
mod grid;
mod hash;
mod land;
mod lattice;
mod palette;
mod recent;
mod terrain;
#[cfg(test)]
mod tests;
mod tree;

use grid::Grid;
use land::Land;
use palette::Palette;
use recent::Recent;
use terrain::Terrain;

/// What world to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorConfig {
    /// The same seed gives the same world. Default 3.
    pub seed: u64,
    /// Chunks along X, Y and Z, from the chunk at the origin up. A side of 0 is an empty
    /// world; at most [`GeneratedWorld::MAX_SIDE`] a side.
    /// [`World::load`](crate::World::load) takes
    /// [`World::MAX_CHUNKS`](crate::World::MAX_CHUNKS) in all, a streamed world any number. Default 12 × 4 × 12.
    pub size_chunks: [u32; 3],
    /// Voxels from the deepest lake to above the highest peak, 16 to 1024. Hills grow in
    /// width with it. Default 128, which four chunks of height hold.
    pub relief_voxels: u32,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self { seed: 3, size_chunks: [12, 4, 12], relief_voxels: 128 }
    }
}

/// A world made of noise: hills, mountains with snow, lakes, cliffs that overhang, caves,
/// forests.
///
/// ```text
///  x, z ──noise──► ground height, steepness, wetness ─┐
///                                                     ├─► chunk ─► trees ─► flowers
///  x, y, z ──noise, every 4th voxel──► cliffs, caves ─┘
/// ```
/// A chunk follows from seed, relief and position alone: its size says only where the world
/// ends, and trees that reach over borders are the same seen from either side. Every 2²⁰ voxels
/// from the origin, the ground is mirrored, so that it is as detailed everywhere.
///
/// # Cost
/// About 1 ms a chunk on one core, twice that for the first of a stack of chunks of voxels of
/// 2 or 4 units, next to nothing for one of air above another. Ground and trees of the last
/// 256 squares of land are kept for the chunks above and below each other: 6 MB at most.
pub struct GeneratedWorld {
    config: GeneratorConfig,
    name: String,
    materials: MaterialTable,
    palette: Palette,
    terrain: Terrain,
    lands: Recent<Land>,
}

impl GeneratedWorld {
    /// The most chunks a side: what lies beyond has no voxel numbers.
    pub const MAX_SIDE: u32 = 1 << 25;

    /// A world that is generated as it is asked for.
    ///
    /// # Errors
    /// [`WorldError::TooLarge`] for a side of more than [`MAX_SIDE`](Self::MAX_SIDE)
    /// chunks, or a relief out of bounds.
    pub fn new(config: GeneratorConfig) -> Result<Self, WorldError> {
        let what = |part: &str| format!("generated world: {part}");
        if let Some(&found) = config.size_chunks.iter().find(|&&side| side > Self::MAX_SIDE) {
            return Err(WorldError::TooLarge {
                what: what("size"),
                found: found.into(),
                limit: Self::MAX_SIDE.into(),
                unit: "chunks a side",
                advice: "take fewer chunks a side",
            });
        }
        let relief = config.relief_voxels.clamp(MIN_RELIEF, MAX_RELIEF);
        if relief != config.relief_voxels {
            return Err(WorldError::TooLarge {
                what: what("relief"),
                found: config.relief_voxels.into(),
                limit: MAX_RELIEF.into(),
                unit: "voxels",
                advice: "take a relief of 16 to 1024 voxels",
            });
        }
        let mut materials = MaterialTable::new();
        let palette = Palette::new(&mut materials);
        let terrain = Terrain::new(config.seed, relief);
        let name = format!("generated world, seed {}", config.seed);
        Ok(Self { config, name, materials, palette, terrain, lands: Recent::new(LAND_COUNT) })
    }

    /// Whether a side is so long that the land along it is mirrored.
    fn is_mirrored(&self) -> bool {
        let [x, _, z] = self.config.size_chunks;
        i64::from(x.max(z)) * i64::from(grid::SIDE) > grid::MIRROR
    }

    /// What was asked for.
    pub fn config(&self) -> &GeneratorConfig {
        &self.config
    }

    /// Whether a node lies in the world, wholly or in part.
    fn reaches(&self, node: NodePos) -> bool {
        let ChunkPos { x, y, z } = node.chunk;
        [x, y, z]
            .into_iter()
            .zip(self.config.size_chunks)
            .all(|(c, side)| c >= 0 && i64::from(c) << node.level < i64::from(side))
    }

    /// The land that the node lies on, shared by all nodes above and below.
    fn land(&self, node: NodePos) -> Arc<Land> {
        let ChunkPos { x, z, .. } = node.chunk;
        let make = || Land::new(&self.terrain, &self.palette, Grid::new(node));
        self.lands.get_or((node.level, x, z), make)
    }

    /// Whether a node lies where there is neither ground nor anything on it.
    fn is_sky(&self, node: NodePos) -> bool {
        !self.reaches(node) || Grid::new(node).height(0) as f32 > self.terrain.ceiling()
    }
}

/// Lands that are kept, of about 24 KB each.
const LAND_COUNT: usize = 256;
const MIN_RELIEF: u32 = 16;
const MAX_RELIEF: u32 = 1024;

impl Source for GeneratedWorld {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        // Another where other chunks are made of the same seed.
        let version = if self.is_mirrored() { 2 } else { 1 };
        let GeneratorConfig { seed, size_chunks: [x, y, z], relief_voxels } = &self.config;
        format!(
            "generated world {version}, seed {seed}, {x}x{y}x{z} chunks, relief {relief_voxels} \
             voxels"
        )
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let [nx, ny, nz] = self.config.size_chunks.map(|side| side as i32);
        (0..nx)
            .flat_map(|x| (0..ny).flat_map(move |y| (0..nz).map(move |z| ChunkPos::new(x, y, z))))
            .collect()
    }

    fn extent(&self) -> Option<ChunkBox> {
        let [x, y, z] = self.config.size_chunks.map(|side| side as i32 - 1);
        let is_empty = self.config.size_chunks.contains(&0);
        (!is_empty).then_some(ChunkBox { min: ChunkPos::default(), max: ChunkPos::new(x, y, z) })
    }

    fn chunk_count(&self) -> u64 {
        let [x, y, z] = self.config.size_chunks.map(u64::from);
        x.saturating_mul(y).saturating_mul(z)
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        let node = NodePos::from(position);
        if self.is_sky(node) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        Ok(fill::chunk(&self.terrain, &self.palette, &self.land(node), position))
    }

    fn makes_levels(&self) -> bool {
        true
    }

    fn is_air(&self, node: NodePos) -> bool {
        self.is_sky(node)
    }

    /// Always `Some`: at any level the chunk is made from the noise, at about the cost of a
    /// chunk of single voxels, and looks much as
    /// [`downsample`](drystone_voxel::downsample)d ones do, with the colours that are seen
    /// from above. Cliffs hang over and caves are open while voxels are small enough for
    /// them; trees are trees for voxels of up to 4 units, leaves on the ground beyond;
    /// flowers there are none. A voxel is there if any part of it lies within the world.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        if node.level == 0 {
            return Some(self.chunk(node.chunk));
        }
        if self.is_sky(node) {
            return Some(Ok(Chunk::new(Chunk::SIDE, Material::AIR)));
        }
        let end_units =
            self.config.size_chunks.map(|side| i64::from(side) * i64::from(Chunk::SIDE));
        let (land, grid) = (self.land(node), Grid::new(node));
        Some(Ok(coarse::chunk(&self.terrain, &self.palette, &land, grid, end_units)))
    }
}

impl std::fmt::Debug for GeneratedWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneratedWorld").field("config", &self.config).finish_non_exhaustive()
    }
}
