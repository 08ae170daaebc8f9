use drystone_mesh::Face;

use super::facing::axes;
use super::find::beside;
use super::masks::{Layers, place, stride};
use super::row::Row;
use crate::occlusion::{corner_steps, darkness};

/// The rows of opaque voxels that a layer of faces looks at, from the halo's first on: what
/// darkens the corners of its faces.
pub(super) struct Outside<'a, W> {
    rows: &'a [W],
    ends: &'a [W],
    side: usize,
}

/// A row as seen from each of its voxels: the one before, the voxel itself, the one behind.
type Near<W> = [W; 3];

impl<'a, W: Row> Outside<'a, W> {
    /// The layer `beyond`, counted from −1.
    #[inline(always)]
    pub(super) fn new(layers: &'a Layers<'_, W>, beyond: isize, side: usize) -> Self {
        let first = place::<W>(-1, beyond);
        let [rows, ends] = [&*layers.opaque, &*layers.ends];
        Self { rows: &rows[first..][..stride::<W>()], ends: &ends[first..][..stride::<W>()], side }
    }

    #[inline(always)]
    fn near(&self, row: usize) -> Near<W> {
        let here = self.rows[row];
        let [low, high] = beside(here, self.ends[row], self.side);
        [low, here, high]
    }

    /// Of which faces of a row the shade is the same from end to end along the row, and
    /// across rows: those that may join others. Two neighbours that are both so shade alike,
    /// for they share two corners.
    #[inline(always)]
    pub(super) fn flat(&self, row: usize) -> [W; 2] {
        let [before, here, behind] = [self.near(row), self.near(row + 1), self.near(row + 2)];
        let corner = |side: W, row: Near<W>, between: W| {
            let (both, any) = (side & row[1], side | row[1]);
            [any ^ between | both, any & between | both]
        };
        let low = [corner(here[0], before, before[0]), corner(here[2], before, before[2])];
        let high = [corner(here[0], behind, behind[0]), corner(here[2], behind, behind[2])];
        let differ = |a: [W; 2], b: [W; 2]| (a[0] ^ b[0]) | (a[1] ^ b[1]);
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
        let bit = |word: W, to: u32| ((word >> bit as usize).bits() as u32 & 1) << to;
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
