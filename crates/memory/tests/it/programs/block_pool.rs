use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use drystone_memory::{BlockPool, Error, Region};
use drystone_testing::Bytes;

use super::counting::Counting;
use super::shadow::Shadow;

#[derive(Debug)]
enum Op {
    Allocate(u8),
    Free(usize),
    FreeAgain(usize),
    Reset,
    Shrink,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            count @ 0..=109 => Self::Allocate(count / 8),
            110..=209 => Self::Free(bytes.below(usize::MAX)),
            210..=239 => Self::FreeAgain(bytes.below(usize::MAX)),
            240..=247 => Self::Reset,
            _ => Self::Shrink,
        }
    }
}

/// Maximum size of a region, plus a rest.
const REGION_BYTES: usize = 40_000;
/// Memory of the source: a few slabs.
const SOURCE_BYTES: usize = 1 << 20;

struct Machine<'m> {
    pool: BlockPool<'m>,
    layout: Layout,
    shadow: Shadow,
    /// Free blocks of slabs that the pool still has.
    freed: Vec<NonNull<u8>>,
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let size = bytes.below(400);
    let layout = Layout::from_size_align(size, 1 << bytes.below(13)).unwrap();
    let mut memory = vec![MaybeUninit::uninit(); REGION_BYTES];
    let source = Counting::new(SOURCE_BYTES);
    let pool = if bytes.byte() < 128 {
        let from = bytes.below(100);
        let to = from + bytes.below(REGION_BYTES - from);
        BlockPool::new(layout, Region::new(&mut memory[from..to]))
    } else {
        BlockPool::in_slabs_of(bytes.below(20_000), layout, &source)
    };
    let mut machine = Machine { pool, layout, shadow: Shadow::anywhere(), freed: vec![] };
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes);
        machine.step(&op);
        machine.pool.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        assert_eq!(machine.pool.len(), machine.shadow.len(), "{op:?}");
    }
    machine.shadow.validate();
    drop(machine);
    assert_eq!(source.used_bytes(), 0);
}

impl Machine<'_> {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Allocate(count) => (0..count).for_each(|_| self.allocate()),
            Op::Free(nth) => {
                if let Some((block, layout)) = self.shadow.nth(nth) {
                    self.shadow.freed(block, layout);
                    // SAFETY: a block in use of this pool.
                    unsafe { self.pool.free(block) }.unwrap();
                    self.freed.push(block);
                }
            }
            Op::FreeAgain(nth) if !self.freed.is_empty() => {
                let block = self.freed[nth % self.freed.len()];
                // SAFETY: a free block of a slab that this pool still has.
                assert_eq!(unsafe { self.pool.free(block) }, Err(Error::NotAllocated));
            }
            Op::FreeAgain(_) => {}
            Op::Reset => {
                self.pool.reset();
                self.freed.clear();
                self.shadow.clear();
            }
            Op::Shrink => {
                let before = self.pool.stats().reserved_bytes;
                let freed = self.pool.shrink();
                assert_eq!(self.pool.stats().reserved_bytes, before - freed);
                self.freed.clear();
            }
        }
    }

    fn allocate(&mut self) {
        match self.pool.allocate() {
            Ok(block) => {
                // The shadow fills the whole block.
                let size = self.pool.block_layout().size().max(self.layout.size());
                let all = Layout::from_size_align(size, self.layout.align()).unwrap();
                self.shadow.allocated(block, all);
                self.freed.retain(|freed| *freed != block);
            }
            Err(full) => {
                let requested = self.pool.block_layout().size() as u64;
                assert_eq!(full, Error::Full { requested, largest_free: 0, total_free: 0 });
                assert_eq!(self.pool.len(), self.pool.stats().capacity);
            }
        }
    }
}
