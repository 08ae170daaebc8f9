use core::fmt;

/// Why something could not be done with a polygon. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A polygon needs three corners.
    TooFewCorners {
        /// How many there are.
        count: usize,
    },
    /// Two corners of a polygon have the same position.
    RepeatedCorner {
        /// The first of them, from 0 on.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// A position or texture coordinate is NaN or infinite.
    NotFinite {
        /// The corner, from 0 on.
        corner: usize,
    },
    /// A corner is given by a number, and there is none of that number.
    NoCorner {
        /// The corner, from 0 on.
        corner: usize,
        /// How many there are: of an original's corners, of a mesh's vertices.
        count: usize,
    },
    /// A plane's normal is zero, or not all of its numbers are finite.
    NoPlane,
    /// The handle is stale: what it named is gone.
    Stale,
    /// It has 2³² − 1 owners, and can't be counted for one more.
    TooManyOwners,
    /// Memory or numbers ran out.
    Full(drystone_alloc::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewCorners { count } => {
                write!(f, "a polygon of {count} corners: it needs three at least")
            }
            Self::RepeatedCorner { first, second } => {
                write!(f, "corners {first} and {second} have the same position: leave one out")
            }
            Self::NotFinite { corner } => {
                write!(f, "corner {corner} has a coordinate that is NaN or infinite")
            }
            Self::NoCorner { corner, count } => {
                write!(f, "corner {corner} is to be one of {count} by number, and is none of them")
            }
            Self::NoPlane => f.write_str("no plane: its normal must be finite and not zero"),
            Self::Stale => f.write_str("the handle is stale: what it named was removed before"),
            Self::TooManyOwners => f.write_str("it has as many owners as can be counted"),
            Self::Full(error) => write!(f, "no memory for it: {error}"),
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

/// No memory for `bytes` more.
#[cold]
pub(crate) fn full(bytes: usize) -> Error {
    let requested = bytes as u64;
    Error::Full(drystone_alloc::Error::Full { requested, largest_free: 0, total_free: 0 })
}
