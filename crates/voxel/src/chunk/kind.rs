use core::fmt;

/// How a chunk keeps its voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorageKind {
    /// One material for all.
    Uniform,
    /// A number of so many bits for each voxel: 1, 2, 4 or 8 into a list of materials, or
    /// 16, which are the material itself.
    Palette {
        /// Bits a voxel.
        bits: u32,
    },
    /// Cubes of 4³ voxels: one material for all, or a list of a few and a number of as few bits
    /// as they need for each voxel.
    Bricks,
    /// Voxels of one material beside each other as one.
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
