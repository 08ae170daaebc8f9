use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use drystone_memory::{Pool, PoolBox, Region};
use drystone_testing::Bytes;

use super::counting::Counting;

#[derive(Debug)]
enum Op {
    Insert(u8),
    Remove(usize),
    TakeOut(usize),
    LetGo(usize),
    Own(usize),
    Forget(usize),
    Panic,
    Shrink,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        let op = bytes.byte();
        let nth = bytes.below(usize::MAX);
        match op {
            0..=99 => Self::Insert(op / 8),
            100..=179 => Self::Remove(nth),
            180..=199 => Self::TakeOut(nth),
            200..=219 => Self::LetGo(nth),
            220..=239 => Self::Own(nth),
            240..=243 => Self::Forget(nth),
            244..=247 => Self::Panic,
            _ => Self::Shrink,
        }
    }
}

/// Numbers of the live values.
type Living = RefCell<BTreeSet<u64>>;

/// A value that detects that its destructor does not run, or runs twice.
struct Tracked<'l, A> {
    number: u64,
    living: &'l Living,
    /// Detects foreign writes, and adds size and alignment.
    fill: [A; 3],
}

impl<'l, A: Filler> Tracked<'l, A> {
    fn new(number: u64, living: &'l Living) -> Self {
        assert!(living.borrow_mut().insert(number));
        Self { number, living, fill: [A::of(number); 3] }
    }

    fn validate(&self) {
        assert!(self.living.borrow().contains(&self.number));
        assert!(self.fill.iter().all(|&fill| fill == A::of(self.number)));
        assert_eq!(std::ptr::from_ref(self).addr() % align_of::<Self>(), 0);
    }
}

impl<A> Drop for Tracked<'_, A> {
    fn drop(&mut self) {
        assert!(self.living.borrow_mut().remove(&self.number), "dropped twice");
    }
}

trait Filler: Copy + PartialEq {
    fn of(number: u64) -> Self;
}

impl Filler for () {
    fn of(_: u64) -> Self {}
}

impl Filler for u64 {
    fn of(number: u64) -> Self {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// A filler with a large alignment.
#[derive(Clone, Copy, PartialEq)]
#[repr(align(512))]
struct Wide(u64);

impl Filler for Wide {
    fn of(number: u64) -> Self {
        Self(u64::of(number))
    }
}

/// Maximum size of a region, plus a rest.
const REGION_BYTES: usize = 40_000;
/// Memory of the source: a few slabs.
const SOURCE_BYTES: usize = 1 << 17;
const SLAB: usize = 4096;

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    match bytes.byte() % 3 {
        0 => run_with::<()>(&mut bytes),
        1 => run_with::<u64>(&mut bytes),
        _ => run_with::<Wide>(&mut bytes),
    }
}

fn run_with<A: Filler>(bytes: &mut Bytes<'_>) {
    let living = Living::default();
    let mut memory = vec![MaybeUninit::uninit(); REGION_BYTES];
    let source = Counting::new(SOURCE_BYTES);
    let mut pool = if bytes.byte() < 128 {
        let from = bytes.below(100);
        let to = from + bytes.below(REGION_BYTES - from);
        Pool::<Tracked<'_, A>, SLAB>::in_region(Region::new(&mut memory[from..to]))
    } else {
        Pool::in_slabs(&source)
    };
    let mut machine = Machine {
        pool: &pool,
        living: &living,
        owned: vec![],
        let_go: vec![],
        forgotten: 0,
        next: 0,
    };
    while !bytes.is_empty() {
        let op = Op::read(bytes);
        machine.step(&op);
        pool.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        machine.validate();
    }
    let forgotten = machine.forgotten + machine.let_go.len();
    drop(machine);
    assert_eq!((pool.len(), living.borrow().len()), (forgotten, forgotten));
    pool.reset();
    assert!(pool.is_empty());
    drop(pool);
    assert_eq!((source.used_bytes(), living.borrow().len()), (0, forgotten));
}

struct Machine<'p, 'l, A> {
    pool: &'p Pool<'p, Tracked<'l, A>, SLAB>,
    living: &'l Living,
    owned: Vec<PoolBox<'p, Tracked<'l, A>, SLAB>>,
    let_go: Vec<NonNull<Tracked<'l, A>>>,
    forgotten: usize,
    next: u64,
}

impl<A: Filler> Machine<'_, '_, A> {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Insert(count) => (0..count).for_each(|_| self.insert()),
            Op::Panic => self.panic(),
            Op::Shrink => {
                let before = self.pool.stats().reserved_bytes;
                assert_eq!(before - self.pool.shrink(), self.pool.stats().reserved_bytes);
            }
            Op::Own(nth) if !self.let_go.is_empty() => {
                let raw = self.let_go.swap_remove(nth % self.let_go.len());
                // SAFETY: it was released by a box of this pool, and is owned once.
                self.owned.push(unsafe { self.pool.from_raw(raw) });
            }
            _ if self.owned.is_empty() => {}
            Op::Remove(nth) => drop(self.owned.swap_remove(nth % self.owned.len())),
            Op::TakeOut(nth) => {
                self.owned.swap_remove(nth % self.owned.len()).into_inner().validate();
            }
            Op::LetGo(nth) => {
                self.let_go.push(self.owned.swap_remove(nth % self.owned.len()).into_raw());
            }
            Op::Forget(nth) => {
                self.owned.swap_remove(nth % self.owned.len()).leak().validate();
                self.forgotten += 1;
            }
            Op::Own(_) => {}
        }
    }

    fn insert(&mut self) {
        let number = self.next;
        match self.pool.insert_with(|| Tracked::new(number, self.living)) {
            Ok(boxed) => {
                self.next += 1;
                self.owned.push(boxed);
            }
            Err(_) => assert_eq!(self.pool.len(), self.pool.stats().capacity),
        }
    }

    /// A value whose constructor panics must not take a block.
    fn panic(&mut self) {
        let before = self.pool.len();
        let unfinished = || drop(self.pool.insert_with(|| resume_unwind(Box::new(()))));
        let _ = catch_unwind(AssertUnwindSafe(unfinished));
        assert_eq!(self.pool.len(), before);
    }

    fn validate(&self) {
        self.owned.iter().for_each(|value| value.validate());
        let live = self.owned.len() + self.let_go.len() + self.forgotten;
        assert_eq!((self.pool.len(), self.living.borrow().len()), (live, live));
    }
}
