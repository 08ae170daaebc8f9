use drystone_alloc::{Error, memory::Linear};

use super::find::{FindSame, FindSolid};
use super::row::Row;
use super::turn::Turn;
use crate::simd::widest;
use crate::{MaterialTable, PaddedChunk};

/// What the merging must know of a chunk's voxels: one bit a voxel, one word a row.
///
/// ```text
///  layers of ±Z: rows along X, one for each Y ──┬── the same rows, by Z ──► layers of ±Y
///                                               └── turned over ─────────► layers of ±X
/// ```
pub(super) struct Masks<'s, W> {
    pub side: usize,
    /// Whether chunk or halo hold anything see-through.
    pub has_see_through: bool,
    /// By the axis that the layers follow each other on.
    pub layers: [Layers<'s, W>; 3],
}

/// The masks of a chunk as layers of faces: word `(row + 1) + STRIDE * (layer + 1)`, for each
/// layer its rows of bits, all along the [`axes`](super::facing::axes) of the facing.
///
/// Words lie as if the chunk were [`Row::ROWS`] a side; layers and rows of the halo go before
/// and behind. The two voxels of the halo at a row's ends stay outside the word, so that 64
/// a side fit. Rows that are not there are zero.
#[derive(Default)]
pub(super) struct Layers<'s, W> {
    /// Not air and not see-through.
    pub opaque: &'s mut [W],
    /// The same material as the bit before. This and the next two are zero in rows of which
    /// no face shows.
    pub along: &'s mut [W],
    /// The same material as the same bit of the row before.
    pub across: &'s mut [W],
    /// The same material as the same bit of the layer before. Of ±Z; of others where there
    /// is anything see-through.
    pub before: &'s mut [W],
    /// Not air. Of ±Z; of others where there is anything see-through.
    pub solid: &'s mut [W],
    /// What lies at the ends of a row: bits 0 and 1 an opaque voxel before it and behind it,
    /// bit 2 the last voxel's material behind it. Of ±Z; of others where corners are
    /// darkened.
    pub ends: &'s mut [W],
}

/// From one layer to the next, in words.
pub(super) const fn stride<W: Row>() -> usize {
    W::ROWS + 2
}

/// The place of a row of a layer, both counted from −1.
#[inline(always)]
pub(super) const fn place<W: Row>(row: isize, layer: isize) -> usize {
    (row + 1) as usize + stride::<W>() * (layer + 1) as usize
}

impl<'s, W: Row> Masks<'s, W> {
    /// Takes the masks of `chunk`, or `None` where there is nothing but air; `shaded` where
    /// corners are to be darkened. An error if `scratch` has no room for them.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        shaded: bool,
        scratch: &'s Linear<'_>,
    ) -> Result<Option<Self>, Error> {
        let none = || scratch.alloc_slice_with(stride::<W>() * stride::<W>(), |_| W::ZERO);
        let mut layers: [Layers<'s, W>; 3] = [(); 3].map(|()| Layers {
            opaque: &mut [],
            along: &mut [],
            across: &mut [],
            before: &mut [],
            solid: &mut [],
            ends: &mut [],
        });
        for layers in &mut layers[1..] {
            layers.opaque = none()?;
        }
        layers[2].solid = none()?;
        layers[2].ends = none()?;
        let mut masks = Self { side: chunk.side() as usize, has_see_through: false, layers };
        if !widest(FindSolid { masks: &mut masks, chunk, table }) {
            return Ok(None);
        }
        let see_through = masks.has_see_through;
        masks.layers[0].opaque = none()?;
        for (axis, layers) in masks.layers.iter_mut().enumerate() {
            layers.along = none()?;
            layers.across = none()?;
            if see_through || axis == 2 {
                layers.before = none()?;
            }
            if see_through && axis != 2 {
                layers.solid = none()?;
            }
            if shaded && axis != 2 {
                layers.ends = none()?;
            }
        }
        widest(FindSame { masks: &mut masks, chunk });
        widest(Turn { masks: &mut masks, shaded });
        Ok(Some(masks))
    }
}

impl<W: Row> Layers<'_, W> {
    /// The rows of a layer in a mask.
    #[inline(always)]
    pub(super) fn rows(mask: &[W], layer: usize) -> &[W] {
        &mask[place::<W>(0, layer as isize)..][..W::ROWS]
    }

    /// The visible faces of a layer that look towards the layer `beyond` (counted from −1):
    /// the opaque ones, and the see-through ones where there are any.
    ///
    /// The rule of [`face_is_visible`](crate::face_is_visible) in bits: drawn is what is
    /// solid, unless the neighbour is opaque or the same. (Of two same voxels that are
    /// opaque, the first condition already speaks.)
    #[inline(always)]
    pub(super) fn visible(
        &self,
        side: usize,
        layer: usize,
        beyond: isize,
        has_see_through: bool,
    ) -> [W::Slice; 2] {
        let here = Self::rows(self.opaque, layer);
        let covered = &self.opaque[place::<W>(0, beyond)..][..W::ROWS];
        let [mut opaque, mut clear] = [W::EMPTY; 2];
        for row in 0..W::ROWS {
            opaque[row] = here[row] & !covered[row];
        }
        if has_see_through {
            let solid = Self::rows(self.solid, layer);
            // The later of two layers knows whether both are the same.
            let later = beyond.max(layer as isize);
            let same = &self.before[place::<W>(0, later)..][..W::ROWS];
            for row in 0..W::ROWS {
                clear[row] = solid[row] & !(here[row] | covered[row] | same[row]);
            }
        }
        // The row behind the last is the halo's.
        for rows in [&mut opaque, &mut clear] {
            if let Some(halo) = rows.as_mut().get_mut(side) {
                *halo = W::ZERO;
            }
        }
        [opaque, clear]
    }
}
