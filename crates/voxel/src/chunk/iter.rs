use super::{Reader, Table, row_of};
use crate::{Chunk, LocalPos, Material};

/// Buffer for the longest row of a chunk.
type Row = [Material; Chunk::MAX_SIDE as usize];

/// Iterator over all voxels of a chunk with their positions: X fastest, then Y, then Z.
pub struct Voxels<'a> {
    reader: Reader<'a>,
    side: u32,
    /// Position of the next voxel.
    at: [u32; 3],
    row: Row,
}

impl Iterator for Voxels<'_> {
    type Item = (LocalPos, Material);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let [x, y, z] = self.at;
        if z == self.side {
            return None;
        }
        if x == 0 {
            let voxels = row_of(self.side, y, z);
            self.reader.copy(voxels.start, &mut self.row[..voxels.len()]);
        }
        self.at = if x + 1 < self.side {
            [x + 1, y, z]
        } else if y + 1 < self.side {
            [0, y + 1, z]
        } else {
            [0, 0, z + 1]
        };
        Some((LocalPos::new(x as u8, y as u8, z as u8), self.row[x as usize]))
    }
}

impl Chunk {
    /// Iterates over all voxels with their positions: X fastest, then Y, then Z.
    pub fn iter(&self) -> Voxels<'_> {
        let row = [Material::AIR; Self::MAX_SIDE as usize];
        Voxels { reader: self.reader(), side: self.side, at: [0; 3], row }
    }

    /// Iterates over all voxels that are not air, with their positions.
    pub fn iter_solid(&self) -> impl Iterator<Item = (LocalPos, Material)> {
        let all = if self.is_empty() { None } else { Some(self.iter()) };
        all.into_iter().flatten().filter(|(_, material)| !material.is_air())
    }

    /// Calls `each` with Y, Z and the voxels of each row along X, in order.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::{Chunk, Material};
    ///
    /// let mut rows = 0;
    /// Chunk::new(16, Material(1)).for_each_row(|_y, _z, row| {
    ///     assert_eq!(row, [Material(1); 16]);
    ///     rows += 1;
    /// });
    /// assert_eq!(rows, 16 * 16);
    /// ```
    pub fn for_each_row(&self, mut each: impl FnMut(u32, u32, &[Material])) {
        let mut table = Table::new();
        let mut reader = self.reader_of_many(self.volume(), &mut table);
        // Reads whole layers, to share lookups between rows.
        let mut layer = [Material::AIR; (Self::MAX_SIDE * Self::MAX_SIDE) as usize];
        let n = self.side as usize;
        for z in 0..self.side {
            let layer = &mut layer[..n * n];
            reader.copy(row_of(self.side, 0, z).start, layer);
            for (y, row) in (0..).zip(layer.chunks_exact(n)) {
                each(y, z, row);
            }
        }
    }
}

impl<'a> IntoIterator for &'a Chunk {
    type Item = (LocalPos, Material);
    type IntoIter = Voxels<'a>;

    fn into_iter(self) -> Voxels<'a> {
        self.iter()
    }
}
