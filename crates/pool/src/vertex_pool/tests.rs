use alloc::{string::ToString, vec, vec::Vec};

use super::*;
use crate::{
    backend::{Access, BackendError},
    config::{Oversize, Placement},
    defragmenter::PlannedMove,
    draw_list::DrawList,
    error::EvictionCandidates,
    parts::{PartSet, RunTable},
    simulated::{SimulatedGpu, SimulatedPicture},
    stats::RangeState,
};

mod article_defects;
mod defragment;
mod faults;
mod overlapping;
mod programs;
mod ranges;
mod reconfigure;
mod scene;
mod shared_gpu;

use scene::Scene;

type Pool = VertexPool<u32, u32>;

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves a mesh to a buffer if it fits, creating the buffer if necessary. Returns the mesh's
    /// buffer.
    pub(crate) fn move_to_buffer(
        &mut self,
        mesh: MeshHandle,
        number: u16,
        backend: &mut impl Backend,
    ) -> u32 {
        let Self { meshes, storage, frames, defragmenter, .. } = self;
        let pieces = meshes.get(mesh).map(|it| storage.pieces.spans(it.location(), it.len()));
        let Some((from, held)) = pieces.and_then(|mut pieces| pieces.next()) else {
            return number.into();
        };
        let count = held.end - held.start;
        while storage.buffers.get(number).is_none() {
            if storage.buffers.add(1, frames.current(), backend) != Ok(true) {
                break;
            }
        }
        let buffer = storage.buffers.get_mut(number).filter(|_| from.buffer != number);
        let Some(to) = buffer.and_then(|buffer| buffer.allocate(count)) else {
            return from.buffer.into();
        };
        let mut call = defragmenter.begin(&MoveBudget { bytes: u64::MAX, moves: u32::MAX }, frames);
        let planned = PlannedMove::new(mesh.slot(), from, to, count);
        defragmenter.carry_out(planned, &mut call, (storage, meshes, frames), backend);
        number.into()
    }
}

/// Creates a pool of one buffer, with its GPU.
fn fixed(elements: u32, access: Access) -> (Pool, SimulatedGpu) {
    (Pool::new(PoolConfig::fixed(elements, 64)).unwrap(), SimulatedGpu::new(access, 2))
}

#[test]
fn a_full_pool_keeps_the_old_mesh_and_lists_eviction_candidates() {
    let mut scene = Scene::new(PoolConfig::fixed(10, 64), Access::Staged, 2);
    let old = scene.insert(&[&[1, 2, 3]], 1).unwrap();
    scene.draw();
    let young = scene.insert(&[&[4, 5, 6]], 2).unwrap();
    let error = scene.replace(young, &[&[7; 8]], 3).unwrap_err();
    let named = EvictionCandidates([Some(old), Some(young), None, None]);
    assert_eq!(
        error,
        PoolError::Full {
            requested: 8,
            largest_free: 4,
            total_free: 4,
            waiting: 0,
            device_refused: false,
            least_recently_drawn: named,
        }
    );
    assert!(error.to_string().contains("8 elements requested, largest free range 4"));
    scene.remove(old);
    // A second error within the frame lists only live meshes.
    let again = scene.pool.insert(&[0; 9], &[9], 9, &mut scene.gpu).unwrap_err();
    let PoolError::Full { least_recently_drawn, .. } = again else { panic!("{again:?}") };
    assert!(least_recently_drawn.iter().eq([young]));
    scene.replace(young, &[&[7; 4]], 3).unwrap();
    scene.finish();
}

/// The eviction candidates do not include the mesh that did not fit.
#[test]
fn a_refused_mesh_is_not_an_eviction_candidate() {
    let mut gpu = SimulatedGpu::new(Access::Staged, 1);
    let mut pool = Pool::new(PoolConfig::fixed(8, 8)).unwrap();
    let mesh = pool.insert(&[1; 6], &[6], 0, &mut gpu).unwrap();
    for _ in 0..2 {
        let Err(PoolError::Full { least_recently_drawn, .. }) =
            pool.insert(&[2; 3], &[3], 0, &mut gpu)
        else {
            panic!("the mesh fits")
        };
        assert!(least_recently_drawn.iter().eq([mesh]));
    }
}

#[test]
fn drawn_meshes_are_not_the_first_eviction_candidates() {
    let mut scene = Scene::new(PoolConfig::fixed(10, 64), Access::Staged, 2);
    let meshes: Vec<_> = (0..5).map(|n| scene.insert(&[&[n, n]], n).unwrap()).collect();
    let pool = &mut scene.pool;
    pool.frame_submitted(1);
    for shown in [3, 1] {
        pool.emit_commands(meshes[shown], PartSet::ALL, &mut RunTable::default(), |_, _| {});
        let next = pool.frames.current();
        pool.frame_submitted(next);
    }
    let error = pool.insert(&[1], &[1], 1, &mut scene.gpu).unwrap_err();
    let PoolError::Full { least_recently_drawn, .. } = error else { panic!("{error:?}") };
    assert!(least_recently_drawn.iter().eq([0, 2, 4, 3].map(|n| meshes[n])));
}

#[test]
fn retired_ranges_wait_for_the_frames_that_may_read_them() {
    let (mut pool, mut gpu) = fixed(4, Access::Direct);
    let mesh = pool.insert(&[1, 2, 3], &[3], 0, &mut gpu).unwrap();
    // No frame has read the range, so it is free at once.
    pool.remove(mesh).unwrap();
    let mesh = pool.insert(&[4, 5, 6], &[3], 0, &mut gpu).unwrap();
    pool.frames.note_commands_returned(1);
    pool.remove(mesh).unwrap();
    assert_eq!((pool.stats().waiting, pool.stats().free), (3, 1));
    for (submitted, completed, free) in [(1, 0, 1), (2, 0, 1), (3, 1, 4)] {
        pool.frame_submitted(submitted);
        pool.frames_completed(completed, &mut gpu);
        assert_eq!(pool.stats().free, free);
    }
    let error = pool.insert(&[0; 5], &[5], 0, &mut gpu).unwrap_err();
    assert_eq!(error, PoolError::MeshTooLarge { elements: 5, limit: 4 });
    pool.validate().unwrap();
}

#[test]
fn frames_that_were_not_submitted_do_not_complete() {
    let (mut pool, mut gpu) = fixed(3, Access::Direct);
    let mesh = pool.insert(&[1, 2, 3], &[3], 0, &mut gpu).unwrap();
    pool.frames.note_commands_returned(1);
    pool.remove(mesh).unwrap();
    pool.frames_completed(u64::MAX, &mut gpu);
    assert_eq!(pool.stats().waiting, 3);
    pool.frame_submitted(1);
    pool.frames_completed(u64::MAX, &mut gpu);
    assert_eq!(pool.stats().waiting, 0);
}

#[test]
fn a_mesh_of_equal_size_reuses_its_range_only_where_safe() {
    for access in [Access::Staged, Access::Direct] {
        let mut scene = Scene::new(PoolConfig::fixed(6, 64), access, 2);
        let mesh = scene.insert(&[&[1, 2, 3]], 1).unwrap();
        scene.draw();
        let first = scene.pool.meshes.get(mesh).unwrap().location().span;
        scene.replace(mesh, &[&[4], &[5, 6]], 2).unwrap();
        let is_same = scene.pool.meshes.get(mesh).unwrap().location().span == first;
        assert_eq!(is_same, access == Access::Staged);
        scene.draw();
        scene.finish();
    }
}

#[test]
fn buffers_are_added_and_released_after_the_spare_frames() {
    let config = PoolConfig {
        min_buffer_elements: 10,
        max_buffer_elements: 40,
        max_buffers: 3,
        spare_frames: 4,
        ..PoolConfig::default()
    };
    let mut scene = Scene::new(config, Access::Direct, 2);
    assert_eq!(scene.pool.stats().buffers, 0);
    let meshes: Vec<_> = (0..3).map(|n| scene.insert(&[&[n; 10]], n).unwrap()).collect();
    assert_eq!((scene.pool.stats().buffers, scene.pool.stats().capacity), (3, 30));
    assert!(matches!(scene.insert(&[&[0]], 0), Err(PoolError::Full { .. })));
    scene.draw();
    scene.remove(meshes[1]);
    // Within the spare frames the buffer is reused and not created again.
    for _ in 0..3 {
        scene.draw();
    }
    let again = scene.insert(&[&[7; 10]], 7).unwrap();
    scene.draw();
    assert_eq!(scene.gpu.stats().created, 3);
    scene.remove(again);
    for _ in 0..10 {
        scene.draw();
    }
    assert_eq!((scene.pool.stats().buffers, scene.gpu.stats().destroyed), (2, 1));
    // A larger mesh gets a buffer of its own size.
    scene.insert(&[&[8; 33]], 8).unwrap();
    assert_eq!(scene.pool.stats().capacity, 53);
    scene.pool.clear();
    for _ in 0..10 {
        scene.draw();
    }
    assert_eq!((scene.pool.stats().capacity, scene.gpu.used_bytes()), (0, 0));
    scene.pool.validate().unwrap();
}

#[test]
fn empty_buffers_are_used_last() {
    let config =
        PoolConfig { min_buffer_elements: 10, max_buffer_elements: 10, ..PoolConfig::default() };
    let mut scene = Scene::new(config, Access::Staged, 2);
    let first = scene.insert(&[&[1; 10]], 1).unwrap();
    scene.insert(&[&[2; 6]], 2).unwrap();
    scene.remove(first);
    let small = scene.insert(&[&[3; 4]], 3).unwrap();
    assert_eq!(scene.pool.meshes.get(small).unwrap().location().span.buffer, 1);
}

#[test]
fn oversize_meshes_are_an_error_or_split() {
    let buckets = PoolConfig {
        placement: Placement::Buckets { elements: 8 },
        pattern_elements: 3,
        ..PoolConfig::fixed(40, 64)
    };
    let mut refusing = Scene::new(buckets.clone(), Access::Direct, 2);
    let error = refusing.insert(&[&[1; 9]], 1).unwrap_err();
    assert_eq!(error, PoolError::MeshTooLarge { elements: 9, limit: 8 });

    let mut scene =
        Scene::new(PoolConfig { oversize: Oversize::Split, ..buckets }, Access::Direct, 2);
    let long: Vec<u32> = (0..20).collect();
    let mesh = scene.insert(&[&long[..7], &long[7..9], &long[9..20]], 1).unwrap();
    scene.insert(&[&[100, 101]], 2).unwrap();
    for _ in 0..4 {
        scene.draw();
    }
    // Three buckets of five are used, and one more; one bucket is left for a mesh of 16.
    assert!(matches!(scene.insert(&[&[5; 16]], 5), Err(PoolError::Full { .. })));
    scene.pool.validate().unwrap();
    scene.remove(mesh);
    for _ in 0..4 {
        scene.draw();
    }
    scene.insert(&[&[5; 32]], 5).unwrap();
    scene.finish();
}

#[test]
fn the_table_of_draw_data_grows_and_keeps_its_content() {
    let config = PoolConfig { first_slots: 2, max_slots: 9, ..PoolConfig::fixed(100, 0) };
    let mut scene = Scene::new(config, Access::Staged, 2);
    for n in 0..9 {
        scene.insert(&[&[n]], n * 10).unwrap();
        scene.draw();
    }
    assert_eq!(scene.insert(&[&[1]], 1), Err(PoolError::SlotsFull { capacity: 9 }));
    assert_eq!(scene.gpu.stats().table_resizes, 4);
    scene.finish();
}

#[test]
fn data_changes_without_the_elements() {
    let mut scene = Scene::new(PoolConfig::fixed(10, 4), Access::Direct, 2);
    let mesh = scene.insert(&[&[1, 2]], 5).unwrap();
    scene.draw();
    let written = scene.gpu.stats().written_bytes;
    scene.set_data(mesh, 6);
    scene.draw();
    assert_eq!(scene.gpu.stats().written_bytes, written);
    scene.finish();
}

#[test]
fn statistics_add_up() {
    let config =
        PoolConfig { placement: Placement::Buckets { elements: 8 }, ..PoolConfig::fixed(40, 64) };
    let mut scene = Scene::new(config, Access::Direct, 2);
    let first = scene.insert(&[&[1; 6]], 1).unwrap();
    scene.insert(&[&[2; 8]], 2).unwrap();
    scene.draw();
    scene.remove(first);
    let stats = scene.pool.stats();
    assert_eq!((stats.used, stats.waiting, stats.wasted, stats.free), (8, 6, 2, 24));
    assert_eq!((stats.capacity_bytes, stats.used_bytes, stats.largest_free), (160, 32, 8));
    assert_eq!(stats.internal_fragmentation(), 2.0 / 16.0);
    assert_eq!(stats.occupancy(), 0.2);
    // Elements, per-draw data, and the table once again.
    assert_eq!(stats.last_frame.uploaded_bytes, 14 * 4 + 2 * 4 + 4);
    let states: Vec<_> = scene.pool.ranges().into_iter().map(|p| (p.elements, p.state)).collect();
    assert_eq!(states[0], (0..6, RangeState::Waiting));
    assert_eq!(states[3], (16..40, RangeState::Free));
    let empty = Pool::new(PoolConfig::default()).unwrap();
    assert_eq!(empty.stats().external_fragmentation(), 0.0);
    assert_eq!(empty.ranges(), []);
}

/// Counts the commands of visible non-empty parts; adjacent parts share one command.
#[test]
fn statistics_count_commands_and_parts() {
    for access in [Access::Staged, Access::Direct] {
        let (mut pool, mut gpu) = fixed(100, access);
        let mut list = DrawList::new();
        let first = pool.insert(&[1, 2, 3], &[1, 0, 2], 0, &mut gpu).unwrap();
        let second = pool.insert(&[4, 5], &[1, 1], 1, &mut gpu).unwrap();
        let empty = pool.insert(&[], &[0, 0], 2, &mut gpu).unwrap();
        [first, second, empty].into_iter().for_each(|mesh| list.insert(mesh).unwrap());
        let one_of_first =
            |&data: &u32| if data == 0 { PartSet::EMPTY.with(0) } else { PartSet::ALL };
        list.mask(&pool, |mesh| one_of_first(mesh));
        pool.frame_submitted(gpu.submit(&pool, &[list.runs(&pool)]));
        assert_eq!((pool.stats().last_frame.commands, pool.stats().parts), (2, 4));
        pool.frame_submitted(gpu.submit(&pool, &[]));
        assert_eq!((pool.stats().last_frame.commands, pool.stats().parts), (0, 4));
        // A mesh with equal elements and fewer parts, then one with more parts.
        pool.replace(first, &[1, 2, 3], &[3], 0, &mut gpu).unwrap();
        assert_eq!(pool.stats().parts, 3);
        pool.replace(empty, &[1, 2, 3], &[1, 1, 1], 0, &mut gpu).unwrap();
        assert_eq!(pool.stats().parts, 6);
        pool.remove(second).unwrap();
        assert_eq!(pool.stats().parts, 4);
        pool.validate().unwrap();
        pool.clear();
        assert_eq!(pool.stats().parts, 0);
    }
}
