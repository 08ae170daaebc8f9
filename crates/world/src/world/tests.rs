use std::collections::HashMap;

use drystone_testing::Random;
use drystone_voxel::LocalPos;

use super::*;

fn random_voxel(random: &mut Random) -> VoxelPos {
    let mut c = || random.below(90) - 45;
    VoxelPos::new(c(), c(), c())
}

/// Compares all queries of a world with a map of voxels.
fn check(world: &World, shadow: &HashMap<VoxelPos, Material>) {
    assert_eq!(world.solid_count(), shadow.len() as u64);
    let boxes = shadow.keys().map(|&v| VoxelBox::of(v));
    assert_eq!(world.bounds(), boxes.reduce(VoxelBox::union));
    let mut counts: HashMap<Material, u64> = HashMap::new();
    for &material in shadow.values() {
        *counts.entry(material).or_default() += 1;
    }
    assert_eq!(world.count_by_material().into_iter().collect::<HashMap<_, _>>(), counts);
    let chunks: BTreeSet<ChunkPos> = shadow.keys().map(|v| v.split(world.side()).0).collect();
    assert!(world.positions().eq(chunks));
}

#[test]
fn edits_match_a_map_of_voxels() {
    for side in [7, 32] {
        let mut random = Random::new(u64::from(side));
        let mut world = World::with_side("test", MaterialTable::new(), side);
        let mut shadow = HashMap::new();
        check(&world, &shadow);
        for step in 0..400 {
            // Adds voxels for a while, then removes all of them.
            let voxel = match (step / 100) % 2 {
                0 => random_voxel(&mut random),
                _ => shadow.keys().next().copied().unwrap_or_default(),
            };
            let material = Material((1 - step / 100 % 2) as u16 * (1 + random.below(5) as u16));
            let old = match material {
                Material::AIR => shadow.remove(&voxel),
                _ => shadow.insert(voxel, material),
            };
            assert_eq!(world.set(voxel, material), old.unwrap_or_default());
            assert_eq!(world.get(voxel), material);
            if step % 20 == 19 {
                check(&world, &shadow);
            }
        }
    }
}

#[test]
fn padding_equals_the_surrounding_voxels() {
    let side = 4;
    let mut random = Random::new(1);
    let mut world = World::with_side("test", MaterialTable::new(), side);
    for _ in 0..900 {
        let mut c = || random.below(16) - 8;
        let voxel = VoxelPos::new(c(), c(), c());
        world.set(voxel, Material(1 + random.below(9) as u16));
    }
    let mut padded = PaddedChunk::new();
    for position in [ChunkPos::new(0, 0, 0), ChunkPos::new(-2, 1, -1), ChunkPos::new(9, 9, 9)] {
        world.pad(position, &mut padded);
        let origin = position.origin(side);
        for i in 0..(side + 2).pow(3) {
            let p = [i % 6, i / 6 % 6, i / 36];
            let at = |base: i32, c: u32| base + c as i32 - 1;
            let voxel = VoxelPos::new(at(origin.x, p[0]), at(origin.y, p[1]), at(origin.z, p[2]));
            assert_eq!(padded.get(p), world.get(voxel), "{position:?} {p:?}");
        }
    }
}

#[test]
fn chunks_of_one_material_take_no_memory() {
    let chunk = Chunk::new(32, Material(3));
    let mut world =
        World::from_chunks("full", MaterialTable::new(), [(ChunkPos::default(), chunk)]).unwrap();
    assert_eq!(world.count_by_material(), [(Material(3), 32 * 32 * 32)]);
    assert!(world.size_bytes() < 100);
    world.set(VoxelPos::new(0, 0, 0), Material(4));
    // One bit per voxel.
    assert!(world.size_bytes() > 32 * 32 * 32 / 8);
    assert_eq!(world.bounds().unwrap().size_voxels(), [32; 3]);
}

#[test]
fn air_is_not_stored_and_other_sides_are_refused() {
    let mut world = World::new("test", MaterialTable::new());
    let origin = ChunkPos::default();
    world.insert(origin, Chunk::new(32, Material(1))).unwrap();
    world.insert(origin, Chunk::new(32, Material::AIR)).unwrap();
    assert!(world.is_empty() && world.bounds().is_none());
    let mut odd = Chunk::new(16, Material::AIR);
    odd.set(LocalPos::new(0, 0, 0), Material(1));
    let error = world.insert(origin, odd).unwrap_err();
    assert!(matches!(error, SourceError::ChunkSide { found: 16, expected: 32 }));
    world.set(VoxelPos::new(i32::MAX, i32::MIN, 0), Material(1));
    assert!(world.bounds().is_some());
}

/// A source with more chunks than fit. It fails the test if any is requested.
struct Endless(MaterialTable);

impl Source for Endless {
    fn name(&self) -> &str {
        "endless"
    }
    fn materials(&self) -> &MaterialTable {
        &self.0
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        (0..=World::MAX_CHUNKS as i32).map(|x| ChunkPos::new(x, 0, 0)).collect()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        panic!("{position:?} was requested")
    }
}

#[test]
fn too_many_chunks_are_refused_before_any_is_made() {
    let error = World::load(&Endless(MaterialTable::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "endless: 65537 chunks, at most 65536 are taken; take a smaller part of it"
    );
}
