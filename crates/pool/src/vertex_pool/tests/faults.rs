//! Errors outside the pool. The next frame must still be correct.

use drystone_testing::Random;

use super::*;
use crate::backend::NullBackend;

#[test]
fn pools_without_capacity_are_full_and_draw_nothing() {
    for config in [
        PoolConfig::fixed(0, 9),
        PoolConfig { max_buffers: 0, ..PoolConfig::default() },
        PoolConfig { placement: Placement::Buckets { elements: 0 }, ..PoolConfig::default() },
        PoolConfig { placement: Placement::Buckets { elements: 9 }, ..PoolConfig::fixed(8, 9) },
    ] {
        for oversize in [Oversize::Refuse, Oversize::Split] {
            let mut scene =
                Scene::new(PoolConfig { oversize, ..config.clone() }, Access::Direct, 1);
            let error = scene.insert(&[&[1]], 1).unwrap_err();
            let is_typed =
                matches!(error, PoolError::Full { .. } | PoolError::MeshTooLarge { limit: 0, .. });
            assert!(is_typed, "{error:?}");
            scene.insert(&[], 1).unwrap();
            scene.defragment(&MoveBudget::default());
            scene.draw();
            scene.draw();
            scene.finish();
        }
    }
    let mut scene =
        Scene::new(PoolConfig { max_slots: 0, ..PoolConfig::default() }, Access::Direct, 1);
    assert_eq!(scene.insert(&[], 1), Err(PoolError::SlotsFull { capacity: 0 }));
    scene.finish();
}

#[test]
fn empty_meshes_are_valid_and_draw_nothing() {
    let mut scene = Scene::new(PoolConfig::fixed(10, 9), Access::Direct, 1);
    let mesh = scene.insert(&[&[], &[], &[]], 1).unwrap();
    scene.draw();
    scene.replace(mesh, &[&[], &[5]], 2).unwrap();
    scene.draw();
    scene.replace(mesh, &[], 3).unwrap();
    scene.write(Some(mesh), &[&[], &[]], 4, 0).unwrap();
    scene.write(Some(mesh), &[&[], &[]], 4, 3).unwrap();
    scene.draw();
    scene.remove(mesh);
    scene.draw();
    scene.finish();
    assert_eq!(scene.pool.stats().free, 10);
}

#[test]
fn parts_that_do_not_add_up_change_nothing() {
    let (mut pool, mut gpu) = fixed(10, Access::Staged);
    let wrong = pool.insert(&[1, 2], &[1], 1, &mut gpu);
    assert!(matches!(wrong, Err(PoolError::PartsMismatch { counted: 1, .. })));
    assert!(pool.insert(&[1; 9], &[1; 9], 1, &mut gpu).is_err());
    let beyond = pool.insert(&[], &[u32::MAX, 1], 1, &mut gpu);
    assert!(matches!(beyond, Err(PoolError::PartsMismatch { counted: 0x1_0000_0000, .. })));
    assert_eq!((pool.stats().used, pool.len()), (0, 0));
}

#[test]
fn configurations_that_cannot_be_addressed_are_errors() {
    let elements = PoolConfig { max_buffer_elements: 1 << 30, ..PoolConfig::default() };
    let error = Pool::new(elements.clone()).unwrap_err();
    assert_eq!(error, PoolError::TooLarge { capacity: 1 << 30, limit: (1 << 29) - 1 });
    assert!(Pool::new(PoolConfig { vertices_per_element: 1, ..elements }).is_ok());
    assert!(Pool::new(PoolConfig { max_slots: 1 << 31, ..PoolConfig::default() }).is_err());
}

#[test]
fn commands_with_more_indices_than_32_bits_are_an_error() {
    let config = PoolConfig {
        max_buffer_elements: 1 << 29,
        vertices_per_element: 1,
        indices_per_element: 16,
        pattern_elements: 1 << 28,
        ..PoolConfig::default()
    };
    let limit = (1 << 28) - 1;
    let error = Pool::new(config.clone()).unwrap_err();
    assert_eq!(error, PoolError::TooManyIndices { elements: 1 << 28, limit });
    assert!(error.to_string().contains("`pattern_elements` to at most 268435455"), "{error}");
    assert!(Pool::new(PoolConfig { pattern_elements: limit, ..config.clone() }).is_ok());
    // No run is longer than a buffer.
    assert!(Pool::new(PoolConfig { max_buffer_elements: 1000, ..config }).is_ok());
}

#[test]
fn unaligned_elements_are_an_error() {
    let error = VertexPool::<u16, u32>::new(PoolConfig::default()).unwrap_err();
    assert_eq!(error, PoolError::Unaligned { size_bytes: 2 });
    assert!(error.to_string().contains("a multiple of 4 bytes"), "{error}");
    assert!(VertexPool::<u32, [u8; 7]>::new(PoolConfig::default()).is_err());
    assert!(VertexPool::<[u8; 12], ()>::new(PoolConfig::default()).is_ok());
}

/// Tested with meshes in one piece, and in several pieces when the device accepts only some.
#[test]
fn a_refused_write_changes_nothing() {
    for access in [Access::Staged, Access::Direct] {
        for writes in 0..3 {
            let pieces = Placement::Buckets { elements: 4 };
            let split = PoolConfig {
                oversize: Oversize::Split,
                placement: pieces,
                ..PoolConfig::default()
            };
            let config = PoolConfig { min_buffer_elements: 100, ..split };
            let mut scene = Scene::new(config, access, 2);
            let mesh = scene.insert(&[&[1, 2], &[3; 8]], 1).unwrap();
            scene.insert(&[&[9; 3]], 2).unwrap();
            scene.draw();
            let before = scene.pool.stats();
            scene.gpu.set_writes_left(writes);
            let refused = Err(PoolError::Backend(BackendError::OutOfMemory {
                requested_bytes: if writes == 2 { 8 } else { 16 },
            }));
            assert_eq!(scene.replace(mesh, &[&[4; 10]], 3), refused);
            scene.gpu.set_writes_left(writes);
            assert_eq!(scene.insert(&[&[5; 10]], 4).map(|_| ()), refused);
            scene.gpu.set_writes_left(writes);
            assert_eq!(scene.write(Some(mesh), &[&[6; 10]], 5, 3).map(|_| ()), refused);
            scene.gpu.set_writes_left(u64::MAX);
            scene.pool.validate().unwrap();
            let after = scene.pool.stats();
            assert_eq!((after.used, after.free, after.meshes), (before.used, before.free, 2));
            scene.draw();
            scene.replace(mesh, &[&[4; 10]], 3).unwrap();
            scene.draw();
            scene.finish();
        }
    }
}

#[test]
fn a_refused_copy_leaves_the_mesh_unmoved() {
    for access in [Access::Staged, Access::Direct] {
        let mut scene = Scene::new(PoolConfig::fixed(100, 20), access, 1);
        let meshes: Vec<_> = (0..10).map(|n| scene.insert(&[&[n; 10]], n).unwrap()).collect();
        meshes.iter().step_by(2).for_each(|&mesh| scene.remove(mesh));
        (0..3).for_each(|_| scene.draw());
        let before = scene.pool.ranges();
        scene.gpu.set_writes_left(0);
        for _ in 0..3 {
            let moved = scene.defragment(&MoveBudget::default());
            assert_eq!((moved.moves, moved.is_done), (0, false));
            assert_eq!(moved.refused, Some(BackendError::OutOfMemory { requested_bytes: 40 }));
            assert_eq!(scene.pool.ranges(), before);
            scene.pool.validate().unwrap();
            scene.draw();
        }
        scene.gpu.set_writes_left(u64::MAX);
        for _ in 0..9 {
            assert_eq!(scene.defragment(&MoveBudget::default()).refused, None);
            scene.draw();
        }
        assert_eq!(scene.pool.stats().largest_free, 50);
        scene.finish();
    }
}

#[test]
fn handles_of_another_pool_are_stale() {
    let (mut pool, mut gpu) = fixed(10, Access::Direct);
    let (mut other, mut other_gpu) = fixed(10, Access::Direct);
    let mesh = pool.insert(&[1], &[1], 1, &mut gpu).unwrap();
    let foreign = other.insert(&[2], &[1], 2, &mut other_gpu).unwrap();
    assert_eq!(mesh.slot(), foreign.slot());
    assert_eq!(pool.remove(foreign), Err(PoolError::Stale));
    assert_eq!(pool.replace(foreign, &[3], &[1], 3, &mut gpu), Err(PoolError::Stale));
    assert!(pool.replacing_writer(foreign, 1, &mut gpu).is_err());
    assert_eq!((pool.data(foreign), other.data(foreign)), (None, Some(&2)));
    let mut list = DrawList::new();
    list.insert(foreign).unwrap();
    list.mask(&pool, |_| PartSet::ALL);
    assert!(list.commands(&pool).is_empty());
}

#[test]
fn lack_of_device_memory_is_an_error_and_a_later_frame_tries_again() {
    let config =
        PoolConfig { min_buffer_elements: 10, max_buffer_elements: 10, ..PoolConfig::default() };
    let mut scene = Scene::new(config, Access::Direct, 2);
    scene.gpu.set_limit_bytes(60);
    let mesh = scene.insert(&[&[1; 10]], 1).unwrap();
    let error = scene.insert(&[&[2; 10]], 2).unwrap_err();
    assert!(matches!(error, PoolError::Full { device_refused: true, .. }), "{error:?}");
    scene.draw();
    // A frame reads the old mesh, so the new one needs memory of its own.
    assert!(scene.replace(mesh, &[&[3; 9]], 3).is_err());
    // Within one frame there is only one request to the device.
    scene.gpu.set_limit_bytes(u64::MAX);
    assert!(scene.replace(mesh, &[&[3; 9]], 3).is_err());
    scene.draw();
    scene.replace(mesh, &[&[3; 9]], 3).unwrap();
    scene.insert(&[&[2; 10]], 2).unwrap();
    scene.draw();
    scene.finish();
}

#[test]
fn a_lost_device_is_an_error_and_leaves_the_pool_valid() {
    let mut scene = Scene::new(PoolConfig::default(), Access::Staged, 2);
    scene.insert(&[&[1; 10]], 1).unwrap();
    scene.draw();
    scene.gpu.lose();
    let too_much = vec![2; 70_000];
    let error = scene.insert(&[&too_much], 2).unwrap_err();
    assert_eq!(error, PoolError::Backend(BackendError::Lost));
    assert!(error.to_string().contains("the device is lost"));
    scene.pool.validate().unwrap();

    let mut empty = Pool::new(PoolConfig::default()).unwrap();
    assert!(empty.insert(&[], &[], 1, &mut scene.gpu).is_err());
    assert_eq!(empty.len(), 0);
    empty.validate().unwrap();
}

#[test]
fn one_list_has_a_hundred_thousand_draws() {
    let config =
        PoolConfig { placement: Placement::Buckets { elements: 3 }, ..PoolConfig::default() };
    let mut pool = Pool::new(config).unwrap();
    let mut gpu = SimulatedGpu::new(Access::Direct, 2);
    let mut list = DrawList::new();
    for n in 0..100_000 {
        list.insert(pool.insert(&[n, !n], &[1, 1], n, &mut gpu).unwrap()).unwrap();
    }
    list.mask(&pool, |data| PartSet::from_bits(if **data % 4 == 0 { 0 } else { 3 }));
    list.sort(&pool, |mesh| u64::from(!**mesh));
    pool.frame_submitted(gpu.submit(&pool, &[list.runs(&pool)]));
    list.mask(&pool, |_| PartSet::ALL);
    pool.frame_submitted(gpu.submit(&pool, &[list.runs(&pool)]));
    assert_eq!(pool.stats().last_frame.commands, 100_000);
    gpu.finish();
    let picture = |slots: &mut dyn Iterator<Item = u32>| {
        let mut picture = SimulatedPicture::new(4, 4);
        for n in slots {
            for element in [n, !n] {
                picture.push(&n.to_ne_bytes(), &element.to_ne_bytes());
            }
        }
        picture
    };
    let shown = [gpu.completed_picture().unwrap().1, gpu.completed_picture().unwrap().1];
    assert!(shown[0] == picture(&mut (0..100_000).rev().filter(|n| n % 4 != 0)));
    assert!(shown[1].sorted() == picture(&mut (0..100_000)).sorted());
    pool.validate().unwrap();
}

/// Ten million insertions and removals: nothing leaks, and no sum drifts.
#[test]
fn millions_of_insertions_and_removals_leave_an_empty_pool() {
    let rounds = 5_000_000;
    let placements = [
        Placement::Ranges,
        Placement::Buckets { elements: 40 },
        Placement::SizeClasses { histogram: vec![(10, 1), (39, 1)], config: Default::default() },
    ];
    for placement in placements {
        let config = PoolConfig { placement, min_buffer_elements: 2_000, ..PoolConfig::default() };
        let mut pool = Pool::new(config).unwrap();
        let mut random = Random::new(9);
        let mut live = Vec::new();
        let elements = [5; 40];
        for n in 0..rounds / 3 {
            let count = random.below(41);
            let elements = &elements[..count as usize];
            live.push(
                pool.insert(elements, &[count], n, &mut NullBackend(Access::Direct)).unwrap(),
            );
            if live.len() > 200 {
                let at = random.below(live.len() as u32) as usize;
                pool.remove(live.swap_remove(at)).unwrap();
            }
            if n % 50 == 0 {
                pool.frame_submitted(u64::from(n));
                pool.frames_completed(
                    u64::from(n).saturating_sub(100),
                    &mut NullBackend(Access::Direct),
                );
            }
        }
        pool.validate().unwrap();
        pool.clear();
        let spare_frames = u64::from(pool.config().spare_frames);
        (0..=spare_frames).for_each(|n| pool.frame_submitted(u64::from(rounds) + 1 + n));
        pool.frames_completed(u64::MAX, &mut NullBackend(Access::Direct));
        assert_eq!((pool.stats().capacity, pool.len(), pool.ranges()), (0, 0, vec![]));
    }
}
