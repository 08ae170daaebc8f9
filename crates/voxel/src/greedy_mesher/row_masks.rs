use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::Face;

use super::row_bits::{bits_where_all_equal, bits_where_equal, bits_where_solid, low_bits};
use crate::simd::{Work, widest};
use crate::{Material, MaterialTable, PaddedChunk};

/// What the merging must know of a chunk's voxels: one bit a voxel, one word a row.
///
/// A row runs along X through the chunk, bit `x` for the voxel at `x`. The halo's two
/// voxels at its ends stay outside the word, so that 64 a side fit.
///
/// `ROWS` is 16, 32 or 64, the next from the side up. Words lie as if the chunk were `ROWS`
/// a side: row `y` of slice `z` at `(y + 1) + (ROWS + 2) * (z + 1)`, the halo's rows before
/// and behind. All loops over the rows of a slice are then of a length that the compiler
/// knows; rows that are not there are zero.
pub(super) struct RowMasks<'s, const ROWS: usize> {
    side: usize,
    has_see_through: bool,
    /// Not air.
    solid: &'s mut [u64],
    /// Not air and not see-through.
    opaque: &'s mut [u64],
    /// Bits 0 and 1: the halo hides the low side of the row's first voxel, the high side of
    /// its last.
    ends: &'s mut [u64],
    /// Solid, with at least one of six sides that no opaque voxel covers.
    exposed: &'s mut [u64],
    /// Same material as the voxel before in X, Y and Z. Zero in rows where nothing shows.
    same: [&'s mut [u64]; 3],
}

impl<'s, const ROWS: usize> RowMasks<'s, ROWS> {
    /// From one Z to the next, in rows.
    pub(super) const STRIDE: usize = ROWS + 2;
    /// Rows in all.
    pub(super) const COUNT: usize = Self::STRIDE * Self::STRIDE;

    /// Takes the masks of `chunk`, or `None` where there is nothing but air. An error if
    /// `scratch` has no room for them.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        scratch: &'s Linear<'_>,
    ) -> Result<Option<Self>, Error> {
        let none = || scratch.alloc_slice_with(Self::COUNT, |_| 0);
        let side = chunk.side() as usize;
        let mut masks = Self {
            side,
            has_see_through: false,
            solid: none()?,
            opaque: &mut [],
            ends: &mut [],
            exposed: &mut [],
            same: [&mut [], &mut [], &mut []],
        };
        if !widest(FindSolid(&mut masks, chunk)) {
            return Ok(None);
        }
        masks.opaque = scratch.alloc_slice(masks.solid)?;
        masks.ends = none()?;
        masks.exposed = none()?;
        masks.same = [none()?, none()?, none()?];
        if table.any_see_through() {
            widest(FindOpaque(&mut masks, chunk, table));
        }
        widest(FindExposed(&mut masks, chunk, table));
        widest(FindSame(&mut masks, chunk));
        Ok(Some(masks))
    }

    /// Voxels a side.
    #[inline(always)]
    pub(super) fn side(&self) -> usize {
        self.side
    }

    /// The number of the row at `y` and `z` of the chunk.
    #[inline(always)]
    pub(super) const fn row(y: usize, z: usize) -> usize {
        (y + 1) + Self::STRIDE * (z + 1)
    }

    /// The rows at `z` of the chunk, from the one at `y` 0.
    #[inline(always)]
    pub(super) fn slice(mask: &[u64], z: usize) -> &[u64] {
        &mask[Self::row(0, z)..][..ROWS]
    }

    /// What is opaque, row by row, halo included.
    #[inline(always)]
    pub(super) fn opaque(&self) -> &[u64] {
        self.opaque
    }

    /// Whether chunk or halo hold anything see-through.
    #[inline(always)]
    pub(super) fn has_see_through(&self) -> bool {
        self.has_see_through
    }

    /// Where the voxel is the same as the one before in X, Y and Z, row by row.
    #[inline(always)]
    pub(super) fn same(&self) -> [&[u64]; 3] {
        self.same.each_ref().map(|same| &**same)
    }

    /// Writes to `visible`, row by row, the visible faces of a facing that are
    /// see-through, or that are not. What it holds for rows of the halo means nothing.
    /// Returns a word with a bit for each layer that has any.
    ///
    /// The rule of [`face_is_visible`](crate::face_is_visible) in bits: drawn is what is
    /// solid, unless the neighbour is opaque or the same. (Of two same voxels that are
    /// opaque, the first condition already speaks.)
    #[inline(always)]
    pub(super) fn visible(&self, face: Face, see_through: bool, visible: &mut [u64]) -> u64 {
        let mut by_row = [0; ROWS];
        let mut by_slice = 0;
        for z in 0..self.side {
            let at = Self::row(0, z);
            let shown = &mut visible[at..][..ROWS];
            if see_through {
                self.show_see_through(face, at, shown);
            } else {
                self.show_opaque(face, at, shown);
            }
            // The row after the last is the halo's.
            if let Some(halo) = shown.get_mut(self.side) {
                *halo = 0;
            }
            let mut any = 0;
            for (all, &shown) in by_row.iter_mut().zip(&*shown) {
                *all |= shown;
                any |= shown;
            }
            by_slice |= u64::from(any != 0) << z;
        }
        match face.axis() {
            0 => by_row.iter().fold(0, |any, bits| any | bits),
            1 => occupied(&by_row),
            _ => by_slice,
        }
    }

    /// The visible opaque faces of a slice whose first row is at `at`.
    #[inline(always)]
    fn show_opaque(&self, face: Face, at: usize, shown: &mut [u64]) {
        let opaque = &self.opaque[at..][..ROWS];
        if face.axis() == 0 {
            let ends = &self.ends[at..][..ROWS];
            for y in 0..ROWS {
                shown[y] = opaque[y] & !self.covered_x(face, opaque[y], ends[y]);
            }
        } else {
            let covered = &self.opaque[self.beyond(face, at)..][..ROWS];
            for y in 0..ROWS {
                shown[y] = opaque[y] & !covered[y];
            }
        }
    }

    /// The visible see-through faces of a slice whose first row is at `at`.
    #[inline(always)]
    fn show_see_through(&self, face: Face, at: usize, shown: &mut [u64]) {
        let [solid, opaque] = [&*self.solid, &*self.opaque].map(|mask| &mask[at..][..ROWS]);
        let same = &*self.same[face.axis()];
        if face.axis() == 0 {
            let [ends, same] = [&*self.ends, same].map(|mask| &mask[at..][..ROWS]);
            let shift = u32::from(face.is_positive());
            for y in 0..ROWS {
                let hidden = self.covered_x(face, opaque[y], ends[y]) | same[y] >> shift;
                shown[y] = solid[y] & !(opaque[y] | hidden);
            }
        } else {
            let beyond = self.beyond(face, at);
            let covered = &self.opaque[beyond..][..ROWS];
            // The later of two rows knows whether both are the same.
            let same = &same[at.max(beyond)..][..ROWS];
            for y in 0..ROWS {
                shown[y] = solid[y] & !(opaque[y] | covered[y] | same[y]);
            }
        }
    }

    /// What covers the X sides of the voxels of a row.
    #[inline(always)]
    fn covered_x(&self, face: Face, opaque: u64, ends: u64) -> u64 {
        if face.is_positive() {
            opaque >> 1 | (ends >> 1) << (self.side - 1)
        } else {
            opaque << 1 | ends & 1
        }
    }

    /// The row that the row at `at` turns a facing to, which is not along X.
    #[inline(always)]
    fn beyond(&self, face: Face, at: usize) -> usize {
        let step = if face.axis() == 1 { 1 } else { Self::STRIDE };
        if face.is_positive() { at + step } else { at - step }
    }

    /// Whether there is anything in the chunk or its halo but air.
    #[inline(always)]
    fn find_solid(&mut self, chunk: &PaddedChunk) -> bool {
        let side = self.side;
        let stride = side + 2;
        let voxels = chunk.voxels();
        let mut any = 0;
        let mut first = 1;
        for z in 0..stride {
            for solid in &mut self.solid[z * Self::STRIDE..][..stride] {
                *solid = bits_where_solid::<ROWS>(&voxels[first..], side);
                any |= *solid;
                first += stride;
            }
        }
        any != 0
    }

    /// Takes what is see-through from what is solid. Only rows with something in them are
    /// asked for their materials.
    #[inline(always)]
    fn find_opaque(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        let stride = self.side + 2;
        let few = table.few_see_through();
        let mut any = 0;
        for z in 0..stride {
            for y in 0..stride {
                let opaque = &mut self.opaque[y + Self::STRIDE * z];
                let solid = *opaque;
                if solid != 0 {
                    let row = &chunk.voxels()[(y + stride * z) * stride..];
                    *opaque &= !match few {
                        Some(few) => bits_of_few::<ROWS>(&row[1..], self.side, few),
                        None => see_through_bits::<ROWS>(solid, row, self.side, table),
                    };
                    any |= solid ^ *opaque;
                }
            }
        }
        self.has_see_through = any != 0;
    }

    /// Looks at the halo at both ends of each row of a slice.
    #[inline(always)]
    fn find_ends(&mut self, z: usize, chunk: &PaddedChunk, table: Option<&MaterialTable>) {
        let hides = |halo: Material, inner: Material| {
            let solid = !halo.is_air();
            // Where nothing is see-through, there is no branch: what lies there cannot be
            // guessed.
            let Some(table) = table else { return u64::from(solid) };
            u64::from(solid && (halo == inner || !table.is_see_through(halo)))
        };
        let side = self.side;
        let stride = side + 2;
        let rows = chunk.voxels()[stride * (1 + stride * (z + 1))..].chunks_exact(stride);
        let ends = &mut self.ends[Self::row(0, z)..][..side];
        for (ends, row) in ends.iter_mut().zip(rows) {
            let [low, high] = [hides(row[0], row[1]), hides(row[side + 1], row[side])];
            *ends = low | high << 1;
        }
    }

    #[inline(always)]
    fn find_exposed(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        // Beyond the border it only matters what may be the same as a voxel inside and yet
        // not hide it by being opaque.
        if self.has_see_through {
            let rows = self.solid.iter().zip(&*self.opaque);
            for (exposed, (solid, opaque)) in self.exposed.iter_mut().zip(rows) {
                *exposed = solid & !opaque;
            }
        }
        let last = self.side - 1;
        let table = table.any_see_through().then_some(table);
        for z in 0..self.side {
            self.find_ends(z, chunk, table);
            let at = Self::row(0, z);
            let opaque = |at: usize| &self.opaque[at..][..ROWS];
            let [here, below, above] = [opaque(at), opaque(at - 1), opaque(at + 1)];
            let [before, behind] = [opaque(at - Self::STRIDE), opaque(at + Self::STRIDE)];
            let [solid, ends] = [&self.solid[at..][..ROWS], &self.ends[at..][..ROWS]];
            let exposed = &mut self.exposed[at..][..ROWS];
            for y in 0..ROWS {
                let low = here[y] << 1 | ends[y] & 1;
                let high = here[y] >> 1 | (ends[y] >> 1) << last;
                let covered = below[y] & above[y] & before[y] & behind[y] & low & high;
                exposed[y] |= solid[y] & !covered;
            }
        }
    }

    /// Compares rows in which something shows with the rows before them. That neither of
    /// two rows is needed is not asked: a wrong guess costs more than the comparison.
    #[inline(always)]
    fn find_same(&mut self, chunk: &PaddedChunk) {
        let side = self.side;
        let stride = side + 2;
        let voxels = chunk.voxels();
        for z in 1..stride {
            let slice = Self::STRIDE * z;
            let exposed = &self.exposed[slice..][..Self::STRIDE];
            let [same_x, same_y, same_z] =
                self.same.each_mut().map(|same| &mut same[slice..][..Self::STRIDE]);
            let mut first = stride * stride * z + 1;
            for y in 0..Self::STRIDE {
                if exposed[y] != 0 {
                    let others = [first - 1, first - stride, first - stride * stride];
                    let equal = bits_where_all_equal::<ROWS>(voxels, first, others, side);
                    [same_x[y], same_y[y], same_z[y]] = equal;
                }
                first += stride;
            }
        }
    }
}

struct FindSolid<'a, 's, const ROWS: usize>(&'a mut RowMasks<'s, ROWS>, &'a PaddedChunk);

impl<const ROWS: usize> Work for FindSolid<'_, '_, ROWS> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.find_solid(self.1)
    }
}

struct FindOpaque<'a, 's, const ROWS: usize>(
    &'a mut RowMasks<'s, ROWS>,
    &'a PaddedChunk,
    &'a MaterialTable,
);

impl<const ROWS: usize> Work for FindOpaque<'_, '_, ROWS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.find_opaque(self.1, self.2);
    }
}

struct FindExposed<'a, 's, const ROWS: usize>(
    &'a mut RowMasks<'s, ROWS>,
    &'a PaddedChunk,
    &'a MaterialTable,
);

impl<const ROWS: usize> Work for FindExposed<'_, '_, ROWS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.find_exposed(self.1, self.2);
    }
}

struct FindSame<'a, 's, const ROWS: usize>(&'a mut RowMasks<'s, ROWS>, &'a PaddedChunk);

impl<const ROWS: usize> Work for FindSame<'_, '_, ROWS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.find_same(self.1);
    }
}

/// A word with a bit for each row that is not zero.
#[inline(always)]
pub(super) fn occupied(rows: &[u64]) -> u64 {
    rows.iter().enumerate().fold(0, |bits, (row, &any)| bits | u64::from(any != 0) << row)
}

/// Which voxels of a row are of one of a few materials.
#[inline(always)]
fn bits_of_few<const ROWS: usize>(row: &[Material], side: usize, few: &[Material]) -> u64 {
    few.iter()
        .fold(0, |bits, &material| bits | bits_where_equal::<ROWS>(row, &[material; ROWS], side))
}

/// Which voxels of a padded row, of those in `solid`, are see-through: of each run of one
/// material, the first is looked up.
#[inline(always)]
fn see_through_bits<const ROWS: usize>(
    solid: u64,
    row: &[Material],
    side: usize,
    table: &MaterialTable,
) -> u64 {
    let inner = &row[1..];
    // Bit 0 would compare with the halo, so a run always starts there.
    let same = bits_where_equal::<ROWS>(inner, row, side) & !1;
    let mut starts = solid & !same;
    let mut bits = 0;
    while starts != 0 {
        let start = starts.trailing_zeros();
        starts &= starts - 1;
        if table.is_see_through(inner[start as usize]) {
            let length = 1 + (same >> start >> 1).trailing_ones() as usize;
            bits |= low_bits(length) << start;
        }
    }
    bits
}
