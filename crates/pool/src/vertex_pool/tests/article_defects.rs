//! Defects of the article's published vertex pool. Each has a test that the article's pool would
//! fail:
//!
//! | defect | test |
//! |---|---|
//! | its mask returns a wrong count for about half of all patterns | `masks_count_right_for_every_pattern` |
//! | … and crashes when nothing passes | `a_mask_can_pass_nothing` |
//! | rendering before masking draws the wrong number of commands | `before_the_first_mask_everything_is_drawn` |
//! | the masked count is stale after a removal | `a_mesh_removed_after_the_mask_is_not_drawn` |
//! | a stale handle is used after free | `stale_handles_are_errors_even_when_the_slot_is_reused` |
//! | running out of buckets returns null and then crashes | `running_out_of_buckets_is_an_error_with_numbers` |
//! | a mesh larger than its bucket overwrites its neighbour | `a_mesh_larger_than_its_bucket_does_not_change_its_neighbour` |
//! | nothing waits for the GPU before a bucket is reused | `buckets_are_not_reused_under_a_frame_in_flight` |

use super::*;

/// Creates six meshes of one element, with data 0 to 5.
fn six() -> (Pool, SimulatedGpu, DrawList, Vec<MeshHandle>) {
    let (mut pool, mut gpu) = fixed(100, Access::Direct);
    let mut list = DrawList::new();
    let meshes: Vec<MeshHandle> =
        (0..6).map(|n| pool.insert(&[n], &[1], n, &mut gpu).unwrap()).collect();
    for &mesh in &meshes {
        list.insert(mesh).unwrap();
    }
    (pool, gpu, list, meshes)
}

fn slots(list: &mut DrawList, pool: &Pool) -> Vec<u32> {
    let mut slots: Vec<u32> = list.commands(pool).iter().map(|c| c.first_instance).collect();
    slots.sort_unstable();
    slots
}

/// "Its mask returns a wrong count for about half of all patterns": all patterns of six meshes.
#[test]
fn masks_count_right_for_every_pattern() {
    let (pool, _, mut list, _) = six();
    for pattern in 0..64u32 {
        let shows =
            |data: &u32| if pattern >> data & 1 == 1 { PartSet::ALL } else { PartSet::EMPTY };
        assert_eq!(
            list.mask(&pool, |mesh| shows(mesh)),
            pattern.count_ones() as usize,
            "{pattern:b}"
        );
        let expected: Vec<u32> = (0..6).filter(|n| pattern >> n & 1 == 1).collect();
        assert_eq!(slots(&mut list, &pool), expected);
    }
}

/// "… and crashes when nothing passes": with six meshes, one and none, also sorted.
#[test]
fn a_mask_can_pass_nothing() {
    let (mut pool, _, mut list, meshes) = six();
    for left in [6, 1, 0] {
        for &mesh in &meshes[left..] {
            let _ = pool.remove(mesh);
        }
        assert_eq!(list.mask(&pool, |_| PartSet::EMPTY), 0);
        assert!(slots(&mut list, &pool).is_empty());
        list.sort(&pool, |mesh| u64::from(**mesh));
        assert_eq!(list.mask_and_sort(&pool, |_| (PartSet::EMPTY, 0)), 0);
        assert_eq!((list.visible(), slots(&mut list, &pool)), (0, Vec::new()));
        assert_eq!(list.mask(&pool, |_| PartSet::ALL), left);
    }
}

/// "Rendering before masking draws the wrong number of commands": before the first mask, and for
/// meshes inserted since the last.
#[test]
fn before_the_first_mask_everything_is_drawn() {
    let (mut pool, mut gpu, mut list, _) = six();
    assert_eq!(slots(&mut list, &pool), [0, 1, 2, 3, 4, 5]);
    list.mask(&pool, |_| PartSet::EMPTY);
    list.insert(pool.insert(&[6], &[1], 6, &mut gpu).unwrap()).unwrap();
    assert_eq!(slots(&mut list, &pool), [6]);
}

/// "The masked count is stale after a removal."
#[test]
fn a_mesh_removed_after_the_mask_is_not_drawn() {
    let (mut pool, _, mut list, meshes) = six();
    list.mask(&pool, |mesh| if **mesh % 2 == 0 { PartSet::ALL } else { PartSet::EMPTY });
    pool.remove(meshes[2]).unwrap();
    pool.remove(meshes[5]).unwrap();
    assert_eq!(slots(&mut list, &pool), [0, 4]);
    pool.clear();
    assert!(slots(&mut list, &pool).is_empty());
}

/// "A stale handle is used after free."
#[test]
fn stale_handles_are_errors_even_when_the_slot_is_reused() {
    let (mut pool, mut gpu, mut list, meshes) = six();
    pool.remove(meshes[3]).unwrap();
    let reused = pool.insert(&[77], &[1], 77, &mut gpu).unwrap();
    assert_eq!(reused.slot(), meshes[3].slot());
    assert_eq!(pool.remove(meshes[3]), Err(PoolError::Stale));
    assert_eq!(pool.replace(meshes[3], &[1], &[1], 1, &mut gpu), Err(PoolError::Stale));
    assert_eq!(pool.set_data(meshes[3], 1, &mut gpu), Err(PoolError::Stale));
    assert_eq!(pool.replacing_writer(meshes[3], 1, &mut gpu).unwrap_err(), PoolError::Stale);
    assert_eq!((pool.data(meshes[3]), pool.data(reused)), (None, Some(&77)));
    assert_eq!(slots(&mut list, &pool), [0, 1, 2, 4, 5]);
}

/// "Running out of buckets returns null and then crashes."
#[test]
fn running_out_of_buckets_is_an_error_with_numbers() {
    let config =
        PoolConfig { placement: Placement::Buckets { elements: 5 }, ..PoolConfig::fixed(13, 9) };
    let mut scene = Scene::new(config, Access::Direct, 2);
    scene.insert(&[&[1; 5]], 1).unwrap();
    scene.insert(&[&[2; 3]], 2).unwrap();
    let error = scene.insert(&[&[3]], 3).unwrap_err();
    assert!(matches!(error, PoolError::Full { requested: 1, largest_free: 0, total_free: 0, .. }));
    scene.draw();
    scene.finish();
}

/// "A mesh larger than its bucket overwrites its neighbour": a checkerboard of 16³ with
/// 8,192 vertices per face direction, in the article's buckets of 4,800.
#[test]
fn a_mesh_larger_than_its_bucket_does_not_change_its_neighbour() {
    for oversize in [Oversize::Refuse, Oversize::Split] {
        let config = PoolConfig {
            placement: Placement::Buckets { elements: 4_800 },
            oversize,
            ..PoolConfig::fixed(4_800 * 12, 9)
        };
        let mut scene = Scene::new(config, Access::Direct, 2);
        scene.insert(&[&[1; 4_800]], 1).unwrap();
        let direction = vec![2; 8_192];
        let inserted = scene.insert(&[&direction], 2);
        assert_eq!(inserted.is_ok(), oversize == Oversize::Split);
        let inserted = scene.insert(&[&direction, &direction, &direction], 4);
        assert_eq!(inserted.is_ok(), oversize == Oversize::Split);
        // A writer must also detect it, during writing.
        let written = scene.write(None, &[&direction], 5, 0);
        assert_eq!(written.is_ok(), oversize == Oversize::Split);
        scene.insert(&[&[3; 4_800]], 3).unwrap();
        for _ in 0..6 {
            scene.draw();
        }
        scene.finish();
    }
}

/// "Nothing waits for the GPU before a bucket is reused": of two buckets, frames in flight use one.
/// Two new meshes do not fit the other, and the first is not overwritten.
#[test]
fn buckets_are_not_reused_under_a_frame_in_flight() {
    let config =
        PoolConfig { placement: Placement::Buckets { elements: 2 }, ..PoolConfig::fixed(4, 9) };
    let mut scene = Scene::new(config, Access::Direct, 2);
    let mesh = scene.insert(&[&[1, 1]], 1).unwrap();
    scene.draw();
    scene.remove(mesh);
    scene.insert(&[&[2, 2]], 2).unwrap();
    let error = scene.insert(&[&[3, 3]], 3).unwrap_err();
    assert!(matches!(error, PoolError::Full { waiting: 2, total_free: 0, .. }), "{error:?}");
    scene.draw();
    scene.draw();
    scene.insert(&[&[3, 3]], 3).unwrap();
    scene.draw();
    scene.finish();
}
