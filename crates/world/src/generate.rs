use std::sync::Arc;

use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos};

use drystone_formats::{Source, SourceError};

mod carve;
mod carver;
mod coarse;
mod column;
mod cover;
mod fill;
pub(crate) mod grid;
pub(crate) mod hash;
mod land;
mod lattice;
mod noise;
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

/// Configuration of a generated world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct GeneratorConfig {
    /// Seed of all noise. Worlds with the same seed are equal. Default: 3.
    pub seed: u64,
    /// Size along X, Y and Z in chunks, starting at the chunk at the origin. At most
    /// [`GeneratedWorld::MAX_SIDE`] per side. A side of 0 gives an empty world. Default: 12 × 4 ×
    /// 12.
    ///
    /// [`World::load`](crate::World::load) accepts at most
    /// [`World::MAX_CHUNKS`](crate::World::MAX_CHUNKS) chunks. A streamed world has no such limit.
    pub size_chunks: [u32; 3],
    /// Height from the deepest lake to above the highest peak in voxels, 16 to 1024. Hills get
    /// wider with it. Default: 128, which fits into four chunks.
    pub relief_voxels: u32,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self { seed: 3, size_chunks: [12, 4, 12], relief_voxels: 128 }
    }
}

impl GeneratorConfig {
    /// Replaces [`seed`](Self::seed).
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Replaces [`size_chunks`](Self::size_chunks).
    #[must_use]
    pub fn with_size_chunks(mut self, size_chunks: [u32; 3]) -> Self {
        self.size_chunks = size_chunks;
        self
    }

    /// Replaces [`relief_voxels`](Self::relief_voxels).
    #[must_use]
    pub fn with_relief_voxels(mut self, relief_voxels: u32) -> Self {
        self.relief_voxels = relief_voxels;
        self
    }
}

/// A world generated from noise: hills, mountains with snow, lakes, overhanging cliffs, caves and
/// forests.
///
/// ```text
///  x, z ──noise──► ground height, steepness, wetness ─┐
///                                                     ├─► chunk ─► trees ─► flowers
///  x, y, z ──noise, every 4th voxel──► cliffs, caves ─┘
/// ```
/// A chunk depends only on the seed, the relief and its position. The size of the world only
/// decides where it ends. Trees that cross a border are the same in both chunks. The ground is
/// mirrored every 2²⁰ voxels from the origin, so that the precision of the noise does not decrease.
///
/// # Cost
/// About 0.2 ms per chunk on one core, and almost nothing for a chunk of air above another. A LOD chunk
/// takes 0.4 to 1 ms. The ground and trees of the last 256 squares of land are cached, at most 6 MB.
pub struct GeneratedWorld {
    config: GeneratorConfig,
    name: String,
    materials: MaterialTable,
    palette: Palette,
    terrain: Terrain,
    lands: Recent<Land>,
}

impl GeneratedWorld {
    /// Maximum number of chunks per side. Chunks beyond it have no voxel coordinates.
    pub const MAX_SIDE: u32 = 1 << 25;

    /// Creates a world whose chunks are generated on demand.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] for a side of more than [`MAX_SIDE`](Self::MAX_SIDE) chunks, or a
    /// relief out of range.
    pub fn new(config: GeneratorConfig) -> Result<Self, SourceError> {
        let what = |part: &str| format!("generated world: {part}");
        if let Some(&found) = config.size_chunks.iter().find(|&&side| side > Self::MAX_SIDE) {
            return Err(SourceError::TooLarge {
                what: what("size"),
                found: found.into(),
                limit: Self::MAX_SIDE.into(),
                unit: "chunks per side",
                advice: "use fewer chunks per side",
            });
        }
        let relief = config.relief_voxels.clamp(MIN_RELIEF, MAX_RELIEF);
        if relief != config.relief_voxels {
            return Err(SourceError::TooLarge {
                what: what("relief"),
                found: config.relief_voxels.into(),
                limit: MAX_RELIEF.into(),
                unit: "voxels",
                advice: "use a relief of 16 to 1024 voxels",
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

    /// Returns the configuration.
    pub fn config(&self) -> &GeneratorConfig {
        &self.config
    }

    /// Whether any part of a node lies in the world.
    fn reaches(&self, node: NodePos) -> bool {
        let ChunkPos { x, y, z } = node.chunk;
        [x, y, z]
            .into_iter()
            .zip(self.config.size_chunks)
            .all(|(c, side)| c >= 0 && i64::from(c) << node.level < i64::from(side))
    }

    /// Returns the land below a node, which all nodes above and below it share.
    fn land(&self, node: NodePos) -> Arc<Land> {
        let ChunkPos { x, z, .. } = node.chunk;
        let make = || Land::new(&self.terrain, &self.palette, Grid::new(node));
        self.lands.get_or((node.level, x, z), make)
    }

    /// Whether a node lies above all ground and trees, or outside the world.
    fn is_sky(&self, node: NodePos) -> bool {
        !self.reaches(node) || Grid::new(node).height(0) as f32 > self.terrain.ceiling()
    }
}

/// Number of cached lands, of about 24 KB each.
const LAND_COUNT: usize = 256;
const MIN_RELIEF: u32 = 16;
const MAX_RELIEF: u32 = 1024;

impl Source for GeneratedWorld {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        // The version number changes whenever the same seed gives other chunks.
        let version = if self.is_mirrored() { 4 } else { 3 };
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

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
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

    /// Always returns `Some`. Chunks of every level are made from the noise, at about the cost of a
    /// chunk of level 0. They look similar to [`downsample`](drystone_voxel::downsample)d ones,
    /// with the colours that are visible from above.
    ///
    /// Overhangs and caves exist while the voxels are small enough for them. Voxels of at most 4
    /// units show whole trees, larger ones only leaves on the ground. LOD chunks have no flowers. A
    /// voxel exists if any part of it lies in the world.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
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
