use core::fmt;

/// Why a place could not be handed out or taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No free place is large enough.
    Full {
        /// What was asked for, in units.
        requested: u64,
        /// The largest single free place, in units.
        largest_free: u64,
        /// All free places together, in units.
        total_free: u64,
    },
    /// The handle's place was given back before.
    Stale,
    /// Nothing is allocated there.
    NotAllocated,
    /// The size is zero or larger than any space could hold.
    InvalidSize,
    /// What was allocated later has to be freed first.
    OutOfOrder,
    /// The memory belongs to a frame that is not complete.
    InFlight {
        /// The frame that has it.
        frame: u64,
        /// The last frame that is complete.
        completed: u64,
    },
    /// It is in use, and can't be set up a second time.
    AlreadyEnabled,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { requested, largest_free, total_free } => write!(
                f,
                "no room for {requested} units: largest free place {largest_free}, free in all {total_free}"
            ),
            Self::Stale => f.write_str("the handle is stale: its place was given back before"),
            Self::NotAllocated => f.write_str("nothing is allocated at that place"),
            Self::InvalidSize => f.write_str("the size is zero or larger than any space can hold"),
            Self::OutOfOrder => {
                f.write_str("the block is not the last: free what was allocated after it first")
            }
            Self::InFlight { frame, completed } => write!(
                f,
                "the memory is in use by frame {frame} and only {completed} is complete: wait, \
                 or have one more"
            ),
            Self::AlreadyEnabled => f.write_str("it is enabled already; do so once, at the start"),
        }
    }
}

impl core::error::Error for Error {}
