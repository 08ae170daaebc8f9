//! Random programs on the simulated GPU. Every frame must show the content of an immediate
//! renderer, after any insertions, replacements, removals and moves in flight. Several pools share
//! the GPU. They are created and dropped, and each draws only some of the frames.

use alloc::boxed::Box;

use drystone_alloc::SizeClassConfig;
use drystone_testing::Random;

use super::*;

/// Operation of a program.
#[derive(Debug)]
enum Op {
    Insert {
        parts: Vec<Vec<u32>>,
    },
    Write {
        nth: Option<usize>,
        parts: Vec<Vec<u32>>,
        spare: u32,
    },
    Replace {
        nth: usize,
        parts: Vec<Vec<u32>>,
    },
    SetData {
        nth: usize,
    },
    Remove {
        nth: usize,
    },
    Clear,
    Move(MoveBudget),
    Draw,
    /// Draw a frame of all pools of the GPU.
    DrawAll,
    /// Build a frame that is not submitted.
    AbandonFrame,
    /// Add another pool to the GPU; the following operations apply to it.
    AddPool(Box<PoolConfig>),
    /// Switch to another pool, so that this one misses frames.
    ChoosePool {
        nth: usize,
    },
    /// Drop a pool while frames may read it.
    DropPool {
        nth: usize,
    },
    /// Let the GPU finish a frame early.
    CatchUp,
    /// Let the device refuse writes and copies after this many more.
    RefuseAfter {
        writes: u64,
    },
    /// Limit the device memory from now on.
    Limit {
        bytes: u64,
    },
}

/// Number of operations per program.
const STEPS: u32 = 60;

/// Generator of random programs.
struct ProgramGenerator(Random);

impl ProgramGenerator {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound)
    }

    fn parts(&mut self, step: u32) -> Vec<Vec<u32>> {
        let max = [3, 3, 3, 9, 25][self.below(5) as usize];
        let count = self.below(7);
        let part = |random: &mut Self, part| {
            (0..random.below(max)).map(|n| step << 12 | part << 8 | n).collect()
        };
        (0..count).map(|n| part(self, n)).collect()
    }

    fn op(&mut self, step: u32) -> Op {
        let nth = self.below(1 << 20) as usize;
        match self.below(100) {
            0..=24 => Op::Insert { parts: self.parts(step) },
            25..=29 => Op::Write {
                nth: nth.is_multiple_of(2).then_some(nth),
                parts: self.parts(step),
                spare: self.below(40),
            },
            30..=44 => Op::Replace { nth, parts: self.parts(step) },
            45..=47 => Op::SetData { nth },
            48..=62 => Op::Remove { nth },
            63 => Op::Clear,
            64..=73 => {
                Op::Move(MoveBudget { bytes: self.below(300).into(), moves: self.below(12) })
            }
            74..=84 => Op::Draw,
            85..=87 => Op::DrawAll,
            88 => Op::AbandonFrame,
            89..=90 => Op::AddPool(Box::new(self.config())),
            91..=93 => Op::ChoosePool { nth },
            94 => Op::DropPool { nth },
            95 => Op::CatchUp,
            96 => Op::RefuseAfter { writes: self.below(4).into() },
            97 => Op::RefuseAfter { writes: u64::MAX },
            _ => Op::Limit { bytes: self.below(2000).into() },
        }
    }

    fn config(&mut self) -> PoolConfig {
        let min_buffer_elements = 16 + self.below(64);
        let placement = match self.below(4) {
            0 => Placement::Buckets { elements: 4 + self.below(20) },
            1 => Placement::SizeClasses {
                histogram: (0..self.below(6)).map(|n| (3 * n + 1, 5)).collect(),
                config: SizeClassConfig::default().with_classes(3).with_max_waste_percent(40),
            },
            _ => Placement::Ranges,
        };
        PoolConfig {
            min_buffer_elements,
            max_buffer_elements: min_buffer_elements + self.below(64),
            max_buffers: 1 + self.below(5) as u16,
            first_slots: self.below(5),
            max_slots: 24,
            placement,
            oversize: [Oversize::Refuse, Oversize::Split][self.below(2) as usize],
            spare_frames: self.below(5),
            pattern_elements: 1 + self.below(10),
            ..PoolConfig::default()
        }
    }
}

fn slices(parts: &[Vec<u32>]) -> Vec<&[u32]> {
    parts.iter().map(Vec::as_slice).collect()
}

/// Executes an operation. An error must change nothing, which the next frames check.
fn execute(scene: &mut Scene, op: Op, step: u32) {
    // Data that is unique among the meshes, so that every order is total.
    let data = step;
    match op {
        Op::Insert { parts } => {
            let _ = scene.insert(&slices(&parts), data);
        }
        Op::Write { nth, parts, spare } => {
            let replaced = nth.filter(|_| scene.len() > 0).map(|nth| scene.nth(nth));
            let _ = scene.write(replaced, &slices(&parts), data, spare);
        }
        Op::Draw => scene.draw(),
        Op::DrawAll => scene.draw_all(),
        Op::AbandonFrame => scene.abandon_frame(),
        Op::AddPool(config) => {
            let ignores_frames = scene.pool.storage.buffers.ignores_frames;
            scene.add_pool(*config);
            scene.pool.storage.buffers.ignores_frames = ignores_frames;
        }
        Op::ChoosePool { .. } | Op::DropPool { .. } if scene.inactive() == 0 => {}
        Op::ChoosePool { nth } => scene.choose(nth % scene.inactive()),
        Op::DropPool { nth } => scene.drop_pool(nth % scene.inactive()),
        Op::CatchUp => scene.gpu.run_frame(),
        Op::Clear => scene.clear(),
        Op::Move(budget) => {
            scene.defragment(&budget);
        }
        Op::RefuseAfter { writes } => scene.gpu.set_writes_left(writes),
        Op::Limit { bytes } => scene.gpu.set_limit_bytes(bytes),
        _ if scene.len() == 0 => {}
        Op::Replace { nth, parts } => {
            let _ = scene.replace(scene.nth(nth), &slices(&parts), data);
        }
        Op::SetData { nth } => scene.set_data(scene.nth(nth), data),
        Op::Remove { nth } => scene.remove(scene.nth(nth)),
    }
}

/// Runs a program; returns the number of its wrong frames.
fn run(seed: u64, ignores_frames: bool) -> u32 {
    let mut random = ProgramGenerator(Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    let access = [Access::Staged, Access::Direct][random.below(2) as usize];
    let access = if ignores_frames { Access::Direct } else { access };
    let mut scene = Scene::new(random.config(), access, random.below(4) as usize);
    scene.pool.storage.buffers.ignores_frames = ignores_frames;
    for step in 1..=STEPS {
        let op = random.op(step);
        if ignores_frames {
            execute(&mut scene, op, step);
            continue;
        }
        let context = alloc::format!("seed {seed}, step {step}, {op:?}");
        execute(&mut scene, op, step);
        scene.pool.validate().unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        assert_eq!(scene.wrong, 0, "{context}: a frame is wrong");
    }
    if !ignores_frames {
        scene.finish();
    }
    scene.wrong
}

#[test]
fn programs_draw_the_same_as_an_immediate_renderer() {
    for seed in 1..=10_000 {
        run(seed, false);
    }
}

/// Runs programs without the retire queue, to show that the test above detects the error.
#[test]
fn without_the_retire_queue_pictures_are_wrong() {
    let wrong = (1..=300).filter(|&seed| run(seed, true) > 0).count();
    assert!(wrong > 30, "only {wrong} of 300 programs drew wrong frames");
}
