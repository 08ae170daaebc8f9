//! Work of several threads with the global allocator of this program.
//!
//! - `larson`: each thread replaces random objects of an array; then a new thread continues with the
//!   array, so that objects are freed by other threads than those that allocated them. After P. Larson and
//!   M. Krishnan, "Memory allocation for long-running server applications" (1998).
//! - `handoff`: one half of the threads allocates objects, and the other half frees them, as in Lever and
//!   Boreham's xmalloc test. A single thread does both in turn.
//! - `churn`: each thread replaces random objects of its own.

use std::{hint::black_box, sync::mpsc, thread};

use drystone_bench::Random;

/// Objects of each thread.
const OBJECTS: usize = 20_000;
/// Sizes of objects in bytes: powers of two times 1 or 1.5.
pub(crate) const SIZES: [usize; 9] = [16, 24, 32, 48, 64, 96, 128, 192, 256];
/// New threads that continue with the objects of each thread.
const GENERATIONS: usize = 10;
/// Objects that are handed over at once, and batches that wait at most.
const BATCH: usize = 64;
/// Size of the array of a batch.
#[allow(dead_code, reason = "only an allocator with classes needs it")]
pub(crate) const BATCH_BYTES: usize = BATCH * size_of::<Box<[u8]>>();
const WAITING: usize = 16;

/// Allocates an object of a random size, and writes all of it.
fn object(random: &mut Random, mark: u8) -> Box<[u8]> {
    let size = SIZES[random.below(SIZES.len())];
    black_box(vec![mark; size].into_boxed_slice())
}

/// Replaces random objects. Returns the number of those with a wrong content.
fn replace(random: &mut Random, objects: &mut [Box<[u8]>], steps: usize) -> usize {
    let mut wrong = 0;
    for _ in 0..steps {
        let at = random.below(objects.len());
        let mark = at as u8;
        wrong += usize::from(objects[at][0] != mark || objects[at].last() != Some(&mark));
        objects[at] = object(random, mark);
    }
    wrong
}

fn filled(random: &mut Random) -> Vec<Box<[u8]>> {
    (0..OBJECTS).map(|at| object(random, at as u8)).collect()
}

/// Result of some work: the objects that are still live, and the number of wrong ones.
pub(super) struct Done {
    live: Vec<Vec<Box<[u8]>>>,
    steps: usize,
    wrong: usize,
}

impl Done {
    /// Frees the objects. Returns the number of steps of all threads.
    ///
    /// # Errors
    /// If an object has lost its content.
    pub(super) fn check(self) -> Result<usize, String> {
        let wrong = self.wrong + self.live.iter().map(|objects| wrong_in(objects)).sum::<usize>();
        match wrong {
            0 => Ok(self.steps),
            wrong => Err(format!("{wrong} objects have lost their content")),
        }
    }
}

/// Runs `steps` allocations and as many frees on each thread. The first objects of a thread, and freeing
/// the last ones, do not count as steps.
///
/// # Errors
/// If no work has this name.
pub(super) fn run(work: &str, threads: usize, steps: usize) -> Result<Done, String> {
    let (live, wrong) = match work {
        "larson" => larson(threads, steps),
        "handoff" => (Vec::new(), handoff(threads, steps)),
        "churn" => churn(threads, steps),
        _ => return Err(format!("no work is called {work}")),
    };
    Ok(Done { live, steps: steps * threads, wrong })
}

fn larson(threads: usize, steps: usize) -> (Vec<Vec<Box<[u8]>>>, usize) {
    let mut arrays: Vec<_> = (0..threads)
        .map(|thread| {
            let mut random = Random::new(thread as u64);
            let objects = filled(&mut random);
            (random, objects, 0)
        })
        .collect();
    for _ in 0..GENERATIONS {
        let started: Vec<_> = arrays
            .into_iter()
            .map(|(mut random, mut objects, mut wrong)| {
                thread::spawn(move || {
                    wrong += replace(&mut random, &mut objects, steps / GENERATIONS);
                    (random, objects, wrong)
                })
            })
            .collect();
        arrays = started.into_iter().filter_map(|it| it.join().ok()).collect();
    }
    let wrong = arrays.iter().map(|(_, _, wrong)| wrong).sum::<usize>() + threads - arrays.len();
    (arrays.into_iter().map(|(_, objects, _)| objects).collect(), wrong)
}

fn churn(threads: usize, steps: usize) -> (Vec<Vec<Box<[u8]>>>, usize) {
    let started: Vec<_> = (0..threads)
        .map(|thread| {
            thread::spawn(move || {
                let mut random = Random::new(thread as u64);
                let mut objects = filled(&mut random);
                let wrong = replace(&mut random, &mut objects, steps);
                (objects, wrong)
            })
        })
        .collect();
    let done: Vec<_> = started.into_iter().filter_map(|it| it.join().ok()).collect();
    let wrong = done.iter().map(|(_, wrong)| wrong).sum::<usize>() + threads - done.len();
    (done.into_iter().map(|(objects, _)| objects).collect(), wrong)
}

/// Returns a batch of objects with the mark of their place.
fn batch(random: &mut Random) -> Vec<Box<[u8]>> {
    (0..BATCH).map(|at| object(random, at as u8)).collect()
}

fn wrong_in(batch: &[Box<[u8]>]) -> usize {
    batch.iter().enumerate().filter(|(at, object)| object.last() != Some(&(*at as u8))).count()
}

fn handoff(threads: usize, steps: usize) -> usize {
    let pairs = threads / 2;
    if pairs == 0 {
        let mut random = Random::new(1);
        return (0..steps / BATCH).map(|_| wrong_in(&batch(&mut random))).sum();
    }
    let batches = steps * threads / pairs / BATCH;
    let started: Vec<_> = (0..pairs)
        .flat_map(|pair| {
            let (sender, receiver) = mpsc::sync_channel::<Vec<Box<[u8]>>>(WAITING);
            let producer = thread::spawn(move || {
                let mut random = Random::new(pair as u64);
                (0..batches).filter(|_| sender.send(batch(&mut random)).is_err()).count()
            });
            let consumer =
                thread::spawn(move || receiver.iter().map(|batch| wrong_in(&batch)).sum::<usize>());
            [producer, consumer]
        })
        .collect();
    started.into_iter().map(|it| it.join().unwrap_or(1)).sum()
}
