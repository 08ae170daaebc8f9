//! A recorded sequence of allocations, which is replayed with other allocators.

use std::{alloc::Layout, ptr::NonNull};

use super::allocator::Allocator;

/// Alignment of all blocks.
const ALIGN: usize = 8;

/// A step of a trace. A new block has 0 bytes before the step, a freed block 0 bytes after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Number of the block. Numbers of freed blocks are reused.
    pub(super) block: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// All steps of a program, from start to end.
pub(super) struct Trace {
    pub(super) steps: Vec<Step>,
    /// Number of block numbers.
    pub(super) blocks: usize,
}

impl Trace {
    /// Replays all steps. Returns `None` if memory runs out or a block has lost its content.
    /// Compares the first bytes of each block, or all bytes if `WHOLE`.
    pub(super) fn replay<const WHOLE: bool, A: Allocator>(&self, objects: &mut A) -> Option<()> {
        let mut blocks = vec![NonNull::dangling(); self.blocks];
        // Numbers are reused, so they alone cannot identify a block.
        let mut seeds = vec![0u64; self.blocks];
        for (Step { block, from, to }, turn) in self.steps.iter().copied().zip(1u64..) {
            let number = block as usize;
            let (block, seed) = (blocks[number], seeds[number]);
            let [old, new] = [from as usize, to as usize].map(layout);
            // SAFETY: the trace is of a real program: a block is live from its first step to its
            // last, with the size of its previous step.
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
            // SAFETY: the block is new and has that size.
            unsafe { fill::<WHOLE>(moved, new.size(), turn) };
        }
        Some(())
    }
}

fn layout(size_bytes: usize) -> Layout {
    Layout::from_size_align(size_bytes, ALIGN).unwrap_or(Layout::new::<u64>())
}

/// # Safety
/// - The block is live and from this replay, with at least `size_bytes` bytes, and
///   `size_bytes` is not 0.
#[inline]
unsafe fn fill<const WHOLE: bool>(block: NonNull<u8>, size_bytes: usize, seed: u64) {
    if WHOLE {
        for at in 0..size_bytes {
            // SAFETY: the block has more bytes than `at`.
            unsafe { block.add(at).write(pattern(seed, at)) };
        }
    } else if size_bytes >= size_of::<u64>() {
        // SAFETY: the block has that many bytes, aligned as all blocks of the trace.
        unsafe { block.cast().write(seed) };
    } else {
        // SAFETY: the block has at least one byte.
        unsafe { block.write(seed as u8) };
    }
}

/// Whether the first bytes have the expected content. A block that shrank to less than a word still
/// begins with the word's lowest byte.
///
/// # Safety
/// - The block is live and from this replay, with at least `size_bytes` written bytes,
///   and `size_bytes` is not 0.
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
        // SAFETY: the block has at least one byte.
        unsafe { block.read() == seed as u8 }
    };
    is_right.then_some(())
}

/// Returns the byte at an offset, which differs between blocks.
fn pattern(seed: u64, at: usize) -> u8 {
    ((seed + (at / 8) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (at % 8 * 8)) as u8
}
