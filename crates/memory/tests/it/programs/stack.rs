use std::{alloc::Layout, mem::MaybeUninit, ptr::NonNull};

use allocator_api2::alloc::Allocator;
use drystone_memory::{Error, Region, Stack, StackEnd, StackMark};
use drystone_testing::Bytes;

use super::shadow::Shadow;

#[derive(Debug)]
pub(crate) enum Op {
    Allocate(Layout),
    /// Frees the top.
    Pop,
    /// Frees a block, which is an error unless it is the top.
    Free(usize),
    /// Frees a block that was freed before, or an address inside of one.
    FreeWrong(usize),
    Resize(usize, Layout),
    /// Frees a block as a collection does, in any order.
    FreeAny(usize),
    /// Grows or shrinks a block as a collection does.
    ResizeAny(usize, Layout),
    Mark,
    /// Frees everything since one of the marks.
    FreeTo(usize),
    Reset,
}

impl Op {
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=99 => Self::Allocate(bytes.layout()),
            100..=149 => Self::Pop,
            150..=164 => Self::Free(bytes.below(usize::MAX)),
            165..=179 => Self::FreeWrong(bytes.below(usize::MAX)),
            180..=199 => Self::Resize(bytes.below(usize::MAX), bytes.layout()),
            200..=224 => Self::FreeAny(bytes.below(usize::MAX)),
            225..=240 => Self::ResizeAny(bytes.below(usize::MAX), bytes.layout()),
            241..=246 => Self::Mark,
            247..=252 => Self::FreeTo(bytes.below(usize::MAX)),
            _ => Self::Reset,
        }
    }
}

/// A stack, or an end of one.
pub(crate) trait Lifo: Allocator + Copy {
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error>;
    /// # Safety
    /// - After success nothing uses the block.
    unsafe fn pop(self, block: NonNull<u8>) -> Result<(), Error>;
    /// # Safety
    /// - After success nothing uses the block by its old address or size.
    unsafe fn resize(self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error>;
    fn mark(self) -> StackMark;
    /// # Safety
    /// - After success nothing uses the blocks beyond the mark.
    unsafe fn free_to(self, mark: StackMark) -> Result<(), Error>;
}

impl Lifo for &Stack<'_> {
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.allocate(layout)
    }

    unsafe fn pop(self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free(block) }
    }

    unsafe fn resize(self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(block, layout) }
    }

    fn mark(self) -> StackMark {
        self.mark()
    }

    unsafe fn free_to(self, mark: StackMark) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_to(mark) }
    }
}

impl Lifo for StackEnd<'_, '_> {
    fn push(self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.allocate(layout)
    }

    unsafe fn pop(self, block: NonNull<u8>) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free(block) }
    }

    unsafe fn resize(self, block: NonNull<u8>, layout: Layout) -> Result<NonNull<u8>, Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.resize(block, layout) }
    }

    fn mark(self) -> StackMark {
        self.mark()
    }

    unsafe fn free_to(self, mark: StackMark) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_to(mark) }
    }
}

/// Block of the reference model.
struct Block {
    start: NonNull<u8>,
    layout: Layout,
    /// The free edge before it was allocated.
    edge: usize,
    /// Whether it was freed while others were on top of it.
    is_freed: bool,
}

/// The reference model of a stack that grows upwards, or downwards: a list of blocks, and the
/// address where the free memory begins.
pub(crate) struct Reference {
    pub(crate) edge: usize,
    /// Start of the empty stack.
    origin: usize,
    is_low: bool,
    blocks: Vec<Block>,
    freed: Vec<NonNull<u8>>,
    /// Marks and their addresses.
    marks: Vec<(StackMark, usize)>,
}

const WORD: usize = size_of::<usize>();

impl Reference {
    pub(crate) fn new(origin: usize, is_low: bool) -> Self {
        let (blocks, freed, marks) = (Vec::new(), Vec::new(), Vec::new());
        Self { edge: origin, origin, is_low, blocks, freed, marks }
    }

    /// `limit` is the end of the free memory of this stack.
    pub(crate) fn step(&mut self, stack: impl Lifo, shadow: &mut Shadow, limit: usize, op: &Op) {
        let (count, freed) = (self.blocks.len(), self.freed.len());
        match *op {
            Op::Allocate(layout) => {
                let block = stack.push(layout);
                self.pushed(block, shadow, limit, layout);
            }
            Op::Pop if count > 0 => self.free(stack, shadow, count - 1),
            Op::Free(nth) if count > 0 => self.free(stack, shadow, nth % count),
            Op::FreeWrong(nth) if freed > 0 => {
                let wrong = self.freed[nth % freed];
                if self.blocks.iter().all(|block| block.start != wrong) {
                    // SAFETY: it is not freed, because it is no block.
                    assert_eq!(unsafe { stack.pop(wrong) }, Err(Error::NotAllocated));
                }
            }
            Op::Resize(nth, layout) if count > 0 => {
                self.resize(stack, shadow, limit, nth % count, layout);
            }
            Op::FreeAny(nth) if count > 0 => self.free_any(stack, shadow, nth % count),
            Op::ResizeAny(nth, layout) if count > 0 => {
                self.resize_any(stack, shadow, limit, nth % count, layout);
            }
            Op::Mark => self.marks.push((stack.mark(), self.edge)),
            Op::FreeTo(nth) if !self.marks.is_empty() => {
                let (mark, at) = self.marks[nth % self.marks.len()];
                self.free_to(stack, shadow, mark, at);
            }
            _ => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Records that everything was freed at once.
    pub(crate) fn reset(&mut self, shadow: &mut Shadow) {
        while let Some(block) = self.blocks.pop() {
            if !block.is_freed {
                shadow.freed(block.start, block.layout);
            }
            self.freed.push(block.start);
        }
        self.edge = self.origin;
    }

    /// Address of a block, and the new edge; `None` if it does not fit.
    fn position_of(&self, layout: Layout, limit: usize) -> Option<(usize, usize)> {
        let (align, size) = (layout.align().max(WORD), layout.size().next_multiple_of(WORD));
        if self.is_low {
            let first = self.edge.checked_next_multiple_of(align)?;
            let edge = first.checked_add(size)?.checked_add(WORD)?;
            (edge <= limit).then_some((first, edge))
        } else {
            let first = self.edge.checked_sub(size)? / align * align;
            let edge = first.checked_sub(WORD)?;
            (edge >= limit).then_some((first, edge))
        }
    }

    fn pushed(
        &mut self,
        block: Result<NonNull<u8>, Error>,
        shadow: &mut Shadow,
        limit: usize,
        layout: Layout,
    ) {
        let total_free = limit.abs_diff(self.edge) as u64;
        let Some((first, edge)) = self.position_of(layout, limit) else {
            let requested = layout.size() as u64;
            let largest_free = total_free.saturating_sub(WORD as u64);
            assert_eq!(block, Err(Error::Full { requested, largest_free, total_free }));
            return;
        };
        let start = block.unwrap();
        assert_eq!(start.addr().get(), first, "{layout:?}");
        shadow.allocated(start, layout);
        self.blocks.push(Block { start, layout, edge: self.edge, is_freed: false });
        self.edge = edge;
    }

    fn free(&mut self, stack: impl Lifo, shadow: &mut Shadow, nth: usize) {
        let block = &self.blocks[nth];
        let is_top = nth + 1 == self.blocks.len();
        let expected = match (block.is_freed, is_top) {
            (true, _) => Err(Error::NotAllocated),
            (_, true) => Ok(()),
            _ => Err(Error::OutOfOrder),
        };
        if is_top {
            shadow.freed(block.start, block.layout);
        }
        // SAFETY: the block is not used any more if it is the top.
        assert_eq!(unsafe { stack.pop(block.start) }, expected);
        if is_top {
            self.pop();
        }
    }

    fn free_to(&mut self, stack: impl Lifo, shadow: &mut Shadow, mark: StackMark, at: usize) {
        let is_beyond = |edge: usize| if self.is_low { edge > at } else { edge < at };
        let first = self.blocks.iter().position(|block| block.edge == at);
        let is_valid = !is_beyond(self.edge) || first.is_some();
        if let (true, Some(first)) = (is_valid, first) {
            for block in self.blocks[first..].iter().filter(|block| !block.is_freed) {
                shadow.freed(block.start, block.layout);
            }
        }
        // SAFETY: nothing uses the blocks.
        let result = unsafe { stack.free_to(mark) };
        assert_eq!(result, if is_valid { Ok(()) } else { Err(Error::NotAllocated) });
        if let Some(first) = first {
            self.freed.extend(self.blocks.drain(first + 1..).map(|block| block.start));
            self.pop();
        }
    }

    /// Removes the top, and the freed blocks below it.
    fn pop(&mut self) {
        while let Some(block) = self.blocks.pop() {
            self.edge = block.edge;
            self.freed.push(block.start);
            if !self.blocks.last().is_some_and(|block| block.is_freed) {
                break;
            }
        }
    }

    fn free_any(&mut self, stack: impl Lifo, shadow: &mut Shadow, nth: usize) {
        let block = &mut self.blocks[nth];
        // Blocks of 0 bytes are not allocated by collections.
        if block.is_freed || block.layout.size() == 0 {
            return;
        }
        shadow.freed(block.start, block.layout);
        // SAFETY: it is live, and not used any more.
        unsafe { stack.deallocate(block.start, block.layout) }
        block.is_freed = true;
        if nth + 1 == self.blocks.len() {
            self.pop();
        }
    }

    fn resize(
        &mut self,
        stack: impl Lifo,
        shadow: &mut Shadow,
        limit: usize,
        nth: usize,
        layout: Layout,
    ) {
        let (start, old) = (self.blocks[nth].start, self.blocks[nth].layout);
        // SAFETY: after success the block is used by its new address.
        let resized = unsafe { stack.resize(start, layout) };
        if nth + 1 < self.blocks.len() {
            let is_freed = self.blocks[nth].is_freed;
            let expected = if is_freed { Error::NotAllocated } else { Error::OutOfOrder };
            assert_eq!(resized, Err(expected));
            return;
        }
        self.top_resized(resized.ok(), shadow, limit, (start, old), layout);
    }

    /// Checks that the top was resized, or is unchanged because it did not fit.
    fn top_resized(
        &mut self,
        resized: Option<NonNull<u8>>,
        shadow: &mut Shadow,
        limit: usize,
        (start, old): (NonNull<u8>, Layout),
        layout: Layout,
    ) {
        let edge = std::mem::replace(&mut self.edge, self.blocks[self.blocks.len() - 1].edge);
        let Some((first, new_edge)) = self.position_of(layout, limit) else {
            self.edge = edge;
            assert_eq!(resized, None);
            return;
        };
        let new = resized.unwrap();
        assert_eq!(new.addr().get(), first, "{old:?} to {layout:?}");
        shadow.resized(start, old, new, layout);
        self.edge = new_edge;
        if let Some(top) = self.blocks.last_mut() {
            (top.start, top.layout) = (new, layout);
        }
        self.freed.push(start);
    }

    /// Records the rest of a shrunk block that is not the top as a freed block, at the end that
    /// has a footer behind each block.
    fn cut_off(&mut self, nth: usize, start: NonNull<u8>, old: Layout, new: Layout) {
        let [kept, was] = [new, old].map(|layout| layout.size().next_multiple_of(WORD));
        if self.is_low && kept < was {
            let edge = start.addr().get() + kept + WORD;
            let layout = Layout::new::<()>();
            // SAFETY: it is in the old block.
            let start = unsafe { start.add(kept + WORD) };
            self.blocks.insert(nth + 1, Block { start, layout, edge, is_freed: true });
        }
    }

    fn resize_any(
        &mut self,
        stack: impl Lifo,
        shadow: &mut Shadow,
        limit: usize,
        nth: usize,
        new: Layout,
    ) {
        let Block { start, layout: old, is_freed, .. } = self.blocks[nth];
        if is_freed || old.size() == 0 || new.size() == 0 {
            return;
        }
        // SAFETY: the block is live, and used by its new address after that.
        let resized = unsafe {
            match new.size() >= old.size() {
                true => stack.grow(start, old, new),
                false => stack.shrink(start, old, new),
            }
        };
        let resized = resized.ok().map(NonNull::cast::<u8>);
        if nth + 1 == self.blocks.len() {
            return self.top_resized(resized, shadow, limit, (start, old), new);
        }
        if new.size() <= old.size() && start.addr().get() % new.align() == 0 {
            assert_eq!(resized, Some(start));
            shadow.resized(start, old, start, new);
            self.blocks[nth].layout = new;
            self.cut_off(nth, start, old, new);
            return;
        }
        match resized {
            Some(moved) => {
                shadow.resized(start, old, moved, new);
                shadow.freed(moved, new);
                self.pushed(Ok(moved), shadow, limit, new);
                self.blocks[nth].is_freed = true;
            }
            None => assert_eq!(self.position_of(new, limit), None),
        }
    }
}

/// Memory of the regions, large enough that a page fits into most.
pub(crate) const MEMORY_BYTES: usize = 3 * 4096;

/// Start and end of the whole words of a region, without the first one.
pub(crate) fn whole_words(region: &Region<'_>) -> (usize, usize) {
    let start = region.start().addr().get();
    let end = (start + region.size_bytes()) / WORD * WORD;
    let first = start.next_multiple_of(WORD) + WORD;
    if first <= end { (first, end) } else { (start, start) }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let mut memory = vec![MaybeUninit::uninit(); MEMORY_BYTES];
    let first = bytes.below(64);
    let end = first + bytes.below(MEMORY_BYTES - first);
    let region = Region::new(&mut memory[first..end]);
    let mut shadow = Shadow::within(region.start(), region.size_bytes());
    let (start, end) = whole_words(&region);
    let mut reference = Reference::new(start, true);
    let mut stack = Stack::new(region);
    let mut highest = 0;
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes);
        if let Op::Reset = op {
            reference.reset(&mut shadow);
            stack.reset();
        } else {
            reference.step(&stack, &mut shadow, end, &op);
        }
        shadow.validate();
        stack.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        assert_eq!(
            (stack.capacity(), stack.remaining()),
            (end - start, end - reference.edge),
            "{op:?}"
        );
        assert_eq!(
            (stack.is_empty(), stack.used()),
            (reference.is_empty(), reference.edge - start)
        );
        highest = stack.used().max(highest);
        assert_eq!(stack.high_water(), highest, "{op:?}");
    }
}
