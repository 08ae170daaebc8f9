use super::{Reader, row_of};
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

impl<'a> Voxels<'a> {
    pub(super) fn new(chunk: &'a Chunk) -> Self {
        let row = [Material::AIR; Chunk::MAX_SIDE as usize];
        Self { reader: chunk.reader(), side: chunk.side, at: [0; 3], row }
    }
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

impl<'a> IntoIterator for &'a Chunk {
    type Item = (LocalPos, Material);
    type IntoIter = Voxels<'a>;

    fn into_iter(self) -> Voxels<'a> {
        self.iter()
    }
}
