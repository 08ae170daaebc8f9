use super::masks::{Layers, Masks, place, stride};
use super::row::Row;
use super::row_bits::{bits_where, bits_where_all_equal, bits_where_equal, low_bits, solid_bits};
use crate::simd::{Instructions, Work};
use crate::{Material, MaterialTable, PaddedChunk};

/// Finds what is solid and what is opaque, halo included, and whether there is anything but
/// air.
pub(super) struct FindSolid<'a, 's, W> {
    pub masks: &'a mut Masks<'s, W>,
    pub chunk: &'a PaddedChunk,
    pub table: &'a MaterialTable,
}

impl<W: Row> Work for FindSolid<'_, '_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Instructions>(self) -> bool {
        let Self { masks, chunk, table } = self;
        // Loops of known length, and nothing to be read again after every word written.
        match table.few_see_through() {
            Some([]) => masks.find_solid::<_, I>(chunk, Few([])),
            Some(&[one]) => masks.find_solid::<_, I>(chunk, Few([one])),
            Some(&[one, two]) => masks.find_solid::<_, I>(chunk, Few([one, two])),
            Some(more) => masks.find_solid::<_, I>(chunk, more),
            None => masks.find_solid::<_, I>(chunk, table),
        }
    }
}

/// Finds where voxels are the same as their neighbours, in rows where anything shows.
pub(super) struct FindSame<'a, 's, W> {
    pub masks: &'a mut Masks<'s, W>,
    pub chunk: &'a PaddedChunk,
}

impl<W: Row> Work for FindSame<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        self.masks.find_same::<I>(self.chunk);
    }
}

impl<W: Row> Masks<'_, W> {
    /// Reads every voxel.
    #[inline(always)]
    fn find_solid<S: SeeThrough, I: Instructions>(
        &mut self,
        chunk: &PaddedChunk,
        see_through: S,
    ) -> bool {
        if self.side == W::ROWS {
            self.find_solid_of::<S, I>(W::ROWS, chunk, see_through)
        } else {
            self.find_solid_of::<S, I>(self.side, chunk, see_through)
        }
    }

    /// Of a side that may be a constant.
    #[inline(always)]
    fn find_solid_of<S: SeeThrough, I: Instructions>(
        &mut self,
        side: usize,
        chunk: &PaddedChunk,
        see_through: S,
    ) -> bool {
        let padded = side + 2;
        let [_, of_y, of_z] = &mut self.layers;
        let (mut any_solid, mut any_see_through) = (W::ZERO, W::ZERO);
        for z in 0..padded {
            let voxels = &chunk.voxels()[padded * padded * z..];
            let [solid, opaque, ends] = [&mut *of_z.solid, &mut *of_z.opaque, &mut *of_z.ends]
                .map(|mask| &mut mask[stride::<W>() * z..][..padded]);
            let mut first = 1;
            for (solid, opaque) in solid.iter_mut().zip(&mut *opaque) {
                let row = &voxels[first..];
                first += padded;
                let here = solid_bits::<W, I>(row, side);
                // What is not needed is only asked where it is.
                let clear = match here {
                    here if here == W::ZERO => W::ZERO,
                    here => see_through.bits::<W, I>(row, side, here),
                };
                *solid = here;
                *opaque = here & !clear;
                any_solid = any_solid | here;
                any_see_through = any_see_through | clear;
            }
            for (ends, row) in ends.iter_mut().zip(voxels.chunks_exact(padded)) {
                let is_opaque = |end: Material| !end.is_air() & !see_through.has(end);
                let [low, high] = [row[0], row[side + 1]].map(|end| u64::from(is_opaque(end)));
                let same = u64::from(row[side] == row[side + 1]);
                *ends = W::from_bits(low | high << 1 | same << 2);
            }
            let across = &mut of_y.opaque[z..];
            for (y, &opaque) in opaque.iter().enumerate() {
                across[stride::<W>() * y] = opaque;
            }
        }
        self.has_see_through = any_see_through != W::ZERO;
        any_solid != W::ZERO
    }

    /// Compares rows in which something shows with the rows before them.
    #[inline(always)]
    fn find_same<I: Instructions>(&mut self, chunk: &PaddedChunk) {
        if self.side == W::ROWS {
            self.compare_exposed::<I>(W::ROWS, chunk);
        } else {
            self.compare_exposed::<I>(self.side, chunk);
        }
        if !self.has_see_through {
            return;
        }
        // Beyond the border it only matters what may be the same as a voxel inside and yet
        // not hide it by being opaque.
        let side = self.side;
        for i in 0..side {
            self.compare::<I>(side, chunk, side, i);
            self.compare::<I>(side, chunk, i, side);
        }
        let [_, of_y, of_z] = &mut self.layers;
        for z in 0..side + 2 {
            for y in 0..side + 2 {
                let (to, from) = (z + stride::<W>() * y, y + stride::<W>() * z);
                of_y.solid[to] = of_z.solid[from];
                of_y.before[to] = of_z.across[from];
            }
        }
    }

    /// Of a side that may be a constant.
    #[inline(always)]
    fn compare_exposed<I: Instructions>(&mut self, side: usize, chunk: &PaddedChunk) {
        for z in 0..side {
            let exposed = self.exposed(side, z);
            for y in 0..side {
                if exposed[y] != W::ZERO {
                    self.compare::<I>(side, chunk, y, z);
                }
            }
        }
    }

    /// The voxels of a slice that no opaque voxel covers from at least one of six sides.
    #[inline(always)]
    fn exposed(&self, side: usize, z: usize) -> W::Slice {
        let Layers { opaque, solid, ends, .. } = &self.layers[2];
        let at = place::<W>(0, z as isize);
        let rows = |at: usize| &opaque[at..][..W::ROWS];
        let [here, below, above] = [rows(at), rows(at - 1), rows(at + 1)];
        let [before, behind] = [rows(at - stride::<W>()), rows(at + stride::<W>())];
        let [solid, ends] = [&solid[at..][..W::ROWS], &ends[at..][..W::ROWS]];
        let mut exposed = W::EMPTY;
        for y in 0..W::ROWS {
            let [low, high] = beside(here[y], ends[y], side);
            let covered = below[y] & above[y] & before[y] & behind[y] & low & high;
            exposed[y] = solid[y] & !(here[y] & covered);
        }
        exposed
    }

    /// Compares the row at `y` and `z`, which may be the halo's behind the last, with the
    /// rows before it.
    #[inline(always)]
    fn compare<I: Instructions>(&mut self, side: usize, chunk: &PaddedChunk, y: usize, z: usize) {
        let stride = side + 2;
        let first = stride * ((y + 1) + stride * (z + 1)) + 1;
        let others = [first - 1, first - stride, first - stride * stride];
        let [x, before, slice_before] =
            bits_where_all_equal::<W, I>(chunk.voxels(), first, others, side);
        let [_, of_y, of_z] = &mut self.layers;
        let at = place::<W>(y as isize, z as isize);
        of_z.along[at] = x;
        of_z.across[at] = before;
        of_z.before[at] = slice_before;
        let at = place::<W>(z as isize, y as isize);
        of_y.along[at] = x;
        of_y.across[at] = slice_before;
    }
}

/// The voxels before and behind each of a row, the halo's at its ends included.
#[inline(always)]
pub(super) fn beside<W: Row>(row: W, ends: W, side: usize) -> [W; 2] {
    let one = W::from_bits(1);
    [row << 1 | ends & one, row >> 1 | (ends >> 1 & one) << (side - 1)]
}

/// Which materials are see-through.
trait SeeThrough: Copy {
    fn has(self, material: Material) -> bool;

    /// Of the first `side` voxels of a row, of which those in `solid` are not air.
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, solid: W) -> W;
}

/// A few that are known one by one.
#[derive(Clone, Copy)]
struct Few<const COUNT: usize>([Material; COUNT]);

impl<const COUNT: usize> SeeThrough for Few<COUNT> {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.0.iter().fold(false, |has, &few| has | (material == few))
    }

    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, _: W) -> W {
        let mut bits = W::ZERO;
        for few in self.0 {
            bits = bits | bits_where::<W, I>(row, few, side);
        }
        bits
    }
}

impl SeeThrough for &[Material] {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.contains(&material)
    }

    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, _: W) -> W {
        let mut bits = W::ZERO;
        for &few in self {
            bits = bits | bits_where::<W, I>(row, few, side);
        }
        bits
    }
}

impl SeeThrough for &MaterialTable {
    #[inline(always)]
    fn has(self, material: Material) -> bool {
        self.is_see_through(material)
    }

    /// Of each run of one material, the first is looked up.
    #[inline(always)]
    fn bits<W: Row, I: Instructions>(self, row: &[Material], side: usize, solid: W) -> W {
        // Bit `i`: voxel `i + 1` is the same as voxel `i`.
        let same = bits_where_equal::<W, I>(row, &row[1..], side - 1).bits();
        let mut starts = solid.bits() & !(same << 1);
        let mut bits = W::ZERO;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            if self.is_see_through(row[start as usize]) {
                let length = 1 + (same >> start).trailing_ones() as usize;
                bits = bits | low_bits::<W>(length) << start as usize;
            }
        }
        bits
    }
}
