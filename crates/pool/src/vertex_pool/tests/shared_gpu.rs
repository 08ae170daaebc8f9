//! Pools that share a GPU: the device numbers of a pool's frames do not start at 1 and have gaps.

use super::*;

/// Number of the tested pool on the GPU; the other pool has number 0.
const PART: usize = 1;
const DATA_BYTES: usize = size_of::<u32>();

/// Draws `frames_before` frames with another pool. Then this pool moves meshes in its first frame and
/// inserts new meshes while that frame is in flight. Returns the elements that the frame drew, and
/// whether each drawn mesh had its own elements.
fn first_frame_after(frames_before: u32, spare_frames: u32) -> (bool, Vec<u32>) {
    let mut gpu = SimulatedGpu::new(Access::Direct, 2);
    let config = PoolConfig {
        min_buffer_elements: 16,
        max_buffer_elements: 16,
        max_buffers: 2,
        spare_frames,
        ..PoolConfig::default()
    };
    let mut other = Pool::new(config.clone()).unwrap();
    for _ in 0..frames_before {
        let frame = gpu.submit(&other, &[]);
        other.frame_submitted(frame);
    }
    let mut pool = Pool::new(config).unwrap();
    let mut list = DrawList::new();
    let insert = |pool: &mut Pool, gpu: &mut SimulatedGpu, n: u32| {
        pool.insert(&[n; 4], &[4], n, &mut gpu.part(PART, DATA_BYTES))
    };
    let meshes: Vec<_> = (0..8).map(|n| insert(&mut pool, &mut gpu, n).unwrap()).collect();
    [1, 3, 5, 6, 7].into_iter().for_each(|gone| pool.remove(meshes[gone]).unwrap());
    [0, 2, 4].into_iter().for_each(|kept| list.insert(meshes[kept]).unwrap());
    pool.frames_completed(gpu.completed(), &mut gpu.part(PART, DATA_BYTES));
    let moved = pool.defragment(&MoveBudget::default(), &mut gpu.part(PART, DATA_BYTES));
    assert!(moved.moves > 0);
    gpu.draw(PART, &pool, &[list.runs(&pool)]);
    let frame = gpu.end_frame();
    pool.frame_submitted(frame);
    let completed = gpu.completed();
    assert!(completed < frame);
    pool.frames_completed(completed, &mut gpu.part(PART, DATA_BYTES));
    // Some may not fit before the frame has completed.
    for n in 100..103 {
        let _ = insert(&mut pool, &mut gpu, n);
    }
    gpu.finish();
    let pictures = core::iter::from_fn(|| gpu.completed_picture());
    let (_, picture) = pictures.last().unwrap();
    let drawn = || (0..picture.len()).map(|nth| picture.drawn(nth));
    let elements = drawn().map(|(_, it)| u32::from_ne_bytes(it.try_into().unwrap())).collect();
    (drawn().all(|(data, element)| data == element), elements)
}

#[test]
fn the_first_frame_of_a_gpu_reads_the_content_at_its_submission() {
    assert_eq!(first_frame_after(0, 100), (true, [[0; 4], [2; 4], [4; 4]].concat()));
}

#[test]
fn a_pool_created_late_does_not_overwrite_what_its_first_frame_reads() {
    for frames_before in [1, 5, 1000] {
        let (is_right, elements) = first_frame_after(frames_before, 100);
        assert!(is_right, "after {frames_before} frames: {elements:?}");
    }
}

#[test]
fn a_pool_created_late_keeps_the_buffers_that_its_first_frame_reads() {
    for frames_before in [1, 5, 1000] {
        let (is_right, elements) = first_frame_after(frames_before, 0);
        assert!(is_right, "after {frames_before} frames: {elements:?}");
    }
}

/// A range freed while frame 9 of the device was built is free when frame 9 has completed, and not
/// before. Frames that the pool has missed do not matter.
#[test]
fn retired_ranges_wait_for_the_device_frame_that_reads_them() {
    let (mut pool, mut gpu) = fixed(4, Access::Direct);
    let mesh = pool.insert(&[1, 2, 3], &[3], 0, &mut gpu).unwrap();
    pool.frame_submitted(3);
    pool.frames.note_commands_returned(1);
    pool.remove(mesh).unwrap();
    pool.frames_completed(8, &mut gpu);
    pool.frame_submitted(9);
    for (completed, waiting) in [(8, 3), (9, 0)] {
        pool.frames_completed(completed, &mut gpu);
        assert_eq!(pool.stats().waiting, waiting, "{completed}");
    }
    pool.frame_submitted(9);
    assert_eq!(pool.frames.current(), 3, "a number that was reported before changes nothing");
}

/// If completion is not reported, the pool stores a bounded number of frames, and still retains all
/// frames that a retired range waits for.
#[test]
fn frames_that_never_complete_take_no_memory() {
    let (mut pool, mut gpu) = fixed(4, Access::Direct);
    let mesh = pool.insert(&[1, 2, 3], &[3], 0, &mut gpu).unwrap();
    for frame in 1..1000 {
        if frame == 500 {
            pool.frames.note_commands_returned(1);
            pool.remove(mesh).unwrap();
        }
        pool.frame_submitted(2 * frame);
    }
    assert!(pool.frames.is_short());
    pool.frames_completed(998, &mut gpu);
    assert_eq!(pool.stats().waiting, 3);
    pool.frames_completed(1998, &mut gpu);
    assert_eq!(pool.stats().waiting, 0);
}
