use core::fmt;

/// Reason why a caller's array cannot be meshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An extent is not between 1 and 64 voxels.
    Extents {
        /// The extents, in voxels.
        extents: [u32; 3],
    },
    /// The stride of an axis is not larger than the span of the axes with smaller strides: voxels
    /// overlap, or rows interleave.
    Overlap {
        /// The strides, in cells of the slice.
        strides: [usize; 3],
    },
    /// The last voxel of the array is outside the slice.
    OutOfSlice {
        /// Number of cells that the slice needs. `usize::MAX` if the number is larger.
        required: usize,
        /// Number of cells of the slice.
        len: usize,
    },
    /// A merge key does not fit into the 16 bits of a quad's material.
    KeyOutOfRange {
        /// The merge key.
        key: u32,
        /// Position of the voxel, without the halo.
        position: [u32; 3],
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extents { extents: [x, y, z] } => {
                write!(f, "extents of {x} × {y} × {z} voxels: each must be 1 to 64")
            }
            Self::Overlap { strides: [x, y, z] } => write!(
                f,
                "strides of {x}, {y} and {z} cells overlap or interleave: each must be larger than \
                 the span of the axes with smaller strides"
            ),
            Self::OutOfSlice { required, len } => {
                write!(f, "the array needs a slice of {required} cells, and the slice has {len}")
            }
            Self::KeyOutOfRange { key, position: [x, y, z] } => write!(
                f,
                "voxel {x} {y} {z} has the merge key {key}, and quads of 8 bytes hold keys up to \
                 65535: mesh into a KeyedMesh"
            ),
        }
    }
}

impl core::error::Error for Error {}
