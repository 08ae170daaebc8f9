use core::fmt;

use crate::{
    backend::{ALIGNMENT_BYTES, BackendError},
    mesh::MeshHandle,
};

/// Maximum number of meshes that [`PoolError::Full`] lists for eviction.
pub const EVICTION_CANDIDATES: usize = 4;

/// Meshes that [`PoolError::Full`] lists for eviction, at most [`EVICTION_CANDIDATES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvictionCandidates(pub(crate) [Option<MeshHandle>; EVICTION_CANDIDATES]);

impl EvictionCandidates {
    /// Returns the meshes, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = MeshHandle> {
        self.0.into_iter().flatten()
    }
}

/// Error of a pool operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolError {
    /// No free range is large enough, and no further buffer can be created. Nothing was changed.
    Full {
        /// Requested elements.
        requested: u64,
        /// Elements of the largest free range.
        largest_free: u64,
        /// Elements of all free ranges together.
        total_free: u64,
        /// Elements in retired allocations, which become free when the frames in flight have
        /// completed.
        waiting: u64,
        /// Whether only a lack of device memory prevented a further buffer.
        device_refused: bool,
        /// Meshes that were least recently drawn or inserted, the oldest first: the best ones to
        /// remove. A mesh counts as drawn when its commands are built. A frame that reuses commands
        /// updates no mesh; a frame that patches commands updates only the patched meshes.
        least_recently_drawn: EvictionCandidates,
    },
    /// The mesh exceeds the largest possible allocation, and the pool does not split meshes.
    MeshTooLarge {
        /// Elements of the mesh.
        elements: u64,
        /// Maximum elements of one allocation.
        limit: u32,
    },
    /// The pool has its maximum number of meshes. Nothing was changed.
    SlotsFull {
        /// Maximum number of meshes.
        capacity: u32,
    },
    /// The configuration cannot change while the pool contains meshes.
    NotEmpty {
        /// Number of meshes.
        meshes: u32,
    },
    /// The mesh of the handle was removed, or belongs to another pool.
    Stale,
    /// The part counts do not add up to the number of elements, or there are too many parts.
    PartsMismatch {
        /// Number of elements passed.
        elements: usize,
        /// Sum of the part counts.
        counted: u64,
        /// Number of parts passed.
        parts: usize,
    },
    /// An index exceeds the vertices of the mesh.
    NoSuchVertex {
        /// Value of the index.
        index: u32,
        /// Number of vertices of the mesh.
        vertices: usize,
    },
    /// More elements or parts were written than the writer reserved. Elements written before
    /// remain.
    Overrun {
        /// Reserved elements.
        elements: u32,
    },
    /// The configuration exceeds what a draw command can address.
    TooLarge {
        /// Configured elements or meshes.
        capacity: u32,
        /// Maximum that can be addressed.
        limit: u32,
    },
    /// The size of elements or per-draw data is not a multiple of
    /// [`ALIGNMENT_BYTES`].
    Unaligned {
        /// Size of an element or of a mesh's per-draw data, in bytes.
        size_bytes: usize,
    },
    /// The index count of a draw command could exceed 32 bits.
    TooManyIndices {
        /// Maximum elements of one command.
        elements: u32,
        /// Maximum elements whose indices fit 32 bits.
        limit: u32,
    },
    /// The device refused a write or another request. Nothing was changed.
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
                    "vertex pool full{reason}: {requested} elements requested, largest free range \
                     {largest_free}, free in total {total_free}, waiting for frames {waiting}; \
                     remove meshes or make the pool larger"
                )
            }
            Self::MeshTooLarge { elements, limit } => write!(
                f,
                "a mesh of {elements} elements exceeds the largest allocation of the vertex pool \
                 ({limit} elements); let the pool split meshes, or make its buffers or buckets \
                 larger"
            ),
            Self::SlotsFull { capacity } => {
                write!(f, "vertex pool full: all {capacity} mesh slots are used; remove meshes")
            }
            Self::NotEmpty { meshes } => write!(
                f,
                "the configuration of a vertex pool cannot change while it contains {meshes} \
                 meshes; remove them first"
            ),
            Self::Stale => f.write_str(
                "the mesh handle is stale: its mesh was removed or belongs to another pool",
            ),
            Self::PartsMismatch { elements, counted, parts } => write!(
                f,
                "{parts} parts count {counted} elements, but {elements} were passed (at most 8 parts)"
            ),
            Self::NoSuchVertex { index, vertices } => write!(
                f,
                "index {index} exceeds the mesh's {vertices} vertices; indices count from \
                 its own first vertex"
            ),
            Self::Overrun { elements } => write!(
                f,
                "more was written than the {elements} elements and 8 parts reserved; reserve the \
                 maximum"
            ),
            Self::TooLarge { capacity, limit } => {
                write!(f, "a pool of {capacity} exceeds the addressable limit of {limit}")
            }
            Self::Unaligned { size_bytes } => write!(
                f,
                "elements and per-draw data of {size_bytes} bytes cannot be copied on every \
                 device; make their size a multiple of {ALIGNMENT_BYTES} bytes"
            ),
            Self::TooManyIndices { elements, limit } => write!(
                f,
                "a draw command of {elements} elements has more than 2^32 - 1 indices; set \
                 `pattern_elements` to at most {limit}"
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
