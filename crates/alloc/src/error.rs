use core::fmt;

/// Reason why an allocation or a release failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No free range or slot is large enough.
    Full {
        /// Requested size, in units.
        requested: u64,
        /// Largest single free range, in units.
        largest_free: u64,
        /// Sum of all free ranges, in units.
        total_free: u64,
    },
    /// The handle is stale: its allocation was freed before.
    Stale,
    /// The index or offset is not allocated.
    NotAllocated,
    /// The size is zero or larger than any space could hold.
    InvalidSize,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { requested, largest_free, total_free } => write!(
                f,
                "{requested} units do not fit: {total_free} are free, at most {largest_free} side by side"
            ),
            Self::Stale => f.write_str("the handle is stale: its allocation was freed before"),
            Self::NotAllocated => f.write_str("nothing is allocated at this index or offset"),
            Self::InvalidSize => f.write_str("the size is zero or larger than any space can hold"),
        }
    }
}

impl core::error::Error for Error {}
