use drystone_mesh::Face;

use super::facing::axes;
use super::find::beside;
use super::masks::{Layers, place, stride};
use super::row::Row;
use crate::occlusion::{corner_steps, darkness};

/// The rows of opaque voxels that a layer of faces looks at, from the halo's first on: what
/// darkens the corners of its faces.
pub(super) struct Outside<'a, W: Row> {
    rows: &'a [W],
    padded: &'a [W::Padded],
    ends: &'a [W],
    side: usize,
}

impl<'a, W: Row> Outside<'a, W> {
    /// The layer `beyond`, counted from −1.
    #[inline(always)]
    pub(super) fn new(layers: &'a Layers<'_, W>, beyond: isize, side: usize) -> Self {
        let first = place::<W>(-1, beyond);
        let [rows, ends] = [&*layers.opaque, &*layers.ends];
        let [rows, ends] = [rows, ends].map(|mask| &mask[first..][..stride::<W>()]);
        let padded = &layers.padded[first..][..stride::<W>()];
        Self { rows, padded, ends, side }
    }

    /// Of which faces the shade is the same from end to end along their row, and across rows:
    /// those that may join others. Two neighbours that are both so shade alike, for they share
    /// two corners.
    #[inline(always)]
    pub(super) fn flat(&self) -> [W::Slice; 2] {
        // Loops of one step each, over rows of known number: compilers make them wide.
        let [before, here, behind] = [self.near::<0>(), self.near::<1>(), self.near::<2>()];
        let low = [
            corners::<W>(&here[0], &before[1], &before[0]),
            corners::<W>(&here[2], &before[1], &before[2]),
        ];
        let high = [
            corners::<W>(&here[0], &behind[1], &behind[0]),
            corners::<W>(&here[2], &behind[1], &behind[2]),
        ];
        [
            alike::<W>([&low[0], &low[1]], [&high[0], &high[1]]),
            alike::<W>([&low[0], &high[0]], [&low[1], &high[1]]),
        ]
    }

    /// The rows from the `FIRST` on, as seen from each of their voxels: the one before, the
    /// voxel itself, the one behind.
    #[inline(always)]
    fn near<const FIRST: usize>(&self) -> [W::Slice; 3] {
        let [rows, ends] = [self.rows, self.ends].map(|mask| &mask[FIRST..][..W::ROWS]);
        let [mut low, mut here, mut high] = [W::EMPTY; 3];
        for row in 0..W::ROWS {
            [low[row], high[row]] = beside(rows[row], ends[row], self.side);
            here[row] = rows[row];
        }
        [low, here, high]
    }

    /// The occlusion of the face at a row and bit.
    #[inline(always)]
    pub(super) fn occlusion(&self, row: u32, bit: u32, table: &[u8; 512]) -> u8 {
        table[W::around(&self.padded[row as usize..], bit)]
    }
}

/// How dark corners are, in two bits: the voxels that share an edge with each, and the one
/// between them.
#[inline(always)]
fn corners<W: Row>(a: &W::Slice, b: &W::Slice, between: &W::Slice) -> [W::Slice; 2] {
    let [mut low, mut high] = [W::EMPTY; 2];
    for row in 0..W::ROWS {
        let (both, any) = (a[row] & b[row], a[row] | b[row]);
        low[row] = (any ^ between[row]) | both;
        high[row] = (any & between[row]) | both;
    }
    [low, high]
}

/// Of which faces both pairs of corners are equally dark.
#[inline(always)]
fn alike<W: Row>(a: [&[W::Slice; 2]; 2], b: [&[W::Slice; 2]; 2]) -> W::Slice {
    let mut alike = W::EMPTY;
    for row in 0..W::ROWS {
        let differ =
            |[a, b]: [&[W::Slice; 2]; 2]| (a[0][row] ^ b[0][row]) | (a[1][row] ^ b[1][row]);
        alike[row] = !(differ(a) | differ(b));
    }
    alike
}

/// The occlusion of a face for each set of its neighbours, as [`Row::around`] numbers them.
pub(super) const fn occlusion_table(face: Face) -> [u8; 512] {
    let bits_are_wide = face.span_axes()[0] == axes(face)[0];
    let mut table = [0; 512];
    let mut around = 0;
    while around < 512 {
        let mut corner = 0;
        while corner < 4 {
            let [u, v] = corner_steps(face, corner);
            let [bit, row] = if bits_are_wide { [u, v] } else { [v, u] };
            // The bit in the middle is what the face looks at.
            let [along, across] = [4 + bit, 4 + 3 * row];
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
