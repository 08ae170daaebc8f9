//! Stacks: blocks of many sizes, freed in the reverse order of allocation, from one end or two.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr::NonNull,
    time::Instant,
};

use bump_scope::{Bump, alloc::Allocator, traits::BumpAllocatorTyped};
use drystone_memory::{DoubleStack, Region, Stack, StackEnd};

use crate::{Contender, Error, Figure, Options, Random, Run};

/// Blocks that are pushed before they are popped.
const BLOCKS: usize = 16;
/// Range of the block sizes, in bytes.
const SIZES: std::ops::RangeInclusive<usize> = 8..=256;
/// Number of different sets of blocks.
const SETS: usize = 64;
/// Number of times that each set is pushed and popped in a round.
const REPEATS: usize = 2_000;
const QUICK_REPEATS: usize = 50;
/// Memory that is sufficient for any set and its metadata.
const MEMORY_BYTES: usize = 1 << 14;

/// A stack of memory blocks.
trait Blocks {
    const NAME: &'static str;
    fn new() -> Option<Self>
    where
        Self: Sized;
    fn push(&self, layout: Layout) -> Option<NonNull<u8>>;
    /// # Safety
    /// - The block is the last one on the stack, with this layout, and not used after this.
    unsafe fn pop(&self, block: NonNull<u8>, layout: Layout) -> bool;
}

impl Blocks for Stack<'static> {
    const NAME: &'static str = "drystone";
    fn new() -> Option<Self> {
        Some(Self::new(Region::heap(MEMORY_BYTES).ok()?))
    }
    #[inline]
    fn push(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate(layout).ok()
    }
    #[inline]
    unsafe fn pop(&self, block: NonNull<u8>, _: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.free(block) }.is_ok()
    }
}

impl Blocks for Bump {
    const NAME: &'static str = "bump-scope";
    fn new() -> Option<Self> {
        Some(Self::with_capacity(Layout::array::<u8>(MEMORY_BYTES).ok()?))
    }
    #[inline]
    fn push(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.try_allocate_layout(layout).ok()
    }
    #[inline]
    unsafe fn pop(&self, block: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.deallocate(block, layout) }
        true
    }
}

/// The C library's allocator.
struct Malloc;

impl Blocks for Malloc {
    const NAME: &'static str = "malloc";
    fn new() -> Option<Self> {
        Some(Self)
    }
    #[inline]
    fn push(&self, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { System.alloc(layout) })
    }
    #[inline]
    unsafe fn pop(&self, block: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { System.dealloc(block.as_ptr(), layout) }
        true
    }
}

/// Two stacks: of blocks that stay longer, and of temporary ones.
trait TwoStacks: Sized {
    fn new() -> Option<Self>;
    fn push(&self, which: Lifetime, layout: Layout) -> Option<NonNull<u8>>;
    /// # Safety
    /// - The block is the last one of its stack, with this layout, and not used after this.
    unsafe fn pop(&self, which: Lifetime, block: NonNull<u8>, layout: Layout) -> bool;
}

#[derive(Clone, Copy, PartialEq)]
enum Lifetime {
    Kept,
    Temporary,
}

impl Lifetime {
    /// Returns the lifetime of a block of a set: every second one is temporary.
    const fn of(number: usize) -> Self {
        if number.is_multiple_of(2) { Self::Kept } else { Self::Temporary }
    }
}

#[inline]
fn end_of<'d>(stack: &'d DoubleStack<'static>, which: Lifetime) -> StackEnd<'d, 'static> {
    match which {
        Lifetime::Kept => stack.low(),
        Lifetime::Temporary => stack.high(),
    }
}

impl TwoStacks for DoubleStack<'static> {
    fn new() -> Option<Self> {
        Some(Self::new(Region::heap(MEMORY_BYTES).ok()?))
    }
    #[inline]
    fn push(&self, which: Lifetime, layout: Layout) -> Option<NonNull<u8>> {
        end_of(self, which).allocate(layout).ok()
    }
    #[inline]
    unsafe fn pop(&self, which: Lifetime, block: NonNull<u8>, _: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { end_of(self, which).free(block) }.is_ok()
    }
}

/// Two allocators with memory of their own.
impl<B: Blocks> TwoStacks for [B; 2] {
    fn new() -> Option<Self> {
        Some([B::new()?, B::new()?])
    }
    #[inline]
    fn push(&self, which: Lifetime, layout: Layout) -> Option<NonNull<u8>> {
        self[which as usize].push(layout)
    }
    #[inline]
    unsafe fn pop(&self, which: Lifetime, block: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self[which as usize].pop(block, layout) }
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    run.case("stack", || {
        Ok(vec![
            one_ended::<Stack<'static>>(options),
            one_ended::<Bump>(options),
            one_ended::<Malloc>(options),
        ])
    })?;
    run.case("double-stack", || {
        Ok(vec![
            two_ended::<DoubleStack<'static>>("drystone", options),
            two_ended::<[Stack<'static>; 2]>("drystone-stacks", options),
            two_ended::<[Bump; 2]>(Bump::NAME, options),
            two_ended::<[Malloc; 2]>(Malloc::NAME, options),
        ])
    })
}

type BlockSet = [Layout; BLOCKS];

/// Creates the sets of sizes, which are the same for all contenders.
fn sets() -> Vec<BlockSet> {
    let mut random = Random::new(11);
    let mut layout = |_| {
        let size = SIZES.start() + random.below(SIZES.end() - SIZES.start() + 1);
        Layout::array::<u64>(size.div_ceil(8)).unwrap_or(Layout::new::<u64>())
    };
    (0..SETS).map(|_| std::array::from_fn(&mut layout)).collect()
}

fn one_ended<B: Blocks + 'static>(options: &Options) -> Contender<'static> {
    contender(B::NAME, options, B::new, push_and_pop)
}

fn two_ended<B: TwoStacks + 'static>(name: &str, options: &Options) -> Contender<'static> {
    contender(name, options, B::new, push_and_pop_both)
}

/// Measures the time per block.
fn contender<B: 'static>(
    name: &str,
    options: &Options,
    new: fn() -> Option<B>,
    push_and_pop: impl Fn(&B, &BlockSet) -> bool + 'static,
) -> Contender<'static> {
    let (sets, repeats) = (sets(), options.size(REPEATS, QUICK_REPEATS));
    Contender::new(name, move || {
        let blocks = new().ok_or("out of memory")?;
        let lost = "a block has lost its content";
        let run_all = || sets.iter().all(|set| push_and_pop(&blocks, set));
        run_all().then_some(()).ok_or(lost)?;
        let start = Instant::now();
        let mut is_right = true;
        for _ in 0..repeats {
            is_right &= run_all();
        }
        let figure = Figure::time_since(start, repeats * SETS * BLOCKS);
        Ok(is_right.then_some(vec![figure]).ok_or(lost)?)
    })
}

/// Writes a number to every block, and checks it when the block is popped.
#[inline(never)]
fn push_and_pop<B: Blocks>(blocks: &B, set: &BlockSet) -> bool {
    let mut pushed = [NonNull::dangling(); BLOCKS];
    for (number, (&layout, entry)) in set.iter().zip(&mut pushed).enumerate() {
        let Some(block) = blocks.push(layout) else { return false };
        *entry = block;
        // SAFETY: the block is new and has at least eight bytes.
        unsafe { block.cast::<u64>().write(number as u64) }
    }
    let mut wrong_bits = 0;
    for (number, (&layout, &block)) in set.iter().zip(&pushed).enumerate().rev() {
        // SAFETY: the block was written, and is the last one on the stack.
        unsafe {
            wrong_bits |= block.cast::<u64>().read() ^ number as u64;
            if !blocks.pop(block, layout) {
                return false;
            }
        }
    }
    wrong_bits == 0
}

/// Writes a number to every block, alternately of both stacks. Checks it when the block is popped:
/// first all temporary blocks, then those that are kept.
#[inline(never)]
fn push_and_pop_both<B: TwoStacks>(stacks: &B, set: &BlockSet) -> bool {
    let mut pushed = [NonNull::dangling(); BLOCKS];
    for (number, (&layout, entry)) in set.iter().zip(&mut pushed).enumerate() {
        let Some(block) = stacks.push(Lifetime::of(number), layout) else { return false };
        *entry = block;
        // SAFETY: the block is new and has at least eight bytes.
        unsafe { block.cast::<u64>().write(number as u64) }
    }
    let mut wrong_bits = 0;
    for which in [Lifetime::Temporary, Lifetime::Kept] {
        let blocks = set.iter().zip(&pushed).enumerate().rev();
        for (number, (&layout, &block)) in blocks.filter(|(it, _)| Lifetime::of(*it) == which) {
            // SAFETY: the block was written, and is the last one of its stack.
            unsafe {
                wrong_bits |= block.cast::<u64>().read() ^ number as u64;
                if !stacks.pop(which, block, layout) {
                    return false;
                }
            }
        }
    }
    wrong_bits == 0
}
