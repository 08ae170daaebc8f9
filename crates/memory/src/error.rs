use core::fmt;

/// Reason why an allocation or a release failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No free piece of memory is large enough.
    Full {
        /// Requested size, in bytes.
        requested: u64,
        /// Largest single free range, in bytes.
        largest_free: u64,
        /// Sum of all free ranges, in bytes.
        total_free: u64,
    },
    /// The allocator has no such block.
    NotAllocated,
    /// The size is zero or larger than any memory.
    InvalidSize,
    /// The block is not the last one: blocks allocated later must be freed first.
    OutOfOrder,
    /// The memory belongs to a frame that is not complete.
    InFlight {
        /// Frame that uses the memory.
        frame: u64,
        /// Last complete frame.
        completed: u64,
    },
    /// The allocator is already enabled and cannot be set up a second time.
    AlreadyEnabled,
}

impl Error {
    /// Error of memory that has nothing free for `requested` bytes.
    #[cold]
    pub(crate) const fn full(requested: usize) -> Self {
        Self::Full { requested: requested as u64, largest_free: 0, total_free: 0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { requested, largest_free, total_free } => write!(
                f,
                "{requested} bytes do not fit: {total_free} are free, at most {largest_free} side by side"
            ),
            Self::NotAllocated => {
                f.write_str("the block is not allocated, or belongs to another allocator")
            }
            Self::InvalidSize => f.write_str("the size is zero or larger than any memory"),
            Self::OutOfOrder => {
                f.write_str("the block is not the last one: free later blocks first")
            }
            Self::InFlight { frame, completed } => write!(
                f,
                "the memory is in use by frame {frame}, and only frame {completed} is complete: wait, \
                 or add a frame to the ring"
            ),
            Self::AlreadyEnabled => {
                f.write_str("already enabled: enable it once, at the start of the program")
            }
        }
    }
}

impl core::error::Error for Error {}
