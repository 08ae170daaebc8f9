/// A voxel's place in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VoxelPos {
    /// East.
    pub x: i32,
    /// Up.
    pub y: i32,
    /// South.
    pub z: i32,
}

/// A chunk's place in the grid of chunks: chunk `p` of side `n` holds the voxels from
/// `p * n` up to, not including, `(p + 1) * n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkPos {
    /// East.
    pub x: i32,
    /// Up.
    pub y: i32,
    /// South.
    pub z: i32,
}

/// A voxel's place in its chunk, each coordinate below the chunk's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalPos {
    /// East.
    pub x: u8,
    /// Up.
    pub y: u8,
    /// South.
    pub z: u8,
}

impl VoxelPos {
    /// The voxel at these coordinates.
    #[inline]
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { x, y, z }
    }

    /// The chunk of side `side` (1 to 64) that the voxel lies in, and where in it.
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

    /// The coordinates in the order X, Y, Z.
    #[inline]
    pub const fn to_array(self) -> [i32; 3] {
        [self.x, self.y, self.z]
    }
}

impl ChunkPos {
    /// The chunk at these grid coordinates.
    #[inline]
    pub const fn new(x: i32, y: i32, z: i32) -> Self {
        Self { x, y, z }
    }

    /// The lowest voxel of the chunk, for chunks of side `side`. Saturates at the end of
    /// the world.
    #[inline]
    pub const fn origin(self, side: u32) -> VoxelPos {
        let n = side as i32;
        VoxelPos::new(self.x.saturating_mul(n), self.y.saturating_mul(n), self.z.saturating_mul(n))
    }

    /// The chunk `offset` further on, or `None` past the end of the numbers.
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
    /// The voxel at these local coordinates.
    #[inline]
    pub const fn new(x: u8, y: u8, z: u8) -> Self {
        Self { x, y, z }
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
    fn the_ends_of_the_world_hold() {
        let (chunk, local) = VoxelPos::new(i32::MIN, i32::MAX, 0).split(64);
        assert_eq!(chunk.origin(64).x, i32::MIN);
        assert_eq!(local.y, 63);
        assert_eq!(ChunkPos::new(i32::MAX, 0, 0).offset([1, 0, 0]), None);
    }
}
