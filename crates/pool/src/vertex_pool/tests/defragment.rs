use alloc::{vec, vec::Vec};

use drystone_testing::Random;

use super::*;
use crate::{backend::NullBackend, defragmenter::IDLE_FRAMES};

/// Elements per buffer, and number of buffers.
const BUFFER: u32 = 1 << 17;
const BUFFERS: u32 = 6;
/// Number of frames that the GPU is behind.
const FRAMES_IN_FLIGHT: u64 = 2;

fn config(placement: Placement) -> PoolConfig {
    PoolConfig {
        min_buffer_elements: BUFFER,
        max_buffer_elements: BUFFER,
        max_buffers: BUFFERS as u16,
        placement,
        spare_frames: 4,
        ..PoolConfig::default()
    }
}

/// A pool under churn, its meshes and its frames in flight.
struct Churn {
    pool: Pool,
    backend: NullBackend,
    meshes: Vec<(MeshHandle, u32)>,
    /// Sizes of future meshes. A replacement swaps one with a live size, so the fill level is
    /// constant.
    sizes: Vec<u32>,
    random: Random,
    frame: u64,
    elements: Vec<u32>,
}

impl Churn {
    fn new(placement: Placement, access: Access) -> Self {
        Self {
            pool: Pool::new(config(placement)).unwrap(),
            backend: NullBackend(access),
            meshes: Vec::new(),
            sizes: Vec::new(),
            random: Random::new(11),
            frame: 0,
            elements: vec![7; 4_000],
        }
    }

    /// Returns a random size; most are small.
    fn size(&mut self) -> u32 {
        let doublings = self.random.below(7);
        30 + self.random.below(30 << doublings)
    }

    fn insert(&mut self) {
        let size = self.size();
        let elements = &self.elements[..size as usize];
        let mesh = self.pool.insert(elements, &[size], 0, &mut self.backend).unwrap();
        self.meshes.push((mesh, size));
    }

    /// Fills all buffers to `percent` of their elements.
    fn fill(&mut self, percent: u64) {
        while self.pool.stats().used * 100 < u64::from(BUFFER * BUFFERS) * percent {
            self.insert();
        }
        self.sizes = (0..50).map(|_| self.size()).collect();
    }

    /// Replaces a random mesh by one of another size.
    fn replace(&mut self) {
        let at = self.random.below(self.meshes.len() as u32) as usize;
        let next = self.random.below(self.sizes.len() as u32) as usize;
        let size = self.sizes[next];
        let elements = &self.elements[..size as usize];
        let (mesh, old_size) = &mut self.meshes[at];
        match self.pool.replace(*mesh, elements, &[size], 0, &mut self.backend) {
            Ok(()) => self.sizes[next] = core::mem::replace(old_size, size),
            // No gap is large enough at the moment, as can happen in a full pool.
            Err(error) => {
                assert!(matches!(error, PoolError::Full { .. }), "{error:?}");
            }
        }
    }

    fn end_frame(&mut self) {
        self.frame += 1;
        self.pool.frames.note_commands_returned(1);
        self.pool.frame_submitted(self.frame);
        let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
        self.pool.frames_completed(completed, &mut self.backend);
    }

    /// Defragments in each frame until nothing is left to do. Returns the number of frames.
    fn defragment(&mut self, budget: &MoveBudget, max_frames: u64) -> u64 {
        for frame in 1..=max_frames {
            let moved = self.pool.defragment(budget, &mut self.backend);
            assert!(moved.bytes <= budget.bytes && moved.moves <= budget.moves, "{moved:?}");
            self.end_frame();
            let moved_bytes = self.pool.stats().last_frame.moved_bytes;
            assert_eq!(moved_bytes, moved.bytes);
            if moved.is_done {
                return frame;
            }
        }
        panic!("{max_frames} frames were not enough: {:?}", self.pool.stats());
    }

    /// Checks that all buffers but one are full, and that the free elements of that one are
    /// contiguous.
    fn check_goal(&self) {
        self.pool.validate().unwrap();
        let mut rest = Vec::new();
        for buffer in self.pool.storage.buffers.iter() {
            let free = buffer.space.free_space(buffer.used + buffer.waiting);
            if u64::from(free.total) * 20 > u64::from(buffer.elements) {
                rest.push(free);
            }
        }
        assert!(rest.len() <= 1, "{} buffers are not full to 95 %", rest.len());
        for free in rest {
            assert!(u64::from(free.largest) * 20 >= u64::from(free.total) * 19, "{free:?}");
        }
    }
}

/// A million replacements at 85 % full, comparable to an hour of edits.
#[test]
fn after_a_million_replacements_buffers_are_full_or_released() {
    for access in [Access::Staged, Access::Direct] {
        let mut churn = Churn::new(Placement::Ranges, access);
        churn.fill(85);
        for n in 0..1_000_000 {
            churn.replace();
            if n % 20 == 0 {
                churn.end_frame();
            }
        }
        churn.end_frame();
        let before = churn.pool.stats();
        assert!(before.occupancy() > 0.8 && before.buffers == BUFFERS, "{before:?}");
        let budget = MoveBudget { bytes: 64 << 10, moves: 256 };
        // Each mesh moves at most twice, and some frames only wait for frames in flight.
        let frames = 2 * before.used_bytes / budget.bytes + 40;
        let taken = churn.defragment(&budget, frames);
        churn.check_goal();
        for _ in 0..10 {
            churn.end_frame();
        }
        // Retired allocations are free by now, and the result is still done.
        churn.check_goal();
        let after = churn.pool.stats();
        std::println!("{access:?}: {taken} of {frames} frames, {} buffers", after.buffers);
        assert_eq!((after.used, after.meshes), (before.used, before.meshes));
        // 85 % of six buffers are 5.1 buffers, and a full buffer is at least 95 % full.
        assert!(u64::from(after.buffers) <= after.used * 20 / 19 / u64::from(BUFFER) + 1);
    }
}

/// After the goal is reached nothing moves, until churn requires further moves.
#[test]
fn defragmentation_ends_and_starts_again_after_churn() {
    let mut churn = Churn::new(Placement::Ranges, Access::Direct);
    churn.fill(60);
    for _ in 0..20_000 {
        churn.replace();
    }
    let budget = MoveBudget::default();
    churn.defragment(&budget, 1000);
    for _ in 0..100 {
        assert_eq!(churn.pool.defragment(&budget, &mut churn.backend).moves, 0);
        churn.end_frame();
    }
    for at in (0..churn.meshes.len()).rev().step_by(2) {
        let (mesh, _) = churn.meshes.swap_remove(at);
        churn.pool.remove(mesh).unwrap();
    }
    (0..IDLE_FRAMES).for_each(|_| churn.end_frame());
    assert!(churn.defragment(&budget, 1000) > 1);
    // Empty buffers are released some frames later.
    (0..IDLE_FRAMES).for_each(|_| churn.end_frame());
    churn.check_goal();
}

/// During churn, the pool stays valid and each call stays within its budget.
#[test]
fn defragmentation_works_during_churn() {
    for access in [Access::Staged, Access::Direct] {
        let mut churn = Churn::new(Placement::Ranges, access);
        churn.fill(75);
        let budget = MoveBudget { bytes: 100 << 10, moves: 100 };
        for frame in 0..300 {
            for _ in 0..50 {
                churn.replace();
            }
            let moved = churn.pool.defragment(&budget, &mut churn.backend);
            assert!(moved.bytes <= budget.bytes && moved.moves <= budget.moves, "{moved:?}");
            churn.end_frame();
            if frame % 30 == 0 {
                churn.pool.validate().unwrap();
            }
        }
        // It may have been idle while the last frames left gaps.
        (0..IDLE_FRAMES).for_each(|_| churn.end_frame());
        churn.defragment(&budget, 1000);
        (0..IDLE_FRAMES).for_each(|_| churn.end_frame());
        churn.check_goal();
    }
}

#[test]
fn sparse_buffers_of_buckets_and_classes_are_released() {
    let classes = Placement::SizeClasses {
        histogram: vec![(60, 9), (300, 5), (1_000, 1)],
        config: Default::default(),
    };
    for placement in [Placement::Buckets { elements: 2_100 }, classes] {
        let mut churn = Churn::new(placement, Access::Direct);
        let meshes =
            if let Placement::Buckets { .. } = churn.pool.config().placement { 300 } else { 1_600 };
        (0..meshes).for_each(|_| churn.insert());
        let before = churn.pool.stats();
        assert!(before.buffers >= 4, "{before:?}");
        for at in (0..churn.meshes.len()).rev().filter(|at| at % 4 != 0) {
            let (mesh, _) = churn.meshes.swap_remove(at);
            churn.pool.remove(mesh).unwrap();
        }
        churn.end_frame();
        churn.defragment(&MoveBudget::default(), 1000);
        for _ in 0..10 {
            churn.end_frame();
        }
        churn.pool.validate().unwrap();
        let after = churn.pool.stats();
        assert!(after.buffers * 2 <= before.buffers, "{before:?} {after:?}");
    }
}

#[test]
fn empty_budgets_and_meshes_beyond_the_budget_move_nothing() {
    for budget in [
        MoveBudget { bytes: 0, moves: 9 },
        MoveBudget { bytes: 9_999, moves: 0 },
        MoveBudget { bytes: 39, moves: 9 },
    ] {
        let mut gpu = SimulatedGpu::new(Access::Staged, 1);
        let mut pool = Pool::new(PoolConfig::fixed(100, 20)).unwrap();
        let meshes: Vec<_> =
            (0..10).map(|n| pool.insert(&[n; 10], &[10], n, &mut gpu).unwrap()).collect();
        meshes.iter().step_by(2).for_each(|&mesh| pool.remove(mesh).unwrap());
        for _ in 0..5 {
            assert_eq!(pool.defragment(&budget, &mut gpu).moves, 0);
        }
        assert_eq!(pool.stats().largest_free, 10);
        // Meshes beyond a budget are checked again after something has been freed.
        pool.remove(meshes[1]).unwrap();
        (0..=IDLE_FRAMES).for_each(|_| pool.frame_submitted(gpu.submit(&pool, &[])));
        let budget = MoveBudget { bytes: 40, moves: 1 };
        let moved = pool.defragment(&budget, &mut gpu);
        assert_eq!((moved.bytes, moved.moves, moved.is_done), (40, 1, false));
    }
}
