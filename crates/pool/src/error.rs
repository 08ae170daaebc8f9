use core::fmt;

use crate::{ALIGNMENT_BYTES, BackendError, MeshHandle};

/// Meshes that [`PoolError::Full`] names.
pub const CANDIDATES: usize = 4;

/// Why a pool refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// No free place is large enough and there can be no further buffer; nothing was
    /// changed.
    Full {
        /// Elements asked for.
        requested: u64,
        /// The largest free place, in elements.
        largest_free: u64,
        /// All free places together, in elements.
        total_free: u64,
        /// Elements in freed places that unfinished frames may still read: they are free
        /// once these have completed.
        waiting: u64,
        /// Whether there could be a further buffer, had the device the memory.
        device_refused: bool,
        /// The meshes that were drawn or inserted longest ago, that one first: the best to
        /// remove. Drawn is what commands are made for: a frame that keeps the last ones, or
        /// patches those of few meshes, says so of none, or of these alone.
        least_recently_drawn: [Option<MeshHandle>; CANDIDATES],
    },
    /// The mesh is larger than any place could be, and the pool does not split meshes.
    MeshTooLarge {
        /// The mesh's elements.
        elements: u64,
        /// Elements of the largest place.
        limit: u32,
    },
    /// There are as many meshes as there may be; nothing was changed.
    SlotsFull {
        /// How many that is.
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
    /// An index names a vertex that the mesh does not have.
    NoSuchVertex {
        /// The index.
        index: u32,
        /// The mesh's vertices.
        vertices: usize,
    },
    /// A writer was given more elements or parts than it reserved; what was written before
    /// is still there.
    Overrun {
        /// Elements reserved.
        elements: u32,
    },
    /// The configuration asks for more than a draw command can address.
    TooLarge {
        /// Elements or meshes asked for.
        capacity: u32,
        /// The most there can be.
        limit: u32,
    },
    /// Elements or per-draw data have a size that no backend need accept; see
    /// [`ALIGNMENT_BYTES`](crate::ALIGNMENT_BYTES).
    Unaligned {
        /// Bytes of an element, or of a mesh's per-draw data.
        size_bytes: usize,
    },
    /// A draw command could count more indices than 32 bits hold.
    TooManyIndices {
        /// Elements that one command draws at most.
        elements: u32,
        /// The most that fit.
        limit: u32,
    },
    /// The device refused a write, or a request that is not one for a buffer; nothing was
    /// changed.
    Backend(BackendError),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { requested, largest_free, total_free, waiting, device_refused, .. } => {
                let reason =
                    if *device_refused { " and the device has no memory for more" } else { "" };
                write!(
                    f,
                    "vertex pool full{reason}: {requested} elements asked for, largest free place \
                     {largest_free}, free in all {total_free}, soon to be free {waiting}; remove \
                     meshes or make the pool larger"
                )
            }
            Self::MeshTooLarge { elements, limit } => write!(
                f,
                "a mesh of {elements} elements is larger than any place of the vertex pool \
                 ({limit}); let the pool split meshes, or make its places larger"
            ),
            Self::SlotsFull { capacity } => {
                write!(f, "vertex pool full: all {capacity} mesh slots are taken; remove meshes")
            }
            Self::Stale => f.write_str(
                "the mesh handle is stale: its mesh was removed before or lives in another pool",
            ),
            Self::PartsMismatch { elements, counted, parts } => write!(
                f,
                "{parts} parts count {counted} elements where {elements} were given (at most 8 parts)"
            ),
            Self::NoSuchVertex { index, vertices } => write!(
                f,
                "index {index} names none of the mesh's {vertices} vertices; indices count from \
                 its own first vertex"
            ),
            Self::Overrun { elements } => write!(
                f,
                "more was written than the {elements} elements and 8 parts reserved; reserve the \
                 worst case"
            ),
            Self::TooLarge { capacity, limit } => {
                write!(f, "a pool of {capacity} cannot be addressed: at most {limit}")
            }
            Self::Unaligned { size_bytes } => write!(
                f,
                "elements and per-draw data of {size_bytes} bytes cannot be copied on every \
                 device; make their size a multiple of {ALIGNMENT_BYTES} bytes"
            ),
            Self::TooManyIndices { elements, limit } => write!(
                f,
                "a draw command of {elements} elements has more than 2^32 - 1 indices; set \
                 `pattern_elements` to {limit} at most"
            ),
            Self::Backend(error) => write!(f, "vertex pool: {error}"),
        }
    }
}

impl core::error::Error for PoolError {}

impl From<BackendError> for PoolError {
    fn from(error: BackendError) -> Self {
        Self::Backend(error)
    }
}
