//! Data of frames in flight: an arena a frame, which is reused when the frame is complete.

use std::{alloc::Layout, time::Instant};

use drystone_memory::{FrameRing, Linear, Region};

use crate::{Contender, Error, Figure, Run, rounds::Round};

/// Arenas, and so frames whose data is valid at once.
const FRAMES: usize = 3;
/// Objects of a frame.
const OBJECTS: u64 = 1_000;
const FRAMES_A_ROUND: u64 = 2_000;
const QUICK_FRAMES: u64 = 20;

/// Data of a draw: a position, a size and a number, 24 bytes.
#[derive(Clone, Copy)]
struct Draw {
    _position: [f32; 3],
    _size: f32,
    number: u64,
}

const _: () = assert!(size_of::<Draw>() == 24);
const MEMORY_BYTES: usize = OBJECTS as usize * size_of::<Draw>();

impl Draw {
    #[inline]
    const fn new(frame: u64, index: u64) -> Self {
        let at = index as f32;
        Self { _position: [at, at + 1.0, at + 2.0], _size: 1.0, number: frame * OBJECTS + index }
    }
}

/// Ring of arenas.
trait Ring: Sized {
    const NAME: &'static str;
    fn new() -> Option<Self>;
    /// Frees the data of the oldest frame, and writes that of `frame` in its place. `None` if it
    /// does not fit.
    fn write(&mut self, frame: u64) -> Option<Written>;
}

/// Summary of the data of a frame, by which it is checked.
#[derive(Clone, Copy, Default)]
struct Written {
    sum: u64,
    /// Address of the first object.
    address: usize,
}

/// Writes the objects of a frame. `put` stores one.
#[inline(always)]
fn fill<'a>(frame: u64, mut put: impl FnMut(Draw) -> Option<&'a Draw>) -> Option<Written> {
    let first = put(Draw::new(frame, 0))?;
    let mut written = Written { sum: first.number, address: std::ptr::from_ref(first).addr() };
    for index in 1..OBJECTS {
        written.sum += put(Draw::new(frame, index))?.number;
    }
    Some(written)
}

impl Ring for FrameRing<'static, FRAMES> {
    const NAME: &'static str = "drystone";
    fn new() -> Option<Self> {
        let arena = || Some(Linear::new(Region::heap(MEMORY_BYTES).ok()?));
        Some(Self::new([arena()?, arena()?, arena()?]))
    }
    #[inline(never)]
    fn write(&mut self, frame: u64) -> Option<Written> {
        let arena = self.next(frame, frame.saturating_sub(FRAMES as u64)).ok()?;
        fill(frame, |draw| arena.alloc(draw).ok().map(|draw| &*draw))
    }
}

impl Ring for [bumpalo::Bump; FRAMES] {
    const NAME: &'static str = "bumpalo";
    fn new() -> Option<Self> {
        Some([(); FRAMES].map(|()| bumpalo::Bump::with_capacity(MEMORY_BYTES)))
    }
    #[inline(never)]
    fn write(&mut self, frame: u64) -> Option<Written> {
        let arena = &mut self[frame as usize % FRAMES];
        arena.reset();
        fill(frame, |draw| Some(arena.alloc(draw)))
    }
}

impl Ring for [bump_scope::Bump; FRAMES] {
    const NAME: &'static str = "bump-scope";
    fn new() -> Option<Self> {
        let layout = Layout::array::<Draw>(OBJECTS as usize).ok()?;
        Some([(); FRAMES].map(|()| bump_scope::Bump::with_capacity(layout)))
    }
    #[inline(never)]
    fn write(&mut self, frame: u64) -> Option<Written> {
        let arena = &mut self[frame as usize % FRAMES];
        arena.reset();
        fill(frame, |draw| Some(bump_scope::BumpBox::leak(arena.alloc(draw))))
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let frames = run.options.size(FRAMES_A_ROUND, QUICK_FRAMES);
    run.case("frame-ring", || {
        Ok(vec![
            contender::<FrameRing<'static, FRAMES>>(frames),
            contender::<[bumpalo::Bump; FRAMES]>(frames),
            contender::<[bump_scope::Bump; FRAMES]>(frames),
        ])
    })
}

/// Measures the time per object.
fn contender<R: Ring>(frames: u64) -> Contender<'static> {
    Contender::new(R::NAME, move || round::<R>(frames))
}

fn round<R: Ring>(frames: u64) -> Round {
    let mut ring = R::new().ok_or("out of memory")?;
    let mut addresses = [0; FRAMES];
    // The first frames touch the memory.
    for frame in 1..=FRAMES as u64 {
        addresses[frame as usize % FRAMES] = ring.write(frame).ok_or("full")?.address;
    }
    let mut is_right = addresses[0] != addresses[1] && addresses[1] != addresses[2];
    let first = FRAMES as u64 + 1;
    let start = Instant::now();
    for frame in first..first + frames {
        let written = ring.write(frame).ok_or("full")?;
        let expected = frame * OBJECTS * OBJECTS + OBJECTS * (OBJECTS - 1) / 2;
        // Its memory is that of the frame that is complete, and of no other.
        is_right &= written.sum == expected;
        is_right &= written.address == addresses[frame as usize % FRAMES];
    }
    let figure = Figure::time_since(start, (frames * OBJECTS) as usize);
    let wrong = "a frame has wrong data, or the memory of another frame";
    Ok(is_right.then_some(vec![figure]).ok_or(wrong)?)
}
