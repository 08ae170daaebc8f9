use core::fmt;

/// Why a pool refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// No free place is large enough; nothing was changed.
    Full {
        /// Elements asked for.
        requested: u64,
        /// The largest free place, in elements.
        largest_free: u64,
        /// All free places together, in elements.
        total_free: u64,
    },
    /// Every slot of the draw-data table is taken; nothing was changed.
    SlotsFull {
        /// How many slots there are.
        capacity: u32,
    },
    /// The handle's mesh was removed before, or lives in another pool.
    Stale,
    /// The parts' counts do not add up to the elements given, or there are too many parts.
    PartsMismatch {
        /// Elements given.
        elements: usize,
        /// Sum of the parts' counts.
        counted: u64,
        /// Parts given.
        parts: usize,
    },
    /// The configuration asks for more than a draw command can address.
    TooLarge {
        /// Elements asked for.
        capacity: u32,
        /// The most there can be.
        limit: u32,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { requested, largest_free, total_free } => write!(
                f,
                "vertex pool full: {requested} elements asked for, largest free place \
                 {largest_free}, free in all {total_free}; make the pool larger or remove meshes"
            ),
            Self::SlotsFull { capacity } => {
                write!(f, "vertex pool full: all {capacity} mesh slots are taken")
            }
            Self::Stale => f.write_str("the mesh handle is stale: its mesh was removed before"),
            Self::PartsMismatch { elements, counted, parts } => write!(
                f,
                "{parts} parts count {counted} elements where {elements} were given (at most 8 parts)"
            ),
            Self::TooLarge { capacity, limit } => {
                write!(f, "a pool of {capacity} elements cannot be addressed: at most {limit}")
            }
        }
    }
}

impl core::error::Error for PoolError {}
