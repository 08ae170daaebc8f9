use std::{
    alloc::Layout,
    any::Any,
    cell::RefCell,
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    ptr::NonNull,
};

use drystone_memory::{Region, Scope, ScopeStack};
use drystone_testing::Bytes;

use super::shadow::Shadow;

#[derive(Debug)]
enum Op {
    Open,
    /// Opens a scope, and catches panics inside.
    OpenCaught,
    Close,
    /// A value of one of three types, with a destructor that may panic.
    Value {
        kind: u8,
        panics: bool,
    },
    /// A value with a constructor that panics after it has allocated another one.
    Unmade,
    /// A slice with a constructor that may panic at an index.
    Slice {
        len: usize,
        panics_at: usize,
    },
    /// Plain bytes.
    Plain(Layout),
    Panic,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=29 => Self::Open,
            30..=49 => Self::OpenCaught,
            50..=89 => Self::Close,
            90..=159 => Self::Value { kind: bytes.byte(), panics: bytes.byte() < 8 },
            160..=164 => Self::Unmade,
            165..=199 => Self::Slice { len: bytes.below(6), panics_at: bytes.below(40) },
            200..=249 => Self::Plain(bytes.layout()),
            _ => Self::Panic,
        }
    }
}

/// Numbers of values in the order in which they were dropped.
type Log = RefCell<Vec<u32>>;

/// A value that stores its number twice, records it when it is dropped, and may panic
/// then. Checks that its `SIZE` bytes are unchanged.
struct Value<'l, const SIZE: usize> {
    number: u32,
    panics: bool,
    log: &'l Log,
    fill: [u8; SIZE],
}

impl<'l, const SIZE: usize> Value<'l, SIZE> {
    fn new(number: u32, panics: bool, log: &'l Log) -> Self {
        Self { number, panics, log, fill: [number as u8; SIZE] }
    }
}

impl<const SIZE: usize> Drop for Value<'_, SIZE> {
    fn drop(&mut self) {
        assert!(self.fill.iter().all(|byte| *byte == self.number as u8), "{} changed", self.number);
        self.log.borrow_mut().push(self.number);
        if self.panics && !std::thread::panicking() {
            panic_quietly();
        }
    }
}

/// Unwinds as a panic does, without the message.
fn panic_quietly() -> ! {
    resume_unwind(Box::new(()))
}

/// A value aligned beyond the finalizers.
#[repr(align(64))]
struct Wide<'l>(#[allow(dead_code)] Value<'l, 3>);

/// Maximum depth of nested scopes.
const DEEPEST: usize = 20;
/// Memory of the regions.
const MEMORY_BYTES: usize = 2 * 4096;

/// The reference model: for each scope the values to drop, in the order of their allocation.
struct Reference<'l> {
    shadow: Shadow,
    next_number: u32,
    scopes: Vec<Level>,
    /// Values that should have been dropped until now.
    expected: Vec<u32>,
    log: &'l Log,
}

#[derive(Default)]
struct Level {
    /// Values, or slices of them.
    values: Vec<Vec<u32>>,
    blocks: Vec<(NonNull<u8>, Layout)>,
}

type Panics = Result<(), Box<dyn Any + Send>>;

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let mut memory = vec![MaybeUninit::uninit(); MEMORY_BYTES];
    let first = bytes.below(64);
    let end = first + bytes.below(MEMORY_BYTES - first);
    let region = Region::new(&mut memory[first..end]);
    let log = Log::default();
    let shadow = Shadow::within(region.start(), region.size_bytes());
    let (scopes, expected) = (Vec::new(), Vec::new());
    let mut reference = Reference { shadow, next_number: 0, scopes, expected, log: &log };
    let mut stack = ScopeStack::new(region);
    while !bytes.is_empty() {
        let result = catch_unwind(AssertUnwindSafe(|| {
            stack.scope(|scope| {
                assert_eq!(scope.remaining(), end - first);
                reference.level(&mut bytes, scope);
            });
        }));
        reference.closed();
        failures_only(result);
    }
}

/// Continues after a panic that the program requested.
fn failures_only(result: Panics) {
    match result {
        Err(panic) if !panic.is::<()>() => resume_unwind(panic),
        _ => {}
    }
}

impl<'l> Reference<'l> {
    /// Runs the operations of a scope, and checks its plain data at the end.
    fn level<'p>(&mut self, bytes: &mut Bytes<'_>, scope: &mut Scope<'_, 'p>)
    where
        'l: 'p,
    {
        self.scopes.push(Level::default());
        let result = catch_unwind(AssertUnwindSafe(|| {
            while !bytes.is_empty() {
                match Op::read(bytes) {
                    Op::Open if self.scopes.len() < DEEPEST => self.open(bytes, scope, false),
                    Op::OpenCaught if self.scopes.len() < DEEPEST => self.open(bytes, scope, true),
                    Op::Close => break,
                    Op::Panic => panic_quietly(),
                    op => self.step(scope, &op),
                }
                self.shadow.validate();
            }
        }));
        for (block, layout) in std::mem::take(&mut self.innermost().blocks) {
            self.shadow.freed(block, layout);
        }
        result.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn open<'p>(&mut self, bytes: &mut Bytes<'_>, scope: &mut Scope<'_, 'p>, is_caught: bool)
    where
        'l: 'p,
    {
        let remaining = scope.remaining();
        let result = catch_unwind(AssertUnwindSafe(|| {
            scope.scope(|inner| self.level(bytes, inner));
        }));
        self.closed();
        assert_eq!(scope.remaining(), remaining);
        match is_caught {
            true => failures_only(result),
            false => result.unwrap_or_else(|panic| resume_unwind(panic)),
        }
    }

    /// Records the end of the innermost scope: everything in it was dropped, the last value first,
    /// slices from the front.
    fn closed(&mut self) {
        let level = self.scopes.pop().unwrap();
        self.expected.extend(level.values.into_iter().rev().flatten());
        assert_eq!(*self.log.borrow(), self.expected);
    }

    fn innermost(&mut self) -> &mut Level {
        self.scopes.last_mut().unwrap()
    }

    fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number
    }

    fn step<'p>(&mut self, scope: &Scope<'_, 'p>, op: &Op)
    where
        'l: 'p,
    {
        match *op {
            Op::Value { kind, panics } => self.value(scope, kind, panics),
            Op::Unmade => self.unmade(scope),
            Op::Slice { len, panics_at } => self.slice(scope, len, panics_at),
            Op::Plain(layout) => {
                if let Ok(block) = scope.allocate(layout) {
                    self.shadow.allocated(block, layout);
                    self.innermost().blocks.push((block, layout));
                }
            }
            _ => {}
        }
    }

    fn value<'p>(&mut self, scope: &Scope<'_, 'p>, kind: u8, panics: bool)
    where
        'l: 'p,
    {
        let (number, log) = (self.number(), self.log);
        let result = catch_unwind(AssertUnwindSafe(|| match kind % 4 {
            0 => drop(scope.alloc(Value::<0>::new(number, panics, log))),
            1 => drop(scope.alloc(Value::<100>::new(number, panics, log))),
            2 => drop(scope.alloc(Wide(Value::new(number, panics, log)))),
            _ => {
                // If it does not fit, it is not made, and so not dropped.
                if scope.alloc_with(|| Value::<7>::new(number, panics, log)).is_err() {
                    log.borrow_mut().push(number);
                }
            }
        }));
        // If it does not fit, it is dropped at once.
        match self.log.borrow().last() == Some(&number) {
            true => self.expected.push(number),
            false => self.innermost().values.push(vec![number]),
        }
        result.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn unmade<'p>(&mut self, scope: &Scope<'_, 'p>)
    where
        'l: 'p,
    {
        let (inner, outer, log) = (self.number(), self.number(), self.log);
        let mut is_made = false;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _ = scope.alloc_with(|| {
                is_made = scope.alloc_with(|| Value::<5>::new(inner, false, log)).is_ok();
                if inner > 0 {
                    panic_quietly();
                }
                Value::<50>::new(outer, false, log)
            });
        }));
        if is_made {
            self.innermost().values.push(vec![inner]);
        }
        result.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn slice<'p>(&mut self, scope: &Scope<'_, 'p>, len: usize, panics_at: usize)
    where
        'l: 'p,
    {
        let (first, log) = (self.next_number + 1, self.log);
        let mut made = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let slice = scope.alloc_slice_with(len, |index| {
                if index == panics_at {
                    panic_quietly();
                }
                made.push(first + index as u32);
                Value::<20>::new(first + index as u32, false, log)
            });
            assert_eq!(slice.map_or(made.len(), |slice| slice.len()), made.len());
        }));
        self.next_number += len as u32;
        self.innermost().values.push(made);
        result.unwrap_or_else(|panic| resume_unwind(panic));
    }
}
