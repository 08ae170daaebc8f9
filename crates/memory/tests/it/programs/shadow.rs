use std::{alloc::Layout, collections::BTreeMap, ptr::NonNull};

/// The reference model of every allocator of memory: all live blocks, by address, each filled with
/// a pattern of its own.
///
/// Detects a new block that is misaligned, outside of its memory or overlaps another one.
/// Detects foreign writes to a block when it is freed or checked.
pub(crate) struct Shadow {
    /// First address and end of the memory of the blocks.
    memory: Option<(usize, usize)>,
    blocks: BTreeMap<usize, Block>,
    next_seed: u64,
}

#[derive(Clone, Copy)]
struct Block {
    start: NonNull<u8>,
    layout: Layout,
    seed: u64,
}

impl Shadow {
    /// Blocks must be in these bytes.
    pub(crate) fn within(start: NonNull<u8>, size_bytes: usize) -> Self {
        let first = start.addr().get();
        Self { memory: Some((first, first + size_bytes)), ..Self::anywhere() }
    }

    /// Blocks may have any address.
    pub(crate) fn anywhere() -> Self {
        Self { memory: None, blocks: BTreeMap::new(), next_seed: 1 }
    }

    /// Records an allocated block and fills it. Blocks of no bytes are only checked for alignment,
    /// and not recorded.
    pub(crate) fn allocated(&mut self, start: NonNull<u8>, layout: Layout) {
        let first = start.addr().get();
        assert_eq!(first % layout.align(), 0, "{start:?} is not aligned as {layout:?}");
        if layout.size() == 0 {
            return;
        }
        let end = first.checked_add(layout.size()).unwrap();
        if let Some((lowest, highest)) = self.memory {
            assert!(lowest <= first && end <= highest, "{start:?} {layout:?} is not in its memory");
        }
        if let Some((at, block)) = self.blocks.range(..end).next_back() {
            let free_from = at + block.layout.size();
            assert!(free_from <= first, "{start:?} {layout:?} overlaps {:?}", block.start);
        }
        let block = Block { start, layout, seed: self.next_seed };
        self.next_seed += 1;
        block.fill();
        self.blocks.insert(first, block);
    }

    /// Records that a block is about to be freed (or was, and is not allocated again yet).
    pub(crate) fn freed(&mut self, start: NonNull<u8>, layout: Layout) {
        if layout.size() == 0 {
            return;
        }
        let block = self.blocks.remove(&start.addr().get());
        let block = block.unwrap_or_else(|| panic!("{start:?} is not live"));
        assert_eq!(block.layout, layout, "{start:?} has another layout");
        block.check(layout.size());
    }

    /// Records a resized block, whose content is preserved up to the smaller size.
    pub(crate) fn resized(&mut self, old: NonNull<u8>, from: Layout, new: NonNull<u8>, to: Layout) {
        let kept = from.size().min(to.size());
        if from.size() == 0 {
            return self.allocated(new, to);
        }
        let block = self.blocks.remove(&old.addr().get());
        let block = block.unwrap_or_else(|| panic!("{old:?} is not live"));
        assert_eq!(block.layout, from, "{old:?} has another layout");
        Block { start: new, ..block }.check(kept);
        self.allocated(new, to);
    }

    /// Checks that the content of every live block is unchanged.
    pub(crate) fn validate(&self) {
        self.blocks.values().for_each(|block| block.check(block.layout.size()));
    }

    /// Records that all blocks were freed at once, for example by a reset.
    pub(crate) fn clear(&mut self) {
        self.validate();
        self.blocks.clear();
    }

    /// Live blocks of at least one byte.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The `nth` live block by address, modulo their number; `None` if there is none.
    pub(crate) fn nth(&self, nth: usize) -> Option<(NonNull<u8>, Layout)> {
        let block = self.blocks.values().nth(nth % self.blocks.len().max(1))?;
        Some((block.start, block.layout))
    }

    /// Bytes of all live blocks together.
    pub(crate) fn size_bytes(&self) -> usize {
        self.blocks.values().map(|block| block.layout.size()).sum()
    }
}

/// Number of bytes of the pattern that are generated at once.
const WORD_BYTES: usize = 8;

impl Block {
    /// The bytes from `8 × index` on, which differ between blocks.
    fn pattern(&self, index: usize) -> [u8; WORD_BYTES] {
        (self.seed + index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()
    }

    fn fill(&self) {
        for (index, at) in (0..self.layout.size()).step_by(WORD_BYTES).enumerate() {
            let word = &self.pattern(index)[..WORD_BYTES.min(self.layout.size() - at)];
            // SAFETY: according to the allocator under test these bytes are ours. That it may be
            // wrong is detected by sanitizers, and mostly by the checks before this.
            unsafe {
                self.start.add(at).copy_from_nonoverlapping(NonNull::from(word).cast(), word.len());
            }
        }
    }

    /// Checks that the first bytes are unchanged.
    fn check(&self, size_bytes: usize) {
        // SAFETY: as above, and all of them were filled when the block was allocated.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), size_bytes) };
        for (index, word) in bytes.chunks(WORD_BYTES).enumerate() {
            let was = self.pattern(index);
            let (start, layout) = (self.start, self.layout);
            assert_eq!(word, &was[..word.len()], "{start:?} {layout:?}: word {index} was changed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a shadow detects the misuse by `wrong` of two blocks of 8 bytes in 32.
    fn detects(wrong: impl FnOnce(&mut Shadow, NonNull<u8>)) {
        let mut bytes = [0u64; 4];
        let start = NonNull::from(&mut bytes).cast::<u8>();
        let mut shadow = Shadow::within(start, size_of_val(&bytes));
        let layout = Layout::new::<u64>();
        shadow.allocated(start, layout);
        // SAFETY: both are in `bytes`.
        shadow.allocated(unsafe { start.add(16) }, layout);
        shadow.validate();
        let seen =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wrong(&mut shadow, start)));
        assert!(seen.is_err());
    }

    #[test]
    fn misuse_is_detected() {
        let layout = Layout::new::<u64>();
        // SAFETY: all of these are in the bytes of `detects`.
        let at = |start: NonNull<u8>, offset| unsafe { start.add(offset) };
        detects(|shadow, start| shadow.allocated(at(start, 0), layout));
        detects(|shadow, start| shadow.allocated(at(start, 15), Layout::new::<u16>()));
        detects(|shadow, start| shadow.allocated(at(start, 8), Layout::new::<[u64; 2]>()));
        detects(|shadow, start| shadow.allocated(at(start, 28), Layout::new::<[u32; 2]>()));
        detects(|shadow, start| shadow.freed(at(start, 8), layout));
        detects(|shadow, start| shadow.freed(at(start, 16), Layout::new::<u32>()));
        // SAFETY: a byte of a block.
        let spoil = |start: NonNull<u8>| unsafe { at(start, 19).write(0) };
        detects(|shadow, start| {
            spoil(start);
            shadow.validate();
        });
        detects(|shadow, start| {
            spoil(start);
            shadow.freed(at(start, 16), layout);
        });
        detects(|shadow, start| shadow.resized(at(start, 16), layout, at(start, 24), layout));
    }
}
