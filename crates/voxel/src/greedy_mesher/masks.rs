mod find;
mod transpose;

use drystone_memory::{Error, Linear};

use self::find::{Find, FindHalo};
pub(super) use self::find::{FindAny, neighbors};
use self::transpose::TransposeMasks;
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
    pub side: usize,
    /// Whether the chunk or the halo contains translucent voxels.
    pub has_translucent: bool,
    /// Bit `z`: slice `z` of the chunk has exposed voxels.
    pub exposed: u64,
    /// Masks by the axis perpendicular to the layers.
    pub layers: [Layers<'s, W>; 3],
}

/// Masks of a chunk as layers of faces: word `(row + 1) + STRIDE * (layer + 1)`. The bits and rows
/// of each layer are along the [`axes`](super::face_steps::axes) of the face direction.
///
/// The layout is that of a chunk with [`Row::ROWS`] voxels per side; layers and rows of the halo
/// come before and after. The two halo voxels at the ends of a row are outside the word, so that 64
/// voxels fit. Rows outside the chunk are zero, except in layers that are never read.
pub(super) struct Layers<'s, W: Row> {
    /// Voxels that are not air and not translucent.
    pub opaque: &'s mut [W],
    /// Voxels with the material of the previous bit. This mask and the next two are undefined in
    /// rows without exposed voxels. Exception: if any voxel is translucent, `before` is zero there.
    pub along: &'s mut [W],
    /// Voxels with the material of the same bit in the previous row.
    pub across: &'s mut [W],
    /// Voxels with the material of the same bit in the previous layer. For ±Z; for other directions
    /// only if any voxel is translucent, and only in rows with translucent voxels.
    pub before: &'s mut [W],
    /// Translucent voxels. For ±Z; for other directions only if any voxel is translucent.
    pub clear: &'s mut [W],
    /// Voxels at the ends of a row: bits 0 and 1 are set for an opaque voxel before and after it;
    /// bit 2 is set if the last voxel and the one after it have equal material. For ±Z; for other
    /// directions only with ambient occlusion.
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
    /// Builds the masks of `chunk`, with `shaded` for ambient occlusion. Returns an error if
    /// `scratch` is too small.
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
        widest(TransposeMasks { masks: &mut masks, shaded });
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
    /// Implements [`face_is_visible`](crate::face_is_visible) in bits: a solid voxel is visible
    /// unless its neighbour is opaque or equal. (Two equal opaque voxels are already covered by the
    /// first condition.)
    #[inline(always)]
    pub(super) fn visible(
        &self,
        side: usize,
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
        if has_translucent {
            let all = Self::rows(self.clear, layer);
            // The later of two layers stores whether both are equal.
            let later = beyond.max(layer as isize);
            let same = &self.before[word_index::<W>(0, later)..][..W::ROWS];
            for row in 0..W::ROWS {
                clear[row] = all[row] & !(covered[row] | same[row]);
            }
        }
        // The row after the last belongs to the halo.
        for rows in [&mut opaque, &mut clear] {
            if let Some(halo) = rows.as_mut().get_mut(side) {
                *halo = W::ZERO;
            }
        }
        [opaque, clear]
    }
}
