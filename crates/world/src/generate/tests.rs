use drystone_voxel::{LocalPos, VoxelPos};

use super::lattice::Lattice;
use super::noise::LANES;
use super::tree::{Part, trees_near};
use super::*;
use crate::world::World;

fn world(seed: u64, size_chunks: [u32; 3]) -> GeneratedWorld {
    GeneratedWorld::new(GeneratorConfig { seed, size_chunks, ..Default::default() }).unwrap()
}

#[test]
fn worlds_depend_on_the_seed() {
    let load = |seed| World::load(&world(seed, [3, 4, 2])).unwrap();
    let (a, b, other) = (load(11), load(11), load(12));
    assert!(a.iter().eq(b.iter()));
    assert!(!a.iter().eq(other.iter()));
    // The upper half of a seed counts too.
    assert!(!a.iter().eq(load(11 | 1 << 40).iter()));
}

#[test]
fn a_chunk_is_the_same_in_any_world_and_order() {
    let small = world(3, [2, 4, 3]);
    let large = World::load(&world(3, [5, 6, 4])).unwrap();
    let mut positions = small.chunk_positions();
    assert_eq!(positions.len(), 24);
    positions.reverse();
    for position in positions {
        let alone = world(3, [2, 4, 3]).chunk(position).unwrap();
        assert_eq!(alone, small.chunk(position).unwrap());
        let air = Chunk::new(Chunk::SIDE, Material::AIR);
        assert_eq!(&alone, large.chunk(position).unwrap_or(&air), "{position:?}");
    }
}

/// Every voxel of every tree exists in the chunk that contains it: leaves or bark of the tree, of
/// another tree, or ground.
#[test]
fn trees_are_complete_across_chunks() {
    let source = world(3, [7, 4, 7]);
    let world = World::load(&source).unwrap();
    let trees = trees_near(&source.terrain, &source.palette, [0, 0], [223, 223]);
    let (mut crossing, mut own, mut all) = (0, 0, 0);
    for tree in &trees {
        let (low, high) = tree.bounds();
        if low[0] < 0 || low[2] < 0 || high[0] > 223 || high[2] > 223 {
            continue;
        }
        let mut chunks = std::collections::HashSet::new();
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let Some(part) = tree.part_at([x, y, z]) else { continue };
                    let voxel = VoxelPos::new(x, y, z);
                    let found = world.get(voxel);
                    assert!(!found.is_air(), "{voxel:?} of the tree at {:?}", tree.root);
                    let (Part::Trunk(expected) | Part::Leaves(expected)) = part;
                    own += u32::from(found == expected);
                    all += 1;
                    chunks.insert(voxel.split(Chunk::SIDE).0);
                }
            }
        }
        crossing += u32::from(chunks.len() > 1);
    }
    assert!(crossing > 20, "{crossing} trees cross a border");
    assert!(own * 10 > all * 7, "{own} of {all} voxels are the tree's own");
}

#[test]
fn the_default_world_has_everything() {
    let source = GeneratedWorld::new(GeneratorConfig::default()).unwrap();
    let world = World::load(&source).unwrap();
    let counts = world.count_by_material();
    // All materials except air and those of LOD voxels only.
    assert_eq!(counts.len(), source.materials().len() - 2, "{counts:?}");
    assert!(counts.iter().all(|(material, _)| *material != source.palette.far_water));
    let size = world.bounds().unwrap().size_voxels();
    assert!(size[0] == 384 && size[2] == 384, "{size:?}");
    assert!((90..128).contains(&size[1]), "peaks reach high and are not cut off: {size:?}");
    assert!(world.materials().any_translucent());
    // Caves and overhangs have air below rock. There is land below and above the sea.
    let p = &source.palette;
    let rock = [p.stone, p.dark_stone, p.light_stone];
    let (mut hollow, mut wet, mut columns) = (0, 0, 0);
    for x in (0..384).step_by(3) {
        for z in (0..384).step_by(3) {
            let at = |y| world.get(VoxelPos::new(x, y, z));
            hollow += u32::from((0..127).any(|y| at(y).is_air() && rock.contains(&at(y + 1))));
            wet += u32::from(at(source.terrain.sea_level()) == p.water);
            columns += 1;
        }
    }
    assert!(hollow * 20 > columns, "{hollow} of {columns} columns have a roof");
    assert!(wet * 10 > columns && wet * 10 < 6 * columns, "{wet} of {columns} columns are water");
}

/// The surface of the water is the top of a voxel at all levels that show water as a body.
#[test]
fn water_has_one_surface_at_all_levels() {
    for (relief, surface) in [(16, 4), (64, 16), (100, 24), (128, 32), (240, 64), (512, 128)] {
        assert_eq!(Terrain::new(3, relief).sea_level() + 1, surface, "relief {relief}");
    }
    for seed in [3, 11] {
        let source = world(seed, [16, 4, 16]);
        let water = [source.palette.water, source.palette.far_water];
        for level in 0..=5 {
            let (units, mut columns) = (1_i32 << level, 0);
            let side = 16 >> level.min(4);
            for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
                let node = NodePos::new(level, ChunkPos::new(x, 0, z));
                let chunk = source.coarse_chunk(node).unwrap().unwrap();
                let is_top = |&(at, material): &(LocalPos, Material)| {
                    let up = LocalPos::new(at.x, (at.y + 1).min(31), at.z);
                    let is_last = at.y == 31 || !water.contains(&chunk.get(up));
                    water.contains(&material) && is_last
                };
                for (at, _) in chunk.iter().filter(is_top) {
                    assert_eq!((i32::from(at.y) + 1) * units, 32, "{at:?} of {node:?}");
                    columns += 1;
                }
            }
            assert!(columns > 0, "no water at level {level}");
        }
    }
}

/// All water has the same height, with only air or plants above it.
#[test]
fn water_has_one_surface() {
    let source = world(3, [4, 2, 4]);
    let world = World::load(&source).unwrap();
    let (sea, water) = (source.terrain.sea_level(), source.palette.water);
    let mut surface = 0;
    for x in 0..128 {
        for z in 0..128 {
            for y in 0..63 {
                let [here, above] = [y, y + 1].map(|y| world.get(VoxelPos::new(x, y, z)));
                if here == water {
                    assert!(y <= sea);
                    assert!(above == water || y == sea, "a hole in the water at {x} {y} {z}");
                    surface += u32::from(y == sea);
                }
            }
        }
    }
    assert!(surface > 500);
}

#[test]
fn empty_and_too_large_sizes() {
    for size in [[0, 4, 4], [4, 0, 4], [4, 4, 0], [0; 3]] {
        let nothing = World::load(&world(1, size)).unwrap();
        assert!(nothing.is_empty());
        assert_eq!(world(1, size).extent(), None);
    }
    assert!(!World::load(&world(1, [1; 3])).unwrap().is_empty());
    let error = |size_chunks, relief_voxels| {
        let config = GeneratorConfig { size_chunks, relief_voxels, ..Default::default() };
        GeneratedWorld::new(config).unwrap_err().to_string()
    };
    assert_eq!(
        error([1, 33_554_433, 1], 128),
        "generated world: size: 33554433 chunks per side, at most 33554432 are taken; use fewer chunks per side"
    );
    for size in [[u32::MAX; 3], [u32::MAX, 0, 1]] {
        assert!(error(size, 128).starts_with("generated world: size: "));
    }
    // Sizes that a source may have but that do not fit into memory.
    let [vast, larger] = [[GeneratedWorld::MAX_SIDE; 3], [41, 40, 40]].map(|size| world(1, size));
    assert_eq!(vast.chunk_count(), u64::MAX);
    assert_eq!(larger.chunk_count(), 65_600);
    assert_eq!(larger.extent().map(|it| it.size_chunks()), Some([41, 40, 40]));
    for source in [vast, larger] {
        let error = World::load(&source).unwrap_err().to_string();
        assert!(error.contains("at most 65536 are taken; take a smaller part of it"), "{error}");
    }
    for relief in [0, 15, 1025, u32::MAX] {
        assert!(error([1; 3], relief).contains("use a relief of 16 to 1024 voxels"));
    }
    assert_eq!(world(1, [65_536, 1, 1]).chunk_positions().len(), 65_536);
}

#[test]
fn other_reliefs_stay_within_their_height() {
    for relief_voxels in [16_u32, 33, 64, 256] {
        let size_chunks = [4, relief_voxels.div_ceil(32) + 1, 4];
        let config = GeneratorConfig { relief_voxels, size_chunks, ..Default::default() };
        let source = GeneratedWorld::new(config).unwrap();
        let world = World::load(&source).unwrap();
        let top = world.bounds().unwrap().max.y;
        // Trees do not shrink with the land.
        assert!(top <= relief_voxels as i32 + terrain::MAX_TREE_HEIGHT, "{top} of {relief_voxels}");
        assert!(top > source.terrain.sea_level());
    }
}

/// Far from the origin, neighbouring columns differ as much as near it.
#[test]
fn far_land_is_as_detailed_as_near_land() {
    let source = world(3, [GeneratedWorld::MAX_SIDE; 3]);
    // 2²⁴ voxels are 524,288 chunks.
    for [x, z] in [[3, 5], [700_003, 524_300], [33_000_001, 17], [9, 33_554_431]] {
        for level in [0, 1, 3] {
            let node = NodePos::new(level, ChunkPos::new(x >> level, 0, z >> level));
            let land = Land::new(&source.terrain, &source.palette, Grid::new(node));
            let ground = |x, z| land.column(x, z).ground;
            let is_same =
                |(x, z)| ground(x, z) == ground(x + 1, z) || ground(x, z) == ground(x, z + 1);
            let same = (0..31 * 31).map(|i| (i % 31, i / 31)).filter(|&at| is_same(at)).count();
            assert!(same < 10, "{same} of {} columns like the next, {node:?}", 31 * 31);
            let taken = std::cell::RefCell::new(std::collections::HashSet::new());
            Lattice::sample(Grid::new(node), 0.0..=100.0, 0.0, |[x, _, z]| {
                let places = x.iter().zip(z).map(|(x, z)| [x.to_bits(), z.to_bits()]);
                taken.borrow_mut().extend(places);
                [0.0; LANES]
            });
            assert_eq!(taken.borrow().len(), if level == 0 { 9 * 9 } else { 17 * 17 }, "{node:?}");
        }
    }
    let identity = |size| world(3, size).identity();
    assert!(identity([1 << 15, 4, 1 << 15]).starts_with("generated world 3,"));
    assert!(identity([1, 4, (1 << 15) + 1]).starts_with("generated world 4,"));
}

#[test]
fn outside_is_air() {
    let source = world(3, [1, 4, 1]);
    for position in [[-1, 0, 0], [1, 0, 0], [0, 4, 0], [i32::MIN, i32::MAX, 0]] {
        let [x, y, z] = position;
        assert!(source.chunk(ChunkPos::new(x, y, z)).unwrap().is_empty());
    }
}
