use drystone_voxel::VoxelPos;

use super::*;

fn world(kind: MovingKind) -> MovingWorld {
    let size_chunks = if kind == MovingKind::Crater { [4, 2, 4] } else { [5, 3, 4] };
    MovingWorld::new(MovingConfig { size_chunks, ..MovingConfig::new(kind) }).unwrap()
}

fn voxel(world: &MovingWorld, at: [i32; 3]) -> Material {
    let [x, y, z] = at;
    let (chunk, local) = VoxelPos::new(x, y, z).split(Chunk::SIDE);
    world.chunk(chunk).unwrap().get(local)
}

fn chunks(world: &MovingWorld) -> Vec<Chunk> {
    world.chunk_positions().into_iter().map(|it| world.chunk(it).unwrap()).collect()
}

/// Exactly the returned chunks change, equal configurations change alike, and the box of the world
/// stays.
#[test]
fn motion_returns_the_changed_chunks() {
    for kind in [MovingKind::Random, MovingKind::Noise, MovingKind::Crater] {
        let (one, other) = (world(kind), world(kind));
        let positions = one.chunk_positions();
        assert_eq!(one.extent(), ChunkBox::around(positions.clone()), "{kind:?}");
        assert!(positions.is_sorted());
        let mut before = chunks(&one);
        for frame in 0..4 {
            let mut changed = one.motion().unwrap().next_frame();
            assert_eq!(changed, other.motion().unwrap().next_frame());
            changed.sort_unstable();
            let after = chunks(&one);
            for ((position, old), new) in positions.iter().zip(&before).zip(&after) {
                let is_told = changed.binary_search(position).is_ok();
                assert!(is_told || old == new, "{kind:?} {frame} {position:?}");
            }
            let count = before.iter().zip(&after).filter(|(old, new)| old != new).count();
            assert!(count > 0 && 4 * count > changed.len(), "{kind:?}: {count}");
            before = after;
        }
        assert_eq!(chunks(&one), chunks(&other));
        let outside = ChunkPos::new(0, -1, 0);
        assert!(one.chunk(outside).unwrap().is_empty());
    }
}

#[test]
fn fifty_random_chunks_change_and_all_take_turns() {
    let world = world(MovingKind::Random);
    let solid: u32 = chunks(&world).iter().map(Chunk::solid_count).sum();
    let share = f64::from(solid) / (60.0 * 32_768.0);
    assert!((share - 0.1).abs() < 0.002, "{share}");
    let mut turns = std::collections::BTreeMap::<ChunkPos, u32>::new();
    for _ in 0..12 {
        let changed = world.next_frame();
        assert_eq!(changed.len(), 50);
        changed.into_iter().for_each(|position| *turns.entry(position).or_default() += 1);
    }
    assert_eq!(turns.len(), 60);
    assert!(turns.values().all(|&count| count == 10), "{turns:?}");
}

#[test]
fn noise_travels_by_one_voxel_in_a_frame() {
    let world = world(MovingKind::Noise);
    let row = |y: i32| (0..160).map(|x| voxel(&world, [x, y, 77])).collect::<Vec<_>>();
    let before = [0, 40, 95].map(row);
    world.next_frame();
    for (before, after) in before.iter().zip([0, 40, 95].map(row)) {
        assert_eq!(before[1..], after[..159]);
    }
    let solid: u32 = chunks(&world).iter().map(Chunk::solid_count).sum();
    let share = f64::from(solid) / (60.0 * 32_768.0);
    assert!(share > 0.1 && share < 0.5, "{share}");
}

/// The voxels of a column reach the height of the map, and the crater comes back after a turn.
#[test]
fn voxels_follow_the_changing_heights() {
    let world = world(MovingKind::Crater);
    let mut land = CraterLand::new(4);
    let first = chunks(&world);
    for frame in 1..=60 {
        world.next_frame();
        land.set_frame(frame);
    }
    assert!(chunks(&world) != first);
    for [x, z] in [[0, 0], [40, 70], [64, 64], [98, 31], [127, 127]] {
        let top = land.height([x, z]).round() as i32;
        assert!(!voxel(&world, [x, top, z]).is_air(), "{x} {z}");
        assert!(voxel(&world, [x, top + 1, z]).is_air(), "{x} {z}");
    }
    (60..CraterLand::TURN_FRAMES).for_each(|_| drop(world.next_frame()));
    assert!(chunks(&world) == first);
}

#[test]
fn worlds_of_any_size_are_made_or_refused() {
    for kind in [MovingKind::Random, MovingKind::Noise, MovingKind::Crater] {
        for size_chunks in [[0; 3], [1; 3], [0, 2, 1], [2, 0, 2]] {
            let config = MovingConfig { size_chunks, ..MovingConfig::new(kind) };
            let world = MovingWorld::new(config).unwrap();
            let count = world.chunk_positions().len();
            assert!(world.next_frame().len() <= count, "{kind:?} {size_chunks:?}");
            assert_eq!(world.extent().is_none(), count == 0);
        }
        let config = MovingConfig { size_chunks: [u32::MAX; 3], ..MovingConfig::new(kind) };
        assert!(matches!(MovingWorld::new(config), Err(SourceError::TooLarge { .. })));
    }
}

/// The land of a crater is a square, so its depth counts as its width.
#[test]
fn scenes_that_are_too_large_are_errors() {
    let new = |kind, size_chunks| MovingWorld::new(MovingConfig { kind, seed: 1, size_chunks });
    for kind in [MovingKind::Random, MovingKind::Noise, MovingKind::Crater] {
        assert_eq!(new(kind, [0; 3]).unwrap().chunk_positions().len(), 1, "{kind:?}");
        for size in [[u32::MAX, 0, 1], [u32::MAX; 3], [1 << 14, 2, 1]] {
            let error = new(kind, size).err();
            assert!(matches!(error, Some(SourceError::TooLarge { .. })), "{kind:?} {size:?}");
        }
    }
    assert!(matches!(new(MovingKind::Crater, [4_000, 1, 1]), Err(SourceError::TooLarge { .. })));
}

#[cfg(feature = "serde")]
#[test]
fn configurations_survive_json() {
    use std::time::Duration;

    use drystone_testing::{from_json, json_of};

    use crate::{GeneratedWorld, GeneratorConfig, LodConfig, Meshing};

    let kinds = [MovingKind::Random, MovingKind::Noise, MovingKind::Crater];
    let texts = kinds.map(|kind| json_of(&MovingConfig::new(kind).with_size_chunks([1, 2, 3])));
    assert_eq!(texts[1], r#"{"kind":"Noise","seed":3,"size_chunks":[1,2,3]}"#);
    assert_eq!(json_of(&Meshing { occlusion: true }), r#"{"occlusion":true}"#);
    let config = LodConfig::default().with_hysteresis(0.1).with_max_level(3);
    json_of(&config.with_frame_time(Duration::new(1, 999_999_999)));
    json_of(&GeneratorConfig::default().with_seed(u64::MAX).with_size_chunks([u32::MAX; 3]));
    assert_eq!(from_json("{}"), Ok(LodConfig::default()));
    assert_eq!(from_json("{}"), Ok(Meshing::default()));
    // A relief out of range is read, and refused by the world.
    let config = from_json::<GeneratorConfig>(r#"{"relief_voxels":0}"#).unwrap();
    assert!(GeneratedWorld::new(config).is_err());
}
