use core::ops::{Add, Sub};

/// Position of a voxel in the world, in voxels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct VoxelPos {
    /// Coordinate to the east.
    pub x: i32,
    /// Coordinate upwards.
    pub y: i32,
    /// Coordinate to the south.
    pub z: i32,
}

/// Position of a chunk in the grid of chunks. Chunk `p` of side `n` contains the voxels in `p *
/// n..(p + 1) * n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct ChunkPos {
    /// Coordinate to the east.
    pub x: i32,
    /// Coordinate upwards.
    pub y: i32,
    /// Coordinate to the south.
    pub z: i32,
}

/// Position of a voxel in its chunk; each coordinate is less than the chunk's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct LocalPos {
    /// Coordinate to the east.
    pub x: u8,
    /// Coordinate upwards.
    pub y: u8,
    /// Coordinate to the south.
    pub z: u8,
}

impl VoxelPos {
    /// Creates the position of a voxel from its coordinates.
    #[inline]
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { x, y, z }
    }

    /// Returns the chunk that contains the voxel, and the position in it, for chunks of side `side`
    /// (1 to 64).
    #[inline]
    pub const fn split(self, side: u32) -> (ChunkPos, LocalPos) {
        let n = side as i32;
        let chunk = ChunkPos::new(self.x.div_euclid(n), self.y.div_euclid(n), self.z.div_euclid(n));
        let local = LocalPos::new(
            self.x.rem_euclid(n) as u8,
            self.y.rem_euclid(n) as u8,
            self.z.rem_euclid(n) as u8,
        );
        (chunk, local)
    }

    /// Returns the coordinates in the order X, Y, Z.
    #[inline]
    pub const fn to_array(self) -> [i32; 3] {
        [self.x, self.y, self.z]
    }
}

impl ChunkPos {
    /// Creates the position of a chunk from its grid coordinates.
    #[inline]
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { x, y, z }
    }

    /// Returns the grid coordinates in the order X, Y, Z.
    #[inline]
    pub const fn to_array(self) -> [i32; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns the lowest voxel of the chunk, for chunks of side `side`. Saturates at the limits of
    /// `i32`.
    #[inline]
    pub const fn origin(self, side: u32) -> VoxelPos {
        let n = side as i32;
        VoxelPos::new(self.x.saturating_mul(n), self.y.saturating_mul(n), self.z.saturating_mul(n))
    }

    /// Returns the position `offset` chunks away, or `None` if it exceeds the limits of `i32`.
    #[inline]
    pub const fn offset(self, offset: [i32; 3]) -> Option<Self> {
        match (
            self.x.checked_add(offset[0]),
            self.y.checked_add(offset[1]),
            self.z.checked_add(offset[2]),
        ) {
            (Some(x), Some(y), Some(z)) => Some(Self::new(x, y, z)),
            _ => None,
        }
    }
}

impl LocalPos {
    /// Creates a local position from its coordinates.
    #[inline]
    pub const fn new(x: u8, y: u8, z: u8) -> Self {
        Self { x, y, z }
    }
}

impl From<[i32; 3]> for VoxelPos {
    /// Creates a position from its coordinates in the order X, Y, Z.
    fn from([x, y, z]: [i32; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl From<VoxelPos> for [i32; 3] {
    /// Returns the coordinates in the order X, Y, Z.
    fn from(position: VoxelPos) -> Self {
        position.to_array()
    }
}

impl Add<[i32; 3]> for VoxelPos {
    type Output = Self;

    /// Returns the position this many voxels away. Overflows as `i32` does.
    fn add(self, [x, y, z]: [i32; 3]) -> Self {
        Self::new(self.x + x, self.y + y, self.z + z)
    }
}

impl Sub<[i32; 3]> for VoxelPos {
    type Output = Self;

    /// Returns the position this many voxels away in the opposite direction. Overflows as `i32`
    /// does.
    fn sub(self, [x, y, z]: [i32; 3]) -> Self {
        Self::new(self.x - x, self.y - y, self.z - z)
    }
}

impl Sub for VoxelPos {
    type Output = [i32; 3];

    /// Returns the distance from `origin` along each axis, in voxels. Overflows as `i32` does.
    fn sub(self, origin: Self) -> [i32; 3] {
        [self.x - origin.x, self.y - origin.y, self.z - origin.z]
    }
}

#[cfg(feature = "mint")]
impl mint::IntoMint for VoxelPos {
    type MintType = mint::Point3<i32>;
}

#[cfg(feature = "mint")]
impl From<mint::Point3<i32>> for VoxelPos {
    fn from(point: mint::Point3<i32>) -> Self {
        Self::new(point.x, point.y, point.z)
    }
}

#[cfg(feature = "mint")]
impl From<VoxelPos> for mint::Point3<i32> {
    fn from(position: VoxelPos) -> Self {
        position.to_array().into()
    }
}

impl From<[i32; 3]> for ChunkPos {
    /// Creates a position from its coordinates in the order X, Y, Z.
    fn from([x, y, z]: [i32; 3]) -> Self {
        Self::new(x, y, z)
    }
}

impl From<ChunkPos> for [i32; 3] {
    /// Returns the coordinates in the order X, Y, Z.
    fn from(position: ChunkPos) -> Self {
        position.to_array()
    }
}

impl Add<[i32; 3]> for ChunkPos {
    type Output = Self;

    /// Returns the position this many chunks away. Overflows as `i32` does.
    fn add(self, [x, y, z]: [i32; 3]) -> Self {
        Self::new(self.x + x, self.y + y, self.z + z)
    }
}

impl Sub<[i32; 3]> for ChunkPos {
    type Output = Self;

    /// Returns the position this many chunks away in the opposite direction. Overflows as `i32`
    /// does.
    fn sub(self, [x, y, z]: [i32; 3]) -> Self {
        Self::new(self.x - x, self.y - y, self.z - z)
    }
}

impl Sub for ChunkPos {
    type Output = [i32; 3];

    /// Returns the distance from `origin` along each axis, in chunks. Overflows as `i32` does.
    fn sub(self, origin: Self) -> [i32; 3] {
        [self.x - origin.x, self.y - origin.y, self.z - origin.z]
    }
}

#[cfg(feature = "mint")]
impl mint::IntoMint for ChunkPos {
    type MintType = mint::Point3<i32>;
}

#[cfg(feature = "mint")]
impl From<mint::Point3<i32>> for ChunkPos {
    fn from(point: mint::Point3<i32>) -> Self {
        Self::new(point.x, point.y, point.z)
    }
}

#[cfg(feature = "mint")]
impl From<ChunkPos> for mint::Point3<i32> {
    fn from(position: ChunkPos) -> Self {
        position.to_array().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_voxels_split_downwards() {
        let (chunk, local) = VoxelPos::new(-1, 31, 32).split(32);
        assert_eq!(chunk, ChunkPos::new(-1, 0, 1));
        assert_eq!(local, LocalPos::new(31, 31, 0));
        assert_eq!(chunk.origin(32), VoxelPos::new(-32, 0, 32));
    }

    #[test]
    fn coordinates_at_the_limits_do_not_overflow() {
        let (chunk, local) = VoxelPos::new(i32::MIN, i32::MAX, 0).split(64);
        assert_eq!(chunk.origin(64).x, i32::MIN);
        assert_eq!(local.y, 63);
        assert_eq!(ChunkPos::new(i32::MAX, 0, 0).offset([1, 0, 0]), None);
    }

    #[test]
    fn positions_and_offsets_add_up() {
        let (a, b) = (VoxelPos::new(3, -4, 5), VoxelPos::new(-1, 2, 7));
        assert_eq!(a - b, [4, -6, -2]);
        assert_eq!((b + (a - b), a - (a - b)), (a, b));
        let (a, b) = (ChunkPos::from([3, -4, 5]), ChunkPos::from([-1, 2, 7]));
        assert_eq!((b + (a - b), a - (a - b)), (a, b));
        assert_eq!(<[i32; 3]>::from(a), a.to_array());
    }

    #[cfg(feature = "mint")]
    #[test]
    fn positions_convert_to_mint_and_back() {
        let point = mint::Point3 { x: 1, y: -2, z: 3 };
        assert_eq!(mint::Point3::from(VoxelPos::from(point)), point);
        assert_eq!(mint::Point3::from(ChunkPos::from(point)), point);
    }
}
