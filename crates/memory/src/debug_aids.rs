//! Debug aids that all allocators share: patterns in new and freed memory, and reports of faults.
//!
//! They exist in builds with debug assertions. Everything here is compiled out of other builds, so
//! that a release build pays nothing, and no feature changes what another crate gets.

use core::fmt;
use core::ptr::NonNull;

use crate::spin_lock::SpinLock;

/// Content of new memory. This pattern and [`FREED`] are those of Microsoft's debug heap, which
/// debuggers and programmers recognize.
const NEW: u8 = 0xCD;
/// Content of freed memory.
pub(crate) const FREED: u8 = 0xDD;

/// Overwrites new memory, so that a value that is read before it is written is conspicuous.
///
/// # Safety
/// - The bytes are valid for writes, and nothing uses their content.
#[inline(always)]
pub(crate) unsafe fn fill_new(start: NonNull<u8>, size_bytes: usize) {
    if cfg!(debug_assertions) {
        // SAFETY: guaranteed by the caller.
        unsafe { start.write_bytes(NEW, size_bytes) }
    }
}

/// Overwrites freed memory, so that a value that is read after it was freed is conspicuous.
///
/// # Safety
/// - The bytes are valid for writes, and nothing uses their content.
#[inline(always)]
pub(crate) unsafe fn fill_freed(start: NonNull<u8>, size_bytes: usize) {
    if cfg!(debug_assertions) {
        // SAFETY: guaranteed by the caller.
        unsafe { start.write_bytes(FREED, size_bytes) }
    }
}

/// Misuse of memory that was found in a build with debug assertions.
///
/// [`Guarded`](crate::Guarded) finds all of them. Allocators whose blocks are freed one by one find
/// their leaks by themselves; see [`set_fault_handler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The guard behind a block was overwritten.
    Overwritten {
        /// Address of the block.
        address: usize,
        /// Size of the block, in bytes.
        size_bytes: usize,
        /// First overwritten byte, counted from the end of the block. 0 is directly behind it.
        bytes_behind: usize,
        /// Content of that byte.
        found: u8,
    },
    /// A block was freed that is not live or has another layout. It stays as it is.
    NotAllocated {
        /// Address that was freed.
        address: usize,
        /// Size that was freed, in bytes.
        size_bytes: usize,
    },
    /// An allocator was dropped or reset, or the end of a stack, while blocks were live.
    Leaked(Leak),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overwritten { address, size_bytes, bytes_behind, found } => write!(
                f,
                "the block of {size_bytes} bytes at {address:#x} was written beyond its end: the byte \
                 {bytes_behind} bytes behind it is {found:#04x}"
            ),
            Self::NotAllocated { address, size_bytes } => write!(
                f,
                "no block of {size_bytes} bytes at {address:#x} is live, but one was freed: it was \
                 freed before, has another layout, or belongs to another allocator"
            ),
            Self::Leaked(leak) => leak.fmt(f),
        }
    }
}

/// Live blocks of an allocator that was dropped or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leak {
    /// Name of the allocator's type.
    pub allocator: &'static str,
    /// Number of blocks.
    pub count: usize,
    /// Size of all blocks together, in bytes.
    pub size_bytes: usize,
    sizes: [usize; Self::MAX_SIZES],
    /// Number of sizes that are known, at most `MAX_SIZES`.
    size_count: usize,
}

impl Leak {
    /// Number of blocks whose sizes are reported one by one.
    const MAX_SIZES: usize = 8;

    /// Creates the leak of `count` blocks of `size_bytes` bytes in total.
    pub(crate) const fn new(allocator: &'static str, count: usize, size_bytes: usize) -> Self {
        Self { allocator, count, size_bytes, sizes: [0; Self::MAX_SIZES], size_count: 0 }
    }

    /// Adds up blocks of these sizes.
    pub(crate) fn of(allocator: &'static str, sizes: impl Iterator<Item = usize>) -> Self {
        let mut leak = Self::new(allocator, 0, 0);
        for size in sizes {
            if let Some(entry) = leak.sizes.get_mut(leak.size_count) {
                *entry = size;
                leak.size_count += 1;
            }
            leak.count += 1;
            leak.size_bytes = leak.size_bytes.saturating_add(size);
        }
        leak
    }

    /// Returns the sizes of the blocks in bytes, of at most eight of them. Empty if the allocator
    /// does not record the sizes of single blocks.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes[..self.size_count]
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocator, count, size_bytes, .. } = self;
        write!(f, "{allocator}: {count} blocks of {size_bytes} bytes in total are still live")?;
        for (number, size) in self.sizes().iter().enumerate() {
            write!(f, "{} {size}", if number == 0 { ":" } else { "," })?;
        }
        f.write_str(if *count > self.size_count && self.size_count > 0 { ", …" } else { "" })
    }
}

static HANDLER: SpinLock<Option<fn(&Fault)>> = SpinLock::new(None);

/// Sets the function that receives all faults of the program, in builds with debug assertions. It
/// may be called from any thread, inside of a call of an allocator.
///
/// With a handler, `DoubleStack`, `Stack`, `BlockPool`, `Pool`, `SharedPool`, `SizeLists` and
/// `SmallObjects` report live blocks when they are dropped or reset. Without one they do not,
/// because a program may well free blocks by dropping their allocator. `Linear`, its relatives and
/// scopes free everything at once by design, and have no leaks. Faults that
/// [`Guarded`](crate::Guarded) finds are printed to standard error if there is no handler and the
/// feature `std` is enabled.
///
/// # Examples
/// ```
/// use std::alloc::Layout;
/// use drystone_memory::{Region, Stack, set_fault_handler};
///
/// set_fault_handler(|fault| println!("{fault}"));
/// let stack = Stack::new(Region::heap(4096)?);
/// stack.allocate(Layout::new::<[u8; 100]>())?;
/// drop(stack); // Prints that a block of 104 bytes is still live.
/// # Ok::<(), drystone_memory::Error>(())
/// ```
pub fn set_fault_handler(handler: fn(&Fault)) {
    HANDLER.with(|current| *current = Some(handler));
}

/// Passes a fault to the handler, or prints it.
#[cold]
pub(crate) fn report(fault: &Fault) {
    match HANDLER.with(|handler| *handler) {
        Some(handler) => handler(fault),
        None => print(fault),
    }
}

/// Reports the live blocks of an allocator to the handler, if there are any and there is one.
#[inline(always)]
pub(crate) fn report_leak(leak: impl FnOnce() -> Leak) {
    if cfg!(debug_assertions)
        && let Some(handler) = HANDLER.with(|handler| *handler)
    {
        let leak = leak();
        if leak.count > 0 {
            handler(&Fault::Leaked(leak));
        }
    }
}

/// Prints a fault to standard error, if there is one.
fn print(fault: &Fault) {
    #[cfg(feature = "std")]
    {
        use std::io::Write;

        // Standard error has no buffer, and formatting does not allocate: the fault may be one of
        // the program's allocator. A closed standard error is no reason to fail.
        let _ = writeln!(std::io::stderr(), "drystone-memory: {fault}");
    }
    #[cfg(not(feature = "std"))]
    let _ = fault;
}
