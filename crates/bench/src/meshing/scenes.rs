use std::rc::Rc;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material, MaterialTable, VoxelPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};

use super::Input;
use crate::{Failure, Options, Random, noise_field::NoiseField};

/// Probability that a voxel of the random cases is filled.
const FILL: f64 = 0.1;
const COLORS: [[u8; 4]; 3] = [[208, 92, 60, 255], [84, 148, 92, 255], [70, 110, 190, 255]];
/// Number of chunks per case. They are meshed in turn, so that no branch predictor learns one
/// chunk.
const MAX_CHUNKS: usize = 27;
const QUICK_CHUNKS: usize = 3;
/// Smallest share of solid voxels of a chunk of the caves case, and of the chunk above it.
const CAVE_SOLID_PERCENT: u32 = 60;

/// A world, and the positions of the chunks to mesh.
pub(super) struct Scene {
    world: World,
    chunks: Vec<ChunkPos>,
}

impl Scene {
    /// Selects at most `count` chunks that pass the filter, spread over the world.
    fn new(world: World, options: &Options, passes: impl Fn(&World, ChunkPos) -> bool) -> Self {
        let passing: Vec<_> = world.positions().filter(|&at| passes(&world, at)).collect();
        let count = options.size(MAX_CHUNKS, QUICK_CHUNKS).min(passing.len());
        let chunks = (0..count).map(|i| passing[i * passing.len() / count]).collect();
        Self { world, chunks }
    }

    pub(super) fn inputs(self) -> Result<Vec<Input>, Failure> {
        if self.chunks.is_empty() {
            return Err("the scene has no such chunk".into());
        }
        let world = Rc::new(self.world);
        Ok(self.chunks.into_iter().map(|position| Input::new(&world, position)).collect())
    }
}

fn colors() -> MaterialTable {
    let mut table = MaterialTable::new();
    for color in COLORS {
        table.insert("color", color);
    }
    table
}

/// Creates a world of `chunks`³ chunks with the voxels of `material_at`.
fn world(
    side: u32,
    chunks: [i32; 3],
    materials: MaterialTable,
    mut material_at: impl FnMut(VoxelPos) -> Material,
) -> Result<World, Failure> {
    let mut world = World::with_side("bench", materials, side);
    let [nx, ny, nz] = chunks;
    for i in 0..nx * ny * nz {
        let position = ChunkPos::new(i % nx, i / nx % ny, i / (nx * ny));
        let origin = position.origin(side);
        let chunk = Chunk::from_fn(side, |LocalPos { x, y, z }| {
            let [x, y, z] = [x, y, z].map(i32::from);
            material_at(VoxelPos::new(origin.x + x, origin.y + y, origin.z + z))
        });
        world.insert(position, chunk)?;
    }
    Ok(world)
}

fn is_mixed(world: &World, position: ChunkPos) -> bool {
    solid_percent(world, position).is_some_and(|(count, volume)| count > 0 && count < volume)
}

/// Returns the number of solid voxels and the number of all voxels.
fn solid_percent(world: &World, position: ChunkPos) -> Option<(u32, u32)> {
    let chunk = world.chunk(position)?;
    Some((chunk.solid_count(), chunk.side() * chunk.side() * chunk.side()))
}

/// The article's worst case: random voxels of three colours.
pub(super) fn random(side: u32, options: &Options) -> Result<Scene, Failure> {
    let chunks = options.size(3, 1);
    let mut random = Random::new(u64::from(side));
    let world = world(side, [chunks; 3], colors(), |_| {
        let filled = random.unit() < FILL;
        Material(if filled { 1 + random.below(COLORS.len()) as u16 } else { 0 })
    })?;
    Ok(Scene::new(world, options, |_, _| true))
}

/// The article's case of coherent noise: one colour, solid where OpenSimplex2 noise is positive.
/// The period of the noise is the side of the world.
pub(super) fn noise(side: u32, options: &Options) -> Result<Scene, Failure> {
    let chunks = options.size(6, 2);
    let field = NoiseField::new(side * chunks as u32);
    let world = world(side, [chunks; 3], colors(), |position| field.material(position))?;
    Ok(Scene::new(world, options, is_mixed))
}

fn generated(options: &Options) -> Result<World, Failure> {
    let size_chunks = options.size([8, 4, 8], [4, 4, 4]);
    let config = GeneratorConfig::default().with_size_chunks(size_chunks);
    let source = GeneratedWorld::new(config)?;
    Ok(World::load(&source)?)
}

/// Chunks at the surface of the generated world, with water and trees.
pub(super) fn terrain(side: u32, options: &Options) -> Result<Scene, Failure> {
    let source = generated(options)?;
    let chunks = options.size([256, 128, 256], [128; 3]).map(|voxels| voxels / side as i32);
    let materials = source.materials().clone();
    let world = world(side, chunks, materials, |voxel| source.get(voxel))?;
    Ok(Scene::new(world, options, |world, at| is_mixed(world, at) && !is_cave(world, at)))
}

/// Chunks with caves below the surface.
pub(super) fn caves(options: &Options) -> Result<Scene, Failure> {
    Ok(Scene::new(generated(options)?, options, |world, at| {
        is_mixed(world, at) && is_cave(world, at)
    }))
}

/// Whether a chunk and the one above it are mostly rock.
fn is_cave(world: &World, position: ChunkPos) -> bool {
    let above = ChunkPos::new(position.x, position.y + 1, position.z);
    [position, above].into_iter().all(|position| {
        let solid = solid_percent(world, position);
        solid.is_some_and(|(count, volume)| 100 * count >= CAVE_SOLID_PERCENT * volume)
    })
}

/// A single chunk of one material.
pub(super) fn uniform(solid: bool) -> Result<Scene, Failure> {
    let mut world = World::new("uniform", colors());
    let position = ChunkPos::new(0, 0, 0);
    let chunk = Chunk::new(Chunk::SIDE, Material(u16::from(solid)));
    world.insert(position, chunk)?;
    Ok(Scene { world, chunks: vec![position] })
}

/// A checkerboard of voxels, in which no faces merge.
pub(super) fn checker() -> Result<Scene, Failure> {
    let is_solid = |VoxelPos { x, y, z }: VoxelPos| (x + y + z) & 1 != 0;
    let world = world(Chunk::SIDE, [3; 3], colors(), |voxel| Material(u16::from(is_solid(voxel))))?;
    Ok(Scene { world, chunks: vec![ChunkPos::new(1, 1, 1)] })
}
