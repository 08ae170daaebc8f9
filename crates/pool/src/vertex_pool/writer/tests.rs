use alloc::{vec, vec::Vec};

use drystone_testing::Random;

use super::*;
use crate::{
    backend::{Access, BackendError},
    config::{Oversize, PoolConfig},
    draw_list::DrawList,
    simulated::{SimulatedGpu, SimulatedPicture},
};

type Pool = VertexPool<u32, u32>;

/// Returns the elements drawn by a list of this one mesh.
fn drawn(pool: &mut Pool, gpu: &mut SimulatedGpu, mesh: MeshHandle) -> Vec<u32> {
    let mut list = DrawList::new();
    list.insert(mesh).unwrap();
    let (runs, commands) = list.runs(pool);
    pool.frame_submitted(gpu.submit(pool, &[(runs, commands)]));
    gpu.finish();
    let (frame, picture) = gpu.completed_picture().unwrap();
    pool.frames_completed(frame, gpu);
    let element = |nth| u32::from_ne_bytes(picture.drawn(nth).1.try_into().unwrap());
    (0..picture.len()).map(element).collect()
}

fn configs() -> Vec<PoolConfig> {
    let ranges = PoolConfig { oversize: Oversize::Split, ..PoolConfig::fixed(100_000, 9) };
    let buckets = Placement::Buckets { elements: 7_000 };
    let classes =
        Placement::SizeClasses { histogram: vec![(30_000, 1), (9, 1)], config: Default::default() };
    vec![
        ranges.clone(),
        PoolConfig { placement: buckets, ..ranges.clone() },
        PoolConfig { placement: classes, ..ranges.clone() },
        // Split into pieces, because no buffer is larger.
        PoolConfig {
            min_buffer_elements: 9_000,
            max_buffer_elements: 9_000,
            max_buffers: 9,
            ..ranges
        },
    ]
}

#[test]
fn written_elements_are_drawn_and_the_rest_is_released() {
    for (config, access) in
        configs().iter().flat_map(|c| [(c, Access::Staged), (c, Access::Direct)])
    {
        let mut gpu = SimulatedGpu::new(access, 1);
        let mut pool = Pool::new(config.clone()).unwrap();
        // Several blocks, so that some are written before the size is final.
        let mut writer = pool.writer(60_000, &mut gpu).unwrap();
        for n in 0..20_000 {
            writer.push(n).unwrap();
        }
        writer.end_part().unwrap();
        let more: Vec<u32> = (20_000..30_000).collect();
        writer.extend(&more).unwrap();
        assert_eq!(writer.remaining(), 30_000);
        let mesh = writer.finish(1).unwrap();
        pool.validate().unwrap();
        let stats = pool.stats();
        assert_eq!(stats.used, 30_000);
        let bucket =
            if let Placement::Buckets { elements } = config.placement { elements } else { 1 };
        assert!(stats.wasted < bucket.into(), "{config:?}: {stats:?}");
        assert!(drawn(&mut pool, &mut gpu, mesh).into_iter().eq(0..30_000), "{config:?}");
    }
}

#[test]
fn a_writer_never_exceeds_its_reservation() {
    let mut gpu = SimulatedGpu::new(Access::Direct, 1);
    let mut pool = Pool::new(PoolConfig::fixed(10, 9)).unwrap();
    let neighbour = pool.insert(&[7; 5], &[5], 1, &mut gpu).unwrap();
    let mut writer = pool.writer(3, &mut gpu).unwrap();
    writer.extend(&[1, 2]).unwrap();
    assert_eq!(writer.extend(&[3, 4]), Err(PoolError::Overrun { elements: 3 }));
    for _ in 0..MAX_PARTS {
        writer.end_part().unwrap();
    }
    assert!(writer.end_part().is_err() && writer.push(3).is_err());
    let mesh = writer.finish(2).unwrap();
    assert_eq!(drawn(&mut pool, &mut gpu, mesh), [1, 2]);
    assert_eq!(drawn(&mut pool, &mut gpu, neighbour), [7; 5]);
    assert!(matches!(pool.writer(4, &mut gpu), Err(PoolError::Full { largest_free: 3, .. })));
}

#[test]
fn a_dropped_writer_leaves_the_pool_unchanged() {
    for config in configs() {
        let mut gpu = SimulatedGpu::new(Access::Direct, 1);
        let mut pool = Pool::new(config).unwrap();
        let mesh = pool.insert(&[1, 2], &[2], 1, &mut gpu).unwrap();
        let before = pool.ranges();
        let mut writer = pool.replacing_writer(mesh, 50_000, &mut gpu).unwrap();
        writer.extend(&vec![9; 40_000]).unwrap();
        drop(writer);
        pool.validate().unwrap();
        let after = pool.ranges();
        assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
        assert_eq!(drawn(&mut pool, &mut gpu, mesh), [1, 2]);
    }
}

/// Refused elements are not added, and an unfinished mesh leaves nothing behind.
#[test]
fn a_writer_does_not_add_refused_elements() {
    for (config, access) in
        configs().iter().flat_map(|c| [(c, Access::Staged), (c, Access::Direct)])
    {
        let mut gpu = SimulatedGpu::new(access, 1);
        let mut pool = Pool::new(config.clone()).unwrap();
        gpu.set_writes_left(1);
        let mut writer = pool.writer(60_000, &mut gpu).unwrap();
        let all: Vec<u32> = (0..60_000).collect();
        let added = all.chunks(100).take_while(|chunk| writer.extend(chunk).is_ok()).count() * 100;
        assert_eq!(writer.remaining() as usize, 60_000 - added);
        let finished = writer.finish(1);
        let refused = matches!(finished, Err(PoolError::Backend(BackendError::OutOfMemory { .. })));
        // A mesh that is collected first needs one write.
        let is_one_write = matches!(config.placement, Placement::SizeClasses { .. });
        assert_eq!(refused, !is_one_write, "{config:?}");
        pool.validate().unwrap();
        assert_eq!(pool.stats().used, if refused { 0 } else { 60_000 });
    }
}

#[test]
fn a_writer_without_a_slot_frees_its_reservation() {
    let mut gpu = SimulatedGpu::new(Access::Staged, 1);
    let mut pool = Pool::new(PoolConfig::fixed(10, 0)).unwrap();
    let mut writer = pool.writer(5, &mut gpu).unwrap();
    writer.push(1).unwrap();
    assert_eq!(writer.finish(1), Err(PoolError::SlotsFull { capacity: 0 }));
    assert_eq!(pool.stats().free, 10);
    pool.validate().unwrap();
}

/// Fills reserved spaces and commits parts of them. Returns the committed elements of each part.
fn fill(random: &mut Random, writer: &mut MeshWriter<'_, u32, u32>) -> Vec<Vec<u32>> {
    let mut parts = vec![Vec::new()];
    while parts.len() <= MAX_PARTS {
        let space = random.below(9_000) as usize;
        let count = random.below(space as u32 + 1) as usize;
        let first = random.bits() as u32;
        let reserved = writer.reserve(space);
        assert_eq!(reserved.len(), space);
        reserved.fill(!first);
        (first..).zip(&mut reserved[..count]).for_each(|(n, element)| *element = n);
        if count > writer.remaining() as usize {
            assert!(matches!(writer.commit(count), Err(PoolError::Overrun { .. })));
        } else {
            writer.commit(count).unwrap();
            parts.last_mut().unwrap().extend(first..first + count as u32);
        }
        if random.below(4) == 0 {
            writer.end_part().unwrap();
            parts.push(Vec::new());
        }
        if random.below(9) == 0 && writer.part() < MAX_PARTS && writer.remaining() > 0 {
            writer.push(7).unwrap();
            parts.last_mut().unwrap().push(7);
        }
    }
    parts.pop();
    parts
}

/// Draws all meshes of a pool in the order of their slots and returns the picture.
fn picture(pool: &mut Pool, gpu: &mut SimulatedGpu) -> SimulatedPicture {
    let mut list = DrawList::new();
    pool.iter().for_each(|(mesh, _)| list.insert(mesh).unwrap());
    list.sort(pool, |_| 0);
    let (runs, commands) = list.runs(pool);
    pool.frame_submitted(gpu.submit(pool, &[(runs, commands)]));
    gpu.finish();
    let (frame, picture) = gpu.completed_picture().unwrap();
    pool.frames_completed(frame, gpu);
    picture
}

#[test]
fn meshes_filled_in_place_equal_gathered_and_copied_ones() {
    for (seed, (config, access)) in
        (1..).zip(configs().iter().flat_map(|c| [(c, Access::Staged), (c, Access::Direct)]))
    {
        let config = PoolConfig { max_buffers: 40, ..config.clone() };
        let mut random = Random::new(seed);
        let mut gpus = [SimulatedGpu::new(access, 1), SimulatedGpu::new(access, 1)];
        let [gpu, twin_gpu] = &mut gpus;
        let (mut pool, mut twin) = (Pool::new(config.clone()).unwrap(), Pool::new(config).unwrap());
        let mut meshes = Vec::new();
        for n in 0..30 {
            let replaced = meshes.get(n % 8).copied();
            let max_elements = 20_000 + random.below(9_000);
            let mut writer = match replaced {
                Some((mesh, _)) => pool.replacing_writer(mesh, max_elements, gpu).unwrap(),
                None => pool.writer(max_elements, gpu).unwrap(),
            };
            let parts = fill(&mut random, &mut writer);
            let mesh = writer.finish(n as u32).unwrap();
            let counts: Vec<u32> = parts.iter().map(|part| part.len() as u32).collect();
            match replaced {
                Some((_, mesh)) => {
                    twin.replace(mesh, &parts.concat(), &counts, n as u32, twin_gpu).unwrap();
                }
                None => {
                    let copy = twin.insert(&parts.concat(), &counts, n as u32, twin_gpu).unwrap();
                    meshes.push((mesh, copy));
                }
            }
            pool.validate().unwrap();
            assert!(picture(&mut pool, gpu) == picture(&mut twin, twin_gpu), "mesh {n}");
        }
    }
}

/// Counts the bytes that a writer passes to the backend for a mesh of 12,000 elements.
fn copied_bytes(config: PoolConfig, access: Access, is_pushed: bool) -> u64 {
    let mut gpu = SimulatedGpu::new(access, 1);
    let mut pool = Pool::new(config).unwrap();
    let mut writer = pool.writer(30_000, &mut gpu).unwrap();
    if is_pushed {
        writer.push(0).unwrap();
    }
    for n in u32::from(is_pushed)..12_000 {
        writer.reserve(9)[0] = n;
        writer.commit(1).unwrap();
    }
    let mesh = writer.finish(1).unwrap();
    let copied = gpu.stats().written_bytes;
    assert!(drawn(&mut pool, &mut gpu, mesh).into_iter().eq(0..12_000));
    copied
}

#[test]
fn reserved_space_is_the_mapped_buffer_itself() {
    let ranges = PoolConfig::fixed(100_000, 9);
    let buckets =
        PoolConfig { placement: Placement::Buckets { elements: 40_000 }, ..ranges.clone() };
    for config in [ranges.clone(), buckets] {
        assert_eq!(copied_bytes(config.clone(), Access::Direct, false), 0);
        assert_eq!(copied_bytes(config, Access::Staged, false), 48_000);
    }
    let [_, _, classes, split]: [PoolConfig; 4] = configs().try_into().unwrap();
    for config in [classes, split] {
        assert_eq!(copied_bytes(config, Access::Direct, false), 48_000);
    }
    assert_eq!(copied_bytes(ranges, Access::Direct, true), 48_000);
}
