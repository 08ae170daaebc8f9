use alloc::vec::Vec;

use super::ambient_occlusion::OutsidePlane;
use super::face_steps::stride;
use super::grid::axes;
use super::row::Row;
use super::row_bits::{bits_by_run, bits_where_equal, solid_bits};
use super::translucent::Translucent;
use crate::simd::Instructions;
use crate::{Material, MaterialTable, PaddedChunk};

/// Voxels of one plane of a chunk perpendicular to an axis, row by row, along the
/// [`axes`](super::grid::axes) of that axis.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows with one voxel per bit of a word, and one voxel after the last.
    voxels: Vec<Material>,
}

impl Rows {
    /// Copies a plane; 0 is the first plane of the halo.
    #[inline(always)]
    fn copy<W: Row>(&mut self, chunk: &PaddedChunk, axis: usize, plane: usize) {
        let side = chunk.side() as usize;
        self.voxels.resize(W::ROWS * W::ROWS + 1, Material::AIR);
        let [bit_stride, row_stride] = axes(axis).map(|axis| stride(axis, side));
        let first = plane * stride(axis, side) + bit_stride + row_stride;
        for (row, to) in self.voxels.chunks_exact_mut(W::ROWS).take(side).enumerate() {
            let Some(from) = chunk.voxels().get(first + row * row_stride..) else { return };
            match bit_stride {
                1 => to[..side].copy_from_slice(&from[..side]),
                _ => {
                    let from = from.iter().step_by(bit_stride);
                    to[..side].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }

    #[inline(always)]
    fn row<W: Row>(&self, row: usize) -> &[Material] {
        &self.voxels[row * W::ROWS..]
    }
}

/// Masks of one plane for merging: one bit per voxel, one word per row. Similar to
/// [`Layers`](super::masks::Layers), which stores a whole chunk.
pub(super) struct Plane<W: Row> {
    /// Voxels that [cover](MaterialTable::covers) faces.
    opaque: W::Slice,
    /// Voxels that are cut out. Their faces are opaque.
    cut_out: W::Slice,
    clear: W::Slice,
    has_clear: bool,
    /// Voxels with the material of the previous bit, if they are not air.
    pub along: W::Slice,
    /// Voxels with the material of the same bit in the previous row.
    pub across: W::Slice,
    /// Opaque voxels with the halo, if faces have ambient occlusion.
    pub outside: Option<OutsidePlane<W>>,
}

impl<W: Row> Plane<W> {
    /// Reads a plane of `chunk`, given by its axis and its index, and copies its voxels to `rows`.
    #[inline(always)]
    pub(super) fn read<I: Instructions>(
        rows: &mut Rows,
        chunk: &PaddedChunk,
        table: &MaterialTable,
        [axis, plane]: [usize; 2],
        is_shaded: bool,
    ) -> Self {
        rows.copy::<W>(chunk, axis, plane);
        let mut read = Self::new::<I>(rows, chunk.side() as usize, table);
        if is_shaded {
            read.outside = Some(OutsidePlane::new(chunk, table, [axis, plane], &read.opaque));
        }
        read
    }

    #[inline(always)]
    fn new<I: Instructions>(rows: &Rows, side: usize, table: &MaterialTable) -> Self {
        let mut plane = Self {
            opaque: W::EMPTY,
            cut_out: W::EMPTY,
            clear: W::EMPTY,
            has_clear: false,
            along: W::EMPTY,
            across: W::EMPTY,
            outside: None,
        };
        let mut any_clear = W::ZERO;
        for y in 0..side {
            let row = rows.row::<W>(y);
            let solid = solid_bits::<W, I>(row, side);
            if solid == W::ZERO {
                continue;
            }
            let clear = table.bits::<W, I>(row, side, solid);
            plane.clear[y] = clear;
            plane.opaque[y] = solid & !clear;
            if table.any_cut_out() {
                let is_cut_out = |material| table.is_cut_out(material);
                let cut_out = bits_by_run::<W, I>(row, side, plane.opaque[y], is_cut_out);
                plane.cut_out[y] = cut_out;
                plane.opaque[y] = plane.opaque[y] & !cut_out;
            }
            any_clear = any_clear | clear;
            plane.along[y] = bits_where_equal::<W, I>(&row[1..], row, side - 1) << 1;
            if y > 0 {
                plane.across[y] = bits_where_equal::<W, I>(row, rows.row::<W>(y - 1), side);
            }
        }
        plane.has_clear = any_clear != W::ZERO;
        plane
    }

    /// Returns the voxels that are equal or form one body in two adjacent planes. The result is empty
    /// if a plane has no translucent voxels, since equality does not matter then.
    #[inline(always)]
    pub(super) fn same<I: Instructions>(
        &self,
        other: &Self,
        [rows, others]: [&Rows; 2],
        side: usize,
        table: &MaterialTable,
    ) -> W::Slice {
        let mut same = W::EMPTY;
        if self.has_clear && other.has_clear {
            for y in 0..side {
                let [row, beyond] = [rows.row::<W>(y), others.row::<W>(y)];
                same[y] = bits_where_equal::<W, I>(row, beyond, side);
                let mut pairs = (self.clear[y] & other.clear[y] & !same[y]).bits();
                while pairs != 0 && table.has_bodies() {
                    let bit = pairs.trailing_zeros() as usize;
                    pairs &= pairs - 1;
                    let joins = table.is_one_body(row[bit], beyond[bit]);
                    same[y] = same[y] | W::from_bits(u64::from(joins)) << bit;
                }
            }
        }
        same
    }

    /// Returns the opaque and the translucent faces that are visible towards another plane.
    /// Implements [`face_is_visible`](crate::face_is_visible) in bits.
    #[inline(always)]
    pub(super) fn visible(&self, beyond: &Self, same: &W::Slice) -> [W::Slice; 2] {
        let [mut opaque, mut clear] = [W::EMPTY; 2];
        for y in 0..W::ROWS {
            opaque[y] = (self.opaque[y] | self.cut_out[y]) & !beyond.opaque[y];
            clear[y] = self.clear[y] & !(beyond.opaque[y] | same[y]);
        }
        [opaque, clear]
    }
}
