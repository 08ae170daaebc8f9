use core::fmt;

/// Maximum number of texels along a side of a texture.
pub(crate) const MAX_TEXTURE_SIDE: u32 = 256;
/// Maximum number of textures of a table.
pub(crate) const MAX_TEXTURES: usize = 4_096;
/// Maximum size of all textures of a table, in bytes.
pub(crate) const MAX_TEXTURE_BYTES: usize = 16 << 20;

/// Reason why a caller's array cannot be meshed, or a texture is refused.
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
    /// A texture has a wrong size.
    TextureSize {
        /// Number of texels along a side.
        side: u32,
        /// Number of bytes of the texels.
        bytes: usize,
    },
    /// A table has too many or too large textures.
    TooManyTextures {
        /// Number of textures.
        count: usize,
        /// Size of all textures in bytes.
        bytes: usize,
    },
    /// A material has a texture that is not in its table.
    NoTexture {
        /// Number of the texture.
        texture: u16,
        /// Number of textures in the table.
        count: usize,
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
            Self::TextureSize { side, bytes } => write!(
                f,
                "a texture with sides of {side} texels and {bytes} bytes: sides must be powers of two \
                 up to {MAX_TEXTURE_SIDE}, with 4 bytes for each texel"
            ),
            Self::TooManyTextures { count, bytes } => write!(
                f,
                "{count} textures of {bytes} bytes: a table holds at most {MAX_TEXTURES} textures of \
                 {MAX_TEXTURE_BYTES} bytes"
            ),
            Self::NoTexture { texture, count } => {
                write!(f, "texture {texture} is not in the table, which has {count} textures")
            }
        }
    }
}

impl core::error::Error for Error {}
