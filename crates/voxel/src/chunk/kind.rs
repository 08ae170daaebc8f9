use core::fmt;

/// Kind of storage for a chunk's voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorageKind {
    /// One material for all voxels.
    Uniform,
    /// Numbers of fixed size: 1, 2, 4 or 8 bits index a list of materials; 16 bits are the material
    /// itself.
    Palette {
        /// Bits per voxel.
        bits: u32,
    },
    /// Bricks of 4³ voxels: one material, or a short list of materials with an index of minimum
    /// size per voxel.
    Bricks,
    /// Runs of consecutive voxels of one material.
    Runs,
}

impl fmt::Display for StorageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Palette { bits: 1 } => f.write_str("1 bit"),
            Self::Palette { bits } => write!(f, "{bits} bits"),
            Self::Bricks => f.write_str("bricks"),
            Self::Runs => f.write_str("runs"),
        }
    }
}
