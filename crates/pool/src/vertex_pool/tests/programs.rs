//! Random programs on the simulated GPU: every frame shows what an immediate renderer
//! shows, whatever was inserted, replaced, removed and moved while it was in flight. Several
//! pools share the GPU: they come and go, and each misses frames of the others.

use alloc::boxed::Box;

use drystone_alloc::SizeClassConfig;
use drystone_testing::Random;

use super::*;

/// What a program does.
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
    /// A frame of all pools of the GPU.
    DrawAll,
    /// A frame whose commands are taken and that is then not submitted.
    AbandonFrame,
    /// Another pool comes to the GPU, and the operations that follow are its own.
    AddPool(Box<Config>),
    /// The operations that follow are those of another pool: this one misses frames.
    ChoosePool {
        nth: usize,
    },
    /// A pool goes while frames may read it.
    DropPool {
        nth: usize,
    },
    /// The GPU finishes a frame sooner than it must.
    CatchUp,
    /// The device refuses writes and copies after so many more.
    RefuseAfter {
        writes: u64,
    },
    /// The device has so much memory from now on.
    Limit {
        bytes: u64,
    },
}

/// Operations of a program.
const STEPS: u32 = 60;

/// Draws programs by lot.
struct Lots(Random);

impl Lots {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound)
    }

    fn parts(&mut self, step: u32) -> Vec<Vec<u32>> {
        let most = [3, 3, 3, 9, 25][self.below(5) as usize];
        let count = self.below(7);
        let part = |random: &mut Self, part| {
            (0..random.below(most)).map(|n| step << 12 | part << 8 | n).collect()
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

    fn config(&mut self) -> Config {
        let least_buffer_elements = 16 + self.below(64);
        let placement = match self.below(4) {
            0 => Placement::Buckets { elements: 4 + self.below(20) },
            1 => Placement::SizeClasses {
                histogram: (0..self.below(6)).map(|n| (3 * n + 1, 5)).collect(),
                config: SizeClassConfig { classes: 3, max_waste_percent: 40 },
            },
            _ => Placement::Ranges,
        };
        Config {
            least_buffer_elements,
            max_buffer_elements: least_buffer_elements + self.below(64),
            max_buffers: 1 + self.below(5) as u16,
            first_slots: self.below(5),
            max_slots: 24,
            placement,
            oversize: [Oversize::Refuse, Oversize::Split][self.below(2) as usize],
            spare_frames: self.below(5),
            pattern_elements: 1 + self.below(10),
            ..Config::default()
        }
    }
}

fn slices(parts: &[Vec<u32>]) -> Vec<&[u32]> {
    parts.iter().map(Vec::as_slice).collect()
}

/// Carries out an operation. A refusal changes nothing, which the next frames show.
fn carry_out(scene: &mut Scene, op: Op, step: u32) {
    // Data that no other mesh has, so that every order is a total one.
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
            let ignores_frames = scene.pool.buffers.ignores_frames;
            scene.add_pool(*config);
            scene.pool.buffers.ignores_frames = ignores_frames;
        }
        Op::ChoosePool { .. } | Op::DropPool { .. } if scene.parked() == 0 => {}
        Op::ChoosePool { nth } => scene.choose(nth % scene.parked()),
        Op::DropPool { nth } => scene.drop_pool(nth % scene.parked()),
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

/// Runs a program; returns how many of its frames were wrong.
fn run(seed: u64, ignores_frames: bool) -> u32 {
    let mut random = Lots(Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
    let access = [Access::Staged, Access::Direct][random.below(2) as usize];
    let access = if ignores_frames { Access::Direct } else { access };
    let mut scene = Scene::new(random.config(), access, random.below(4) as usize);
    scene.pool.buffers.ignores_frames = ignores_frames;
    for step in 1..=STEPS {
        let op = random.op(step);
        if ignores_frames {
            carry_out(&mut scene, op, step);
            continue;
        }
        let told = alloc::format!("seed {seed}, step {step}, {op:?}");
        carry_out(&mut scene, op, step);
        scene.pool.check().unwrap_or_else(|wrong| panic!("{told}: {wrong}"));
        assert_eq!(scene.wrong, 0, "{told}: a frame is wrong");
    }
    if !ignores_frames {
        scene.finish();
    }
    scene.wrong
}

#[test]
fn ten_thousand_programs_draw_what_an_immediate_renderer_draws() {
    for seed in 1..=10_000 {
        run(seed, false);
    }
}

/// The same programs with the retire queue taken out: the test above would fail.
#[test]
fn without_the_retire_queue_pictures_are_wrong() {
    let wrong = (1..=300).filter(|&seed| run(seed, true) > 0).count();
    assert!(wrong > 30, "only {wrong} of 300 programs were found wrong");
}
