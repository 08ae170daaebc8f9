mod compare;
mod find;
mod scan;
mod transpose;

use drystone_memory::{Error, Linear};

use self::find::Find;
pub(super) use self::find::FindAny;
use self::scan::Scan;
pub(super) use self::scan::{Cells, Copied, ReadCells};
use self::transpose::TransposeMasks;
use super::grid::{Grid, axes};
use super::row::{Row, Words, stride};
use crate::simd::{Instructions, Work, widest};
use crate::{MaterialTable, PaddedChunk};

/// Masks of a chunk's voxels for merging: one bit per voxel, one word per row.
///
/// ```text
///  layers of ±Z: rows along X, one for each Y ──┬── same rows, by Z ──► layers of ±Y
///                                               └── transposed ───────► layers of ±X
/// ```
pub(super) struct Masks<'s, W: Row> {
    pub grid: Grid,
    /// Whether the chunk or the halo contains translucent voxels.
    pub has_translucent: bool,
    /// Whether a merge key of a caller's cells, empty ones excepted, needs more than 16 bits.
    pub has_wide_keys: bool,
    /// Bit `z`: slice `z` of the chunk has exposed voxels.
    pub exposed: u64,
    /// Masks by the axis perpendicular to the layers.
    pub layers: [Layers<'s, W>; 3],
}

/// Masks of a chunk as layers of faces: word `(row + 1) + STRIDE * (layer + 1)`. The bits and rows
/// of each layer are along the [`axes`](super::grid::axes) of the axis across it.
///
/// The layout is that of a chunk with [`Row::ROWS`] voxels per side; layers and rows of the halo
/// come before and after. The two halo voxels at the ends of a row are outside the word, so that 64
/// voxels fit. Rows outside the chunk are zero, except in layers that are never read.
pub(super) struct Layers<'s, W: Row> {
    /// Voxels that [cover](MaterialTable::covers) faces.
    pub opaque: &'s mut [W],
    /// Voxels that are cut out. Their faces are opaque. Empty if no material of the table is cut out, or no
    /// cell of an array.
    pub cut_out: &'s mut [W],
    /// Voxels with the material of the previous bit. This mask and the next two are undefined in
    /// rows without exposed voxels. Exception: if any voxel is translucent, `before` is zero there.
    pub along: &'s mut [W],
    /// Voxels with the material of the same bit in the previous row.
    pub across: &'s mut [W],
    /// Voxels that form one body with the same bit in the previous layer; in opaque voxels only if
    /// they have one material. For ±Z; for other directions only if any voxel is translucent, and
    /// only in rows with translucent voxels.
    pub before: &'s mut [W],
    /// Translucent voxels. For ±Z; for other directions only if any voxel is translucent.
    pub clear: &'s mut [W],
    /// Voxels at the ends of a row: bits 0 and 1 are set for an opaque voxel before and after it;
    /// bit 2 is set if the last voxel and the one after it are equal. For ±Z; for other directions
    /// only with ambient occlusion.
    pub ends: &'s mut [W],
    /// Opaque voxels with the ends of the rows, for ambient occlusion.
    pub padded: &'s mut [W::Padded],
}

/// Returns the word index of a row in a layer, both counted from −1.
#[inline(always)]
pub(super) const fn word_index<W: Row>(row: isize, layer: isize) -> usize {
    (row + 1) as usize + stride::<W>() * (layer + 1) as usize
}

impl<'s, W: Row> Masks<'s, W> {
    /// Creates masks whose words are still those of the last chunk.
    fn begin(grid: Grid, words: &'s mut Words<W>) -> Self {
        let mut words = words.masks(grid);
        let mut next = || words.next().unwrap_or_default();
        let layers = [(); 3].map(|()| Layers {
            opaque: next(),
            cut_out: &mut [],
            along: next(),
            across: next(),
            before: next(),
            clear: next(),
            ends: next(),
            padded: &mut [],
        });
        Self { grid, has_translucent: false, has_wide_keys: false, exposed: 0, layers }
    }

    /// Builds the masks of `chunk`, with `shaded` for ambient occlusion. Returns an error if
    /// `scratch` is too small.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        shaded: bool,
        scratch: &'s Linear<'_>,
        words: &'s mut Words<W>,
    ) -> Result<Self, Error> {
        let mut masks = Self::begin(Grid::cube(chunk.side()), words);
        if table.any_cut_out() {
            masks.allocate_cut_out(scratch)?;
        }
        masks.has_translucent = widest(Find { masks: &mut masks, chunk, table });
        if masks.has_translucent {
            masks.find_clear_of_y();
        }
        let mut masks = masks.transposed(shaded, scratch)?;
        if masks.has_translucent && masks.exposed != 0 && table.has_bodies() {
            masks.join_bodies(chunk, table);
        }
        Ok(masks)
    }

    /// Allocates the masks of cut-out voxels, without any.
    fn allocate_cut_out(&mut self, scratch: &'s Linear<'_>) -> Result<(), Error> {
        for Layers { opaque, cut_out, .. } in &mut self.layers {
            *cut_out = scratch.alloc_slice_with(opaque.len(), |_| W::ZERO)?;
        }
        Ok(())
    }

    /// Adds translucent voxels that form one body with the voxel of the previous layer to
    /// [`before`](Layers::before).
    ///
    /// # Cost
    /// Reads a word for each row, and two voxels for each pair of different translucent materials.
    #[inline(never)]
    fn join_bodies(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        for (axis, layers) in self.layers.iter_mut().enumerate() {
            let [bit_axis, row_axis] = axes(axis);
            let [bit_stride, row_stride, stride] =
                [bit_axis, row_axis, axis].map(|axis| self.grid.stride(axis));
            let last = self.grid.extents[axis];
            for (layer, row) in (0..=last)
                .flat_map(|layer| (0..self.grid.extents[row_axis]).map(move |y| (layer, y)))
            {
                let at = word_index::<W>(row as isize, layer as isize);
                let previous = word_index::<W>(row as isize, layer as isize - 1);
                // The masks of the halo are not complete, so its voxels are read.
                let mut pairs = !layers.before[at].bits();
                if layer < last {
                    pairs &= layers.clear[at].bits();
                }
                if layer > 0 {
                    pairs &= layers.clear[previous].bits();
                }
                let first = (layer + 1) * stride + (row + 1) * row_stride + bit_stride;
                let mut joined = 0;
                while pairs != 0 {
                    let bit = pairs.trailing_zeros() as usize;
                    pairs &= pairs - 1;
                    let voxel = first + bit * bit_stride;
                    let [voxel, previous] = [voxel, voxel - stride].map(|at| chunk.voxels()[at]);
                    joined |= u64::from(table.is_one_body(voxel, previous)) << bit;
                }
                layers.before[at] = layers.before[at] | W::from_bits(joined);
            }
        }
    }

    /// Builds the masks of ±Z and some of ±Y of a caller's cells, and copies their merge keys.
    /// [`completed`](Self::completed) makes the others. Returns an error if `scratch` is too small.
    pub(super) fn of_cells(
        cells: &dyn ReadCells,
        scratch: &'s Linear<'_>,
        (words, copied): (&'s mut Words<W>, &mut Copied),
    ) -> Result<Self, Error> {
        let mut masks = Self::begin(cells.grid(), words);
        widest(Scan { masks: &mut masks, copied, cells, scratch })?;
        Ok(masks)
    }

    /// Builds the other masks of a caller's cells, with `shaded` for ambient occlusion. Returns an
    /// error if `scratch` is too small.
    pub(super) fn completed(
        mut self,
        shaded: bool,
        scratch: &'s Linear<'_>,
    ) -> Result<Self, Error> {
        if self.has_translucent {
            self.find_clear_of_y();
        }
        self.transposed(shaded, scratch)
    }

    /// Builds the masks of ±X, and those for ambient occlusion, unless no voxel is exposed.
    fn transposed(mut self, shaded: bool, scratch: &'s Linear<'_>) -> Result<Self, Error> {
        if self.exposed == 0 {
            return Ok(self);
        }
        widest(TransposeMasks { masks: &mut self, shaded });
        if shaded {
            for (axis, layers) in self.layers.iter_mut().enumerate() {
                let count = layers.opaque.len();
                layers.padded = scratch.alloc_slice_with(count, |_| W::NONE_PADDED)?;
                let [bit_count, _] = self.grid.layer_extents(axis);
                widest(Pad { layers, side: bit_count });
            }
        }
        Ok(self)
    }

    /// Copies the translucent voxels of ±Z, and those equal to the voxel before in Y, to the masks
    /// of ±Y.
    #[inline(always)]
    fn find_clear_of_y(&mut self) {
        let [_, ny, nz] = self.grid.extents;
        let [_, of_y, of_z] = &mut self.layers;
        for z in 0..nz + 2 {
            for y in 0..ny + 2 {
                let (to, from) = (z + stride::<W>() * y, y + stride::<W>() * z);
                let clear = of_z.clear[from];
                of_y.clear[to] = clear;
                of_y.before[to] = if clear == W::ZERO { W::ZERO } else { of_z.across[from] };
            }
        }
    }

    /// Returns the voxels of a slice that are not covered on all six sides. Translucent and cut-out
    /// ones always are among them.
    #[inline(always)]
    fn exposed(&self, side: usize, z: usize) -> W::Slice {
        let Layers { opaque, clear, ends, .. } = &self.layers[2];
        let at = word_index::<W>(0, z as isize);
        let rows = |at: usize| &opaque[at..][..W::ROWS];
        let [here, below, above] = [rows(at), rows(at - 1), rows(at + 1)];
        let [before, behind] = [rows(at - stride::<W>()), rows(at + stride::<W>())];
        let (clear, ends) = (&clear[at..][..W::ROWS], &ends[at..][..W::ROWS]);
        let mut exposed = W::EMPTY;
        for y in 0..W::ROWS {
            let [low, high] = neighbors(here[y], ends[y], side);
            let covered = below[y] & above[y] & before[y] & behind[y] & low & high;
            exposed[y] = here[y] & !covered | clear[y];
        }
        if let Some(cut_out) = self.layers[2].cut_out.get(at..at + W::ROWS) {
            for y in 0..W::ROWS {
                exposed[y] = exposed[y] | cut_out[y];
            }
        }
        exposed
    }
}

/// Returns the voxels before and after each voxel of a row, including the halo at its ends.
#[inline(always)]
pub(super) fn neighbors<W: Row>(row: W, ends: W, side: usize) -> [W; 2] {
    let one = W::from_bits(1);
    [row << 1 | ends & one, row >> 1 | (ends >> 1 & one) << (side - 1)]
}

/// Appends the ends to each row.
struct Pad<'a, 's, W: Row> {
    layers: &'a mut Layers<'s, W>,
    side: usize,
}

impl<W: Row> Work for Pad<'_, '_, W> {
    type Output = ();

    #[inline(always)]
    fn run<I: Instructions>(self) {
        let Layers { opaque, ends, padded, .. } = self.layers;
        for (padded, (&row, &ends)) in padded.iter_mut().zip(opaque.iter().zip(&**ends)) {
            *padded = W::padded(row, ends, self.side);
        }
    }
}

impl<W: Row> Layers<'_, W> {
    /// Returns the rows of a layer in a mask.
    #[inline(always)]
    pub(super) fn rows(mask: &[W], layer: usize) -> &[W] {
        &mask[word_index::<W>(0, layer as isize)..][..W::ROWS]
    }

    /// Returns the visible faces of a layer towards the layer `beyond` (counted from −1): the
    /// opaque ones, and the translucent ones if any.
    ///
    /// Implements [`face_is_visible`](crate::face_is_visible) in bits: an opaque or cut-out voxel is
    /// visible unless its neighbour is opaque, a translucent one unless it is opaque or equal.
    #[inline(always)]
    pub(super) fn visible(
        &self,
        row_count: usize,
        layer: usize,
        beyond: isize,
        has_translucent: bool,
    ) -> [W::Slice; 2] {
        let here = Self::rows(self.opaque, layer);
        let covered = &self.opaque[word_index::<W>(0, beyond)..][..W::ROWS];
        let [mut opaque, mut clear] = [W::EMPTY; 2];
        for row in 0..W::ROWS {
            opaque[row] = here[row] & !covered[row];
        }
        if let Some(cut_out) = self.cut_out.get(word_index::<W>(0, layer as isize)..) {
            for row in 0..W::ROWS {
                opaque[row] = opaque[row] | cut_out[row] & !covered[row];
            }
        }
        let all = if has_translucent { Self::rows(self.clear, layer) } else { &[] };
        if all.iter().fold(W::ZERO, |any, &row| any | row) != W::ZERO {
            // The later of two layers stores whether both are equal.
            let later = beyond.max(layer as isize);
            let same = &self.before[word_index::<W>(0, later)..][..W::ROWS];
            for row in 0..W::ROWS {
                clear[row] = all[row] & !(covered[row] | same[row]);
            }
        }
        // The row after the last belongs to the halo.
        for rows in [&mut opaque, &mut clear] {
            if let Some(halo) = rows.as_mut().get_mut(row_count) {
                *halo = W::ZERO;
            }
        }
        [opaque, clear]
    }
}
