use drystone_alloc::{Error, memory::Linear};

use super::find::{Find, FindHalo};
use super::memory::Words;
use super::row::Row;
use super::turn::Turn;
use crate::simd::{Instructions, Work, widest};
use crate::{MaterialTable, PaddedChunk};

/// What the merging must know of a chunk's voxels: one bit a voxel, one word a row.
///
/// ```text
///  layers of ±Z: rows along X, one for each Y ──┬── the same rows, by Z ──► layers of ±Y
///                                               └── turned over ─────────► layers of ±X
/// ```
pub(super) struct Masks<'s, W: Row> {
    pub side: usize,
    /// Whether chunk or halo hold anything translucent.
    pub has_translucent: bool,
    /// Bit `z`: of that slice of the chunk a face shows.
    pub exposed: u64,
    /// By the axis that the layers follow each other on.
    pub layers: [Layers<'s, W>; 3],
}

/// The masks of a chunk as layers of faces: word `(row + 1) + STRIDE * (layer + 1)`, for each
/// layer its rows of bits, all along the [`axes`](super::facing::axes) of the facing.
///
/// Words lie as if the chunk were [`Row::ROWS`] a side; layers and rows of the halo go before
/// and behind. The two voxels of the halo at a row's ends stay outside the word, so that 64
/// a side fit. Rows that are not there are zero, but those of layers that nobody asks for.
pub(super) struct Layers<'s, W: Row> {
    /// Not air and not translucent.
    pub opaque: &'s mut [W],
    /// The same material as the bit before. This and the next two have no meaning in rows of
    /// which no face shows, but that where anything is translucent, `before` is zero there.
    pub along: &'s mut [W],
    /// The same material as the same bit of the row before.
    pub across: &'s mut [W],
    /// The same material as the same bit of the layer before. Of ±Z; of others where there
    /// is anything translucent, and only in rows that hold such.
    pub before: &'s mut [W],
    /// Translucent. Of ±Z; of others where there is anything translucent.
    pub clear: &'s mut [W],
    /// What lies at the ends of a row: bits 0 and 1 an opaque voxel before it and behind it,
    /// bit 2 the last voxel's material behind it. Of ±Z; of others where corners are
    /// darkened.
    pub ends: &'s mut [W],
    /// What is opaque, with the ends of the rows, where corners are darkened.
    pub padded: &'s mut [W::Padded],
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
    /// Takes the masks of `chunk`; `shaded` where corners are to be darkened. An error if
    /// `scratch` has no room for what that needs.
    pub(super) fn new(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        shaded: bool,
        scratch: &'s Linear<'_>,
        words: &'s mut Words<W>,
    ) -> Result<Self, Error> {
        let side = chunk.side() as usize;
        let mut words = words.masks(side);
        let mut next = || words.next().unwrap_or_default();
        let layers = [(); 3].map(|()| Layers {
            opaque: next(),
            along: next(),
            across: next(),
            before: next(),
            clear: next(),
            ends: next(),
            padded: &mut [],
        });
        let mut masks = Self { side, has_translucent: false, exposed: 0, layers };
        masks.has_translucent = widest(Find { masks: &mut masks, chunk, table });
        if masks.has_translucent {
            widest(FindHalo { masks: &mut masks, chunk });
        }
        widest(Turn { masks: &mut masks, shaded });
        if shaded {
            for layers in &mut masks.layers {
                let count = layers.opaque.len();
                layers.padded = scratch.alloc_slice_with(count, |_| W::NONE_PADDED)?;
                widest(Pad { layers, side: masks.side });
            }
        }
        Ok(masks)
    }
}

/// Puts the ends of rows to them.
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
    /// The rows of a layer in a mask.
    #[inline(always)]
    pub(super) fn rows(mask: &[W], layer: usize) -> &[W] {
        &mask[place::<W>(0, layer as isize)..][..W::ROWS]
    }

    /// The visible faces of a layer that look towards the layer `beyond` (counted from −1):
    /// the opaque ones, and the translucent ones where there are any.
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
        has_translucent: bool,
    ) -> [W::Slice; 2] {
        let here = Self::rows(self.opaque, layer);
        let covered = &self.opaque[place::<W>(0, beyond)..][..W::ROWS];
        let [mut opaque, mut clear] = [W::EMPTY; 2];
        for row in 0..W::ROWS {
            opaque[row] = here[row] & !covered[row];
        }
        if has_translucent {
            let all = Self::rows(self.clear, layer);
            // The later of two layers knows whether both are the same.
            let later = beyond.max(layer as isize);
            let same = &self.before[place::<W>(0, later)..][..W::ROWS];
            for row in 0..W::ROWS {
                clear[row] = all[row] & !(covered[row] | same[row]);
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
