use super::super::row::{Row, stride};
use super::super::row_bits::{bits_by_run, solid_bits};
use super::super::translucent::{Few, Translucent};
use super::{Grid, Masks};
use crate::simd::{Instructions, Work, widest};
use crate::{Material, MaterialTable, PaddedChunk};

/// Search for any voxel that is not air. Ends early if there is one; else it is faster than
/// building masks.
pub(in super::super) struct FindAny<'a>(pub &'a [Material]);

impl Work for FindAny<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Instructions>(self) -> bool {
        let any = |voxels: &[Material]| voxels.iter().fold(0, |any, voxel| any | voxel.0) != 0;
        let (blocks, rest) = self.0.as_chunks::<256>();
        blocks.iter().any(|block| any(block)) || any(rest)
    }
}

/// Finds solid and opaque voxels, including the halo, and voxels equal to their neighbours in rows
/// with exposed voxels. Returns whether any voxel is translucent.
pub(super) struct Find<'a, 's, W: Row> {
    pub masks: &'a mut Masks<'s, W>,
    pub chunk: &'a PaddedChunk,
    pub table: &'a MaterialTable,
}

impl<W: Row> Work for Find<'_, '_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Instructions>(self) -> bool {
        let Self { masks, chunk, table } = self;
        // Constant lengths make the code faster.
        let [side, ..] = masks.grid.extents;
        match W::ROWS - side {
            0 => masks.find::<I>(W::ROWS, chunk, table),
            2 => masks.find::<I>(W::ROWS - 2, chunk, table),
            _ => masks.find::<I>(side, chunk, table),
        }
    }
}

/// Moves cut-out voxels from the opaque ones of ±Z and ±Y to their own masks, including the halo.
struct SeparateCutOut<'a, 's, W: Row> {
    masks: &'a mut Masks<'s, W>,
    chunk: &'a PaddedChunk,
    table: &'a MaterialTable,
}

impl<W: Row> Work for SeparateCutOut<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let Self { masks, chunk, table } = self;
        let [side, ..] = masks.grid.extents;
        let padded = side + 2;
        let [_, of_y, of_z] = &mut masks.layers;
        for (z, y) in (0..padded).flat_map(|z| (0..padded).map(move |y| (z, y))) {
            let (at, at_y) = (y + stride::<W>() * z, z + stride::<W>() * y);
            let row = &chunk.voxels()[padded * (y + padded * z)..];
            let is_end = |end: usize| u64::from(table.is_cut_out(row[end]));
            let ends = W::from_bits(is_end(0) | is_end(side + 1) << 1);
            of_z.ends[at] = of_z.ends[at] & !ends;
            let is_cut_out = |material| table.is_cut_out(material);
            let bits = match of_z.opaque[at] {
                none if none == W::ZERO => W::ZERO,
                opaque => bits_by_run::<W, I>(&row[1..], side, opaque, is_cut_out),
            };
            of_z.opaque[at] = of_z.opaque[at] & !bits;
            of_y.opaque[at_y] = of_z.opaque[at];
            (of_z.cut_out[at], of_y.cut_out[at_y]) = (bits, bits);
        }
    }
}

impl<W: Row> Masks<'_, W> {
    /// Finds the masks for a side that may be a constant.
    #[inline(always)]
    fn find<I: Instructions>(
        &mut self,
        side: usize,
        chunk: &PaddedChunk,
        table: &MaterialTable,
    ) -> bool {
        // Loops of constant length, without repeated reads of the table after each written word.
        let has_translucent = match table.few_translucent() {
            Some([]) => self.read_all::<_, I>(side, chunk, Few([])),
            Some(&[one]) => self.read_all::<_, I>(side, chunk, Few([one])),
            Some(&[one, two]) => self.read_all::<_, I>(side, chunk, Few([one, two])),
            Some(more) => self.read_all::<_, I>(side, chunk, more),
            None => self.read_all::<_, I>(side, chunk, table),
        };
        if table.any_cut_out() {
            widest(SeparateCutOut { masks: self, chunk, table });
        }
        let grid = Grid::cube(side as u32);
        // One call in the loop, so that the code is there once.
        for z in 0..side + usize::from(has_translucent) {
            let rows = if z < side {
                let exposed = self.exposed(side, z);
                self.rows_to_compare(grid, &exposed, has_translucent, z)
            } else {
                self.rows_behind(grid)
            };
            self.compare::<false, I>(grid, (chunk.voxels(), None), rows, z);
        }
        has_translucent
    }

    /// Reads all slices. Returns whether any voxel is translucent.
    #[inline(always)]
    fn read_all<S: Translucent, I: Instructions>(
        &mut self,
        side: usize,
        chunk: &PaddedChunk,
        clear: S,
    ) -> bool {
        let mut any = W::ZERO;
        for z in 0..side + 2 {
            any = any | self.read::<S, I>(side, chunk, clear, z);
        }
        any != W::ZERO
    }

    /// Reads a slice; 0 is the first slice of the halo. Returns the translucent voxels of any of
    /// its rows.
    #[inline(always)]
    fn read<S: Translucent, I: Instructions>(
        &mut self,
        side: usize,
        chunk: &PaddedChunk,
        clear: S,
        z: usize,
    ) -> W {
        let padded = side + 2;
        let [_, of_y, of_z] = &mut self.layers;
        let voxels = &chunk.voxels()[padded * padded * z..];
        let [clear_rows, opaque] = [&mut *of_z.clear, &mut *of_z.opaque]
            .map(|mask| &mut mask[stride::<W>() * z..][..padded]);
        let mut any_clear = W::ZERO;
        let mut first = 1;
        for (clear_bits, opaque) in clear_rows.iter_mut().zip(&mut *opaque) {
            let row = &voxels[first..];
            first += padded;
            let solid = solid_bits::<W, I>(row, side);
            // Opacity is evaluated only in rows with solid voxels.
            *clear_bits = match solid {
                solid if solid == W::ZERO => W::ZERO,
                solid => clear.bits::<W, I>(row, side, solid),
            };
            *opaque = solid & !*clear_bits;
            any_clear = any_clear | *clear_bits;
        }
        let ends = &mut of_z.ends[stride::<W>() * z..][..padded];
        for (ends, row) in ends.iter_mut().zip(voxels.chunks_exact(padded)) {
            let is_opaque = |end: Material| !end.is_air() & !clear.has(end);
            let [low, high] = [row[0], row[side + 1]].map(|end| u64::from(is_opaque(end)));
            let same = u64::from(row[side] == row[side + 1]);
            *ends = W::from_bits(low | high << 1 | same << 2);
        }
        let across = &mut of_y.opaque[z..];
        for (y, &opaque) in opaque.iter().enumerate() {
            across[stride::<W>() * y] = opaque;
        }
        any_clear
    }
}
