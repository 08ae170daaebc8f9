use std::{alloc::Layout, mem::MaybeUninit, ptr::NonNull};

use allocator_api2::alloc::Allocator;
use drystone_memory::{Checkpoint, Error, Linear, Region};
use drystone_testing::Bytes;

use super::shadow::Shadow;

#[derive(Debug)]
enum Op {
    Allocate(Layout),
    /// A typed value, a slice or a string, by kind and number.
    Typed(u8, usize),
    /// Frees a block as a collection does, in any order.
    Free(usize),
    /// Grows or shrinks a block as a collection does.
    Resize(usize, Layout),
    Open,
    Rewind,
    Close,
    Reset,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=89 => Self::Allocate(bytes.layout()),
            90..=129 => Self::Typed(bytes.byte(), bytes.below(40)),
            130..=159 => Self::Free(bytes.below(usize::MAX)),
            160..=199 => Self::Resize(bytes.below(usize::MAX), bytes.layout()),
            200..=219 => Self::Open,
            220..=229 => Self::Rewind,
            230..=249 => Self::Close,
            _ => Self::Reset,
        }
    }
}

/// Memory of the regions, large enough that a page fits into most.
const MEMORY_BYTES: usize = 3 * 4096;
/// Maximum depth of nested checkpoints.
const DEEPEST: usize = 20;

/// The reference model: the blocks with patterns, those of the innermost checkpoint in order, and
/// the number of used bytes, counted from the start at each step.
struct Reference {
    start: usize,
    capacity: usize,
    used: usize,
    highest: usize,
    shadow: Shadow,
    /// Blocks of the open level.
    blocks: Vec<(NonNull<u8>, Layout)>,
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let mut memory = vec![MaybeUninit::uninit(); MEMORY_BYTES];
    let first = bytes.below(64);
    let end = first + bytes.below(MEMORY_BYTES - first);
    let region = Region::new(&mut memory[first..end]);
    let (start, capacity) = (region.start(), region.size_bytes());
    let shadow = Shadow::within(start, capacity);
    let (start, blocks) = (start.addr().get(), Vec::new());
    let mut reference = Reference { start, capacity, used: 0, highest: 0, shadow, blocks };
    let mut linear = Linear::new(region);
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes);
        match op {
            Op::Open => reference.level(&mut bytes, linear.checkpoint(), 1),
            Op::Reset | Op::Rewind | Op::Close => {
                reference.rewind(0);
                linear.reset();
            }
            op => reference.step(&linear, &op),
        }
        reference.compare(&linear);
    }
}

impl Reference {
    /// Runs the operations of a checkpoint until it is closed.
    fn level(&mut self, bytes: &mut Bytes<'_>, mut checkpoint: Checkpoint<'_, '_>, depth: usize) {
        let mark = self.used;
        let outer = std::mem::take(&mut self.blocks);
        while !bytes.is_empty() {
            match Op::read(bytes) {
                Op::Open if depth < DEEPEST => {
                    self.level(bytes, checkpoint.checkpoint(), depth + 1);
                }
                Op::Rewind => {
                    self.rewind(mark);
                    checkpoint.rewind();
                }
                Op::Close => break,
                op => self.step(&checkpoint, &op),
            }
            self.compare(&checkpoint);
        }
        self.rewind(mark);
        self.blocks = outer;
    }

    fn step(&mut self, linear: &Linear<'_>, op: &Op) {
        match *op {
            Op::Allocate(layout) => {
                let block = linear.allocate(layout);
                self.allocated(block, layout);
            }
            Op::Typed(kind, number) => self.typed(linear, kind, number),
            Op::Free(nth) if !self.blocks.is_empty() => {
                let (block, layout) = self.blocks.swap_remove(nth % self.blocks.len());
                self.shadow.freed(block, layout);
                // SAFETY: the block is live; it is not used any more.
                unsafe { Allocator::deallocate(&linear, block, layout) }
                self.freed(block, layout);
            }
            Op::Resize(nth, layout) if !self.blocks.is_empty() => {
                let nth = nth % self.blocks.len();
                self.resize(linear, nth, layout);
            }
            _ => {}
        }
    }

    fn typed(&mut self, linear: &Linear<'_>, kind: u8, number: usize) {
        fn raw<T: ?Sized>(value: Result<&mut T, Error>) -> Result<NonNull<u8>, Error> {
            value.map(|value| NonNull::from(value).cast())
        }
        let bytes = [b'x'; 40];
        let text = std::str::from_utf8(&bytes[..number]).unwrap();
        let (block, layout) = match kind % 6 {
            0 => (raw(linear.alloc(7u8)), Layout::new::<u8>()),
            1 => (raw(linear.alloc([7u64; 3])), Layout::new::<[u64; 3]>()),
            2 => (raw(linear.alloc_with(|| [7u128; 2])), Layout::new::<[u128; 2]>()),
            3 => (raw(linear.alloc_slice(&bytes[..number])), Layout::for_value(&bytes[..number])),
            4 => (raw(linear.alloc_str(text)), Layout::for_value(text)),
            _ => {
                let made = linear.alloc_slice_with(number, |i| i as u32);
                (raw(made), Layout::array::<u32>(number).unwrap())
            }
        };
        self.allocated(block, layout);
    }

    /// Compares the address of a new block with the expected one.
    fn allocated(&mut self, block: Result<NonNull<u8>, Error>, layout: Layout) {
        let (first, free) = (self.aligned(layout), (self.capacity - self.used) as u64);
        let Some(end) = first.and_then(|first| first.checked_add(layout.size())) else {
            let full = Error::Full {
                requested: layout.size() as u64,
                largest_free: free,
                total_free: free,
            };
            assert_eq!(block, Err(full));
            return;
        };
        if layout.size() > 0 && end > self.capacity {
            assert!(matches!(block, Err(Error::Full { total_free, .. }) if total_free == free));
            return;
        }
        let block = block.unwrap();
        self.shadow.allocated(block, layout);
        if layout.size() > 0 || end <= self.capacity {
            assert!(layout.size() == 0 || block.addr().get() == self.start + end - layout.size());
            self.used = end;
        }
        self.blocks.push((block, layout));
    }

    /// Address of the next block of this alignment.
    fn aligned(&self, layout: Layout) -> Option<usize> {
        let next = self.start + self.used;
        Some(next.checked_next_multiple_of(layout.align())? - self.start)
    }

    fn is_last(&self, block: NonNull<u8>, layout: Layout) -> bool {
        layout.size() > 0 && block.addr().get() + layout.size() == self.start + self.used
    }

    fn freed(&mut self, block: NonNull<u8>, layout: Layout) {
        if self.is_last(block, layout) {
            self.highest = self.highest.max(self.used);
            self.used = block.addr().get() - self.start;
        }
    }

    fn resize(&mut self, linear: &Linear<'_>, nth: usize, new: Layout) {
        let (block, old) = self.blocks[nth];
        let is_growing = new.size() >= old.size();
        // SAFETY: the block is live, and used by its new address after that.
        let resized = unsafe {
            if is_growing { linear.grow(block, old, new) } else { linear.shrink(block, old, new) }
        };
        let is_aligned = block.addr().get() % new.align() == 0;
        if is_aligned && (self.is_last(block, old) || !is_growing || new.size() == old.size()) {
            if self.is_last(block, old) {
                let first = block.addr().get() - self.start;
                if new.size() > self.capacity - first {
                    assert!(resized.is_err());
                    return;
                }
                self.freed(block, old);
                self.used = first + new.size();
            }
            assert_eq!(resized.map(NonNull::cast), Ok(block));
            self.shadow.resized(block, old, block, new);
            self.blocks[nth].1 = new;
            return;
        }
        self.blocks.swap_remove(nth);
        let moved = resized.map(NonNull::cast::<u8>);
        match moved {
            // A new block must have the address of a new allocation.
            Ok(moved) => {
                self.shadow.resized(block, old, moved, new);
                self.shadow.freed(moved, new);
                self.allocated(Ok(moved), new);
            }
            Err(_) => {
                let fits = |first: usize| new.size() <= self.capacity.saturating_sub(first);
                assert!(new.size() > 0 && !self.aligned(new).is_some_and(fits));
                self.blocks.push((block, old));
            }
        }
    }

    /// Frees all blocks of the level.
    fn rewind(&mut self, mark: usize) {
        self.highest = self.highest.max(self.used);
        self.used = mark;
        let shadow = &mut self.shadow;
        self.blocks.drain(..).for_each(|(block, layout)| shadow.freed(block, layout));
    }

    fn compare(&self, linear: &Linear<'_>) {
        self.shadow.validate();
        let expected = (self.used, self.capacity - self.used, self.highest.max(self.used));
        assert_eq!((linear.used(), linear.remaining(), linear.high_water()), expected);
    }
}
