use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::Face;

use super::facing::axes;
use super::row_masks::RowMasks;
use super::transpose::transpose;
use crate::occlusion::{corner_steps, darkness};
use crate::{MaterialTable, PaddedChunk};

/// What darkens the corners of faces: the opaque voxels of chunk and halo, edges and corners
/// included, in rows along X and in rows along Y.
///
/// A row of 64 has no room for the two voxels of the halo at its ends: they lie in a word
/// beside it, bit 0 the one before, bit 1 the one behind.
pub(super) struct Occluders<'s, const ROWS: usize> {
    side: usize,
    /// The two voxels at the ends of the rows along X, numbered as those of `RowMasks`.
    ends: &'s mut [u64],
    /// Rows along Y: row `x` of slice `z` at `(x + 1) + STRIDE * (z + 1)`.
    turned: &'s mut [u64],
    turned_ends: &'s mut [u64],
}

impl<'s, const ROWS: usize> Occluders<'s, ROWS> {
    const STRIDE: usize = RowMasks::<'static, ROWS>::STRIDE;

    pub(super) fn new(
        masks: &RowMasks<'_, ROWS>,
        chunk: &PaddedChunk,
        table: &MaterialTable,
        scratch: &'s Linear<'_>,
    ) -> Result<Self, Error> {
        let none = || scratch.alloc_slice_with(RowMasks::<ROWS>::COUNT, |_| 0);
        let side = masks.side();
        let mut occluders = Self { side, ends: none()?, turned: none()?, turned_ends: none()? };
        occluders.find_ends(chunk, table);
        for z in 0..side + 2 {
            occluders.turn(masks.opaque(), z);
        }
        Ok(occluders)
    }

    fn find_ends(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        let stride = self.side + 2;
        let is_opaque =
            |voxel| u64::from(!crate::Material::is_air(voxel) && !table.is_see_through(voxel));
        for (i, row) in chunk.voxels().chunks_exact(stride).enumerate() {
            let at = i % stride + Self::STRIDE * (i / stride);
            self.ends[at] = is_opaque(row[0]) | is_opaque(row[stride - 1]) << 1;
        }
    }

    /// Turns the slice at the padded `z`, halo included.
    fn turn(&mut self, opaque: &[u64], z: usize) {
        let side = self.side;
        let first = Self::STRIDE * z;
        let slice = &opaque[first..][..Self::STRIDE];
        let ends = &self.ends[first..][..Self::STRIDE];
        let turned = &mut self.turned[first..][..Self::STRIDE];
        let turned_ends = &mut self.turned_ends[first..][..Self::STRIDE];
        let mut rows = [0; ROWS];
        rows[..side].copy_from_slice(&slice[1..=side]);
        transpose(&mut rows);
        for x in 0..side {
            turned[x + 1] = rows[x];
            turned_ends[x + 1] = slice[0] >> x & 1 | (slice[side + 1] >> x & 1) << 1;
        }
        // The halo's two rows, from the ends of the rows along X.
        for (x, end) in [(0, 0), (side + 1, 1)] {
            let bits = ends[1..=side].iter().rev();
            turned[x] = bits.fold(0, |bits, ends| bits << 1 | ends >> end & 1);
            turned_ends[x] = ends[0] >> end & 1 | (ends[side + 1] >> end & 1) << 1;
        }
    }

    /// The layer that the layer at `at` of a facing looks at.
    #[inline(always)]
    pub(super) fn before<'a>(
        &'a self,
        masks: &'a RowMasks<'_, ROWS>,
        face: Face,
        at: usize,
    ) -> Outside<'a> {
        let (words, ends) = match face.axis() {
            0 => (&*self.turned, &*self.turned_ends),
            _ => (masks.opaque(), &*self.ends),
        };
        let outer = if face.is_positive() { at + 2 } else { at };
        let (first, step) = match face.axis() {
            2 => (Self::STRIDE * outer, 1),
            _ => (outer, Self::STRIDE),
        };
        Outside { words: &words[first..], ends: &ends[first..], step, side: self.side }
    }
}

/// The rows of opaque voxels that a layer looks at, from the halo's first on.
pub(super) struct Outside<'a> {
    words: &'a [u64],
    ends: &'a [u64],
    step: usize,
    side: usize,
}

/// A row as seen from each of its voxels: the one before, the voxel itself, the one behind.
type Near = [u64; 3];

impl Outside<'_> {
    #[inline(always)]
    fn near(&self, row: usize) -> Near {
        let (word, ends) = (self.words[row * self.step], self.ends[row * self.step]);
        [word << 1 | ends & 1, word, word >> 1 | (ends >> 1) << (self.side - 1)]
    }

    /// Of which faces of a row the shade is the same from end to end along the row, and
    /// across rows: those that may join others. Two neighbours that are both so shade alike,
    /// for they share two corners.
    #[inline(always)]
    pub(super) fn flat(&self, row: usize) -> [u64; 2] {
        if row >= self.side {
            return [0; 2];
        }
        let [before, here, behind] = [self.near(row), self.near(row + 1), self.near(row + 2)];
        let corner = |side: u64, row: Near, between: u64| {
            let (both, any) = (side & row[1], side | row[1]);
            [any ^ between | both, any & between | both]
        };
        let low = [corner(here[0], before, before[0]), corner(here[2], before, before[2])];
        let high = [corner(here[0], behind, behind[0]), corner(here[2], behind, behind[2])];
        let differ = |a: [u64; 2], b: [u64; 2]| (a[0] ^ b[0]) | (a[1] ^ b[1]);
        [
            !(differ(low[0], low[1]) | differ(high[0], high[1])),
            !(differ(low[0], high[0]) | differ(low[1], high[1])),
        ]
    }

    /// The occlusion of the face at a row and bit.
    #[inline(always)]
    pub(super) fn occlusion(&self, row: u32, bit: u32, table: &[u8; 256]) -> u8 {
        let row = row as usize;
        let [before, here, behind] = [self.near(row), self.near(row + 1), self.near(row + 2)];
        let bit = |word: u64, to: u32| (word >> bit & 1) << to;
        let around = bit(before[0], 0)
            | bit(before[1], 1)
            | bit(before[2], 2)
            | bit(here[0], 3)
            | bit(here[2], 4)
            | bit(behind[0], 5)
            | bit(behind[1], 6)
            | bit(behind[2], 7);
        table[around as usize]
    }
}

/// The occlusion of a face for each set of its eight neighbours, as
/// [`Outside::occlusion`] numbers them.
pub(super) const fn occlusion_table(face: Face) -> [u8; 256] {
    let bits_are_wide = face.span_axes()[0] == axes(face)[0];
    let mut table = [0; 256];
    let mut around = 0;
    while around < 256 {
        let mut corner = 0;
        while corner < 4 {
            let [u, v] = corner_steps(face, corner);
            let [bit, row] = if bits_are_wide { [u, v] } else { [v, u] };
            let along = if bit < 0 { 3 } else { 4 };
            let across = if row < 0 { 1 } else { 6 };
            let between = across + bit;
            let sides = [around >> along & 1 != 0, around >> across & 1 != 0];
            let dark = darkness(sides, around >> between & 1 != 0);
            table[around] |= dark << (2 * corner);
            corner += 1;
        }
        around += 1;
    }
    table
}
