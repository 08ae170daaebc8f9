use core::fmt;

/// Reason why a polygon operation failed. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A polygon has fewer than three corners.
    TooFewCorners {
        /// Number of corners.
        count: usize,
    },
    /// Two corners of a polygon have the same position.
    RepeatedCorner {
        /// Index of the first corner.
        first: usize,
        /// Index of the second corner.
        second: usize,
    },
    /// A position or texture coordinate is NaN or infinite.
    NotFinite {
        /// Index of the corner.
        corner: usize,
    },
    /// An index refers to a corner or vertex that does not exist.
    NoCorner {
        /// Index of the new corner.
        corner: usize,
        /// Number of existing corners of the original polygon, or vertices of the mesh.
        count: usize,
    },
    /// The normal of a plane is zero or not finite.
    NoPlane,
    /// The handle is stale: its object was removed.
    Stale,
    /// The object already has the maximum of 2³² − 1 owners.
    TooManyOwners,
    /// Memory or indices are exhausted.
    Full(drystone_alloc::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewCorners { count } => {
                write!(f, "the polygon has {count} corners and needs at least three")
            }
            Self::RepeatedCorner { first, second } => {
                write!(f, "corners {first} and {second} have the same position: remove one of them")
            }
            Self::NotFinite { corner } => {
                write!(f, "corner {corner} has a coordinate that is NaN or infinite")
            }
            Self::NoCorner { corner, count } => {
                write!(
                    f,
                    "the index of corner {corner} is not below {count}, the number of corners or vertices"
                )
            }
            Self::NoPlane => f.write_str("the normal of a plane must be finite and not zero"),
            Self::Stale => f.write_str("the handle is stale: its object was removed before"),
            Self::TooManyOwners => {
                f.write_str("the object already has the maximum number of owners")
            }
            Self::Full(error) => write!(f, "out of memory: {error}"),
        }
    }
}

impl core::error::Error for Error {}

impl From<drystone_alloc::Error> for Error {
    fn from(error: drystone_alloc::Error) -> Self {
        match error {
            drystone_alloc::Error::Stale => Self::Stale,
            error => Self::Full(error),
        }
    }
}

/// Returns the error for `bytes` bytes that could not be allocated.
#[cold]
pub(crate) fn full(bytes: usize) -> Error {
    let requested = bytes as u64;
    Error::Full(drystone_alloc::Error::Full { requested, largest_free: 0, total_free: 0 })
}
