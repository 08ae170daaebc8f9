//! What a program did with its memory, to be done again with another allocator.

use std::{alloc::Layout, ptr::NonNull};

use super::super::small::contenders::Objects;

/// What the script's memory is aligned to.
const ALIGN: usize = 8;

/// One step: a block of no bytes before is a new one, one of none after is gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Which block; the numbers of those that are gone are used again.
    pub(super) block: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// All that a program did, from its start to its end.
pub(super) struct Trace {
    pub(super) steps: Vec<Step>,
    /// Numbers of blocks.
    pub(super) blocks: usize,
}

impl Trace {
    /// Does all of it again. `None` if memory ran out or a block lost its content, of which
    /// the first bytes count, which any program would touch, or all if they are `WHOLE`.
    pub(super) fn replay<const WHOLE: bool, O: Objects>(&self, objects: &mut O) -> Option<()> {
        let mut blocks = vec![NonNull::dangling(); self.blocks];
        // A number is used again: it alone would not tell one block from the next.
        let mut seeds = vec![0u64; self.blocks];
        for (Step { block, from, to }, turn) in self.steps.iter().copied().zip(1u64..) {
            let number = block as usize;
            let (block, seed) = (blocks[number], seeds[number]);
            let [old, new] = [from as usize, to as usize].map(layout);
            // SAFETY: the trace is of a real program: a block is live from the step that
            // makes it to the one that ends it, with the size that it had last.
            let moved = unsafe {
                match (from, to) {
                    (0, _) => objects.allocate(new)?,
                    (_, 0) => {
                        compare::<WHOLE>(block, old.size(), seed)?;
                        objects.free(block, old).then_some(())?;
                        continue;
                    }
                    _ => {
                        let moved = objects.resize(block, old, new)?;
                        compare::<WHOLE>(moved, old.size().min(new.size()), seed)?;
                        moved
                    }
                }
            };
            (blocks[number], seeds[number]) = (moved, turn);
            // SAFETY: the block was just made, of that size.
            unsafe { fill::<WHOLE>(moved, new.size(), turn) };
        }
        Some(())
    }
}

fn layout(size_bytes: usize) -> Layout {
    Layout::from_size_align(size_bytes, ALIGN).unwrap_or(Layout::new::<u64>())
}

/// # Safety
/// - The block is live and ours, and has so many bytes, at least one.
#[inline]
unsafe fn fill<const WHOLE: bool>(block: NonNull<u8>, size_bytes: usize, seed: u64) {
    if WHOLE {
        for at in 0..size_bytes {
            // SAFETY: the block has more bytes than `at`.
            unsafe { block.add(at).write(pattern(seed, at)) };
        }
    } else if size_bytes >= size_of::<u64>() {
        // SAFETY: there are so many bytes, aligned as all of the script's blocks.
        unsafe { block.cast().write(seed) };
    } else {
        // SAFETY: there is one byte at least.
        unsafe { block.write(seed as u8) };
    }
}

/// Whether the first bytes are what they were filled with. Fewer than a word that once were
/// more still begin with its lowest byte.
///
/// # Safety
/// - The block is live and ours, and has so many written bytes, at least one.
#[inline]
unsafe fn compare<const WHOLE: bool>(
    block: NonNull<u8>,
    size_bytes: usize,
    seed: u64,
) -> Option<()> {
    let is_right = if WHOLE {
        // SAFETY: the block has more bytes than `at`.
        (0..size_bytes).all(|at| unsafe { block.add(at).read() } == pattern(seed, at))
    } else {
        // SAFETY: there is one byte at least.
        unsafe { block.read() == seed as u8 }
    };
    is_right.then_some(())
}

/// What stands at a byte: no two blocks have the same for long.
fn pattern(seed: u64, at: usize) -> u8 {
    ((seed + (at / 8) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (at % 8 * 8)) as u8
}
