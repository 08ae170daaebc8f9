use drystone_alloc::{Error, memory::Linear};
use drystone_mesh::Face;

use super::row_masks::RowMasks;
use super::transpose::transpose;
use crate::simd::{Work, widest};

/// The masks that facings along X need, with rows along Y: row `x + ROWS * z`, bit `y`.
///
/// In rows along X, a layer of such a facing is one bit of each row; turned, it is whole
/// rows like those of the other facings.
pub(super) struct TurnedMasks<'s, const ROWS: usize> {
    side: usize,
    /// Visible faces of −X and +X, of the kind taken last.
    visible: [&'s mut [u64]; 2],
    /// Same material as the voxel before in Y and in Z.
    same: [&'s mut [u64]; 2],
}

impl<'s, const ROWS: usize> TurnedMasks<'s, ROWS> {
    /// Turns the masks of a chunk that do not depend on the facing. An error if `scratch`
    /// has no room for them.
    pub(super) fn new(masks: &RowMasks<'_, ROWS>, scratch: &'s Linear<'_>) -> Result<Self, Error> {
        let side = masks.side();
        let none = || scratch.alloc_slice_with(ROWS * ROWS, |_| 0);
        let mut turned = Self { side, visible: [none()?, none()?], same: [none()?, none()?] };
        let [_, same_y, same_z] = masks.same();
        widest(Turn::<ROWS> { side, masks: [same_y, same_z], turned: &mut turned.same });
        Ok(turned)
    }

    /// Turns the visible faces of −X and +X, given in rows along X.
    pub(super) fn take_visible(&mut self, visible: [&[u64]; 2]) {
        widest(Turn::<ROWS> { side: self.side, masks: visible, turned: &mut self.visible });
    }

    /// The visible faces of a facing along X.
    #[inline(always)]
    pub(super) fn visible(&self, face: Face) -> &[u64] {
        &*self.visible[usize::from(face.is_positive())]
    }

    /// Where the voxel is the same as the one before in Y and in Z.
    #[inline(always)]
    pub(super) fn same(&self) -> [&[u64]; 2] {
        self.same.each_ref().map(|same| &**same)
    }
}

/// Turns two masks, slice by slice. Up to 32 a side, both go through the turning as halves
/// of the same words.
struct Turn<'a, 's, const ROWS: usize> {
    side: usize,
    masks: [&'a [u64]; 2],
    turned: &'a mut [&'s mut [u64]; 2],
}

impl<const ROWS: usize> Work for Turn<'_, '_, ROWS> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for z in 0..self.side {
            let [low, high] = self.masks.map(|mask| RowMasks::<ROWS>::slice(mask, z));
            let [to_low, to_high] =
                self.turned.each_mut().map(|turned| &mut turned[ROWS * z..][..ROWS]);
            let mut any = 0;
            for (low, high) in low.iter().zip(high) {
                any |= low | high;
            }
            if any == 0 {
                to_low.fill(0);
                to_high.fill(0);
            } else if ROWS > 32 {
                turn_one::<ROWS>(low, to_low);
                turn_one::<ROWS>(high, to_high);
            } else {
                turn_both::<ROWS>([low, high], [to_low, to_high]);
            }
        }
    }
}

#[inline(always)]
fn turn_one<const ROWS: usize>(from: &[u64], to: &mut [u64]) {
    let mut rows = [0; ROWS];
    rows.copy_from_slice(from);
    transpose(&mut rows);
    to.copy_from_slice(&rows);
}

#[inline(always)]
fn turn_both<const ROWS: usize>([low, high]: [&[u64]; 2], [to_low, to_high]: [&mut [u64]; 2]) {
    let mut rows = [0; ROWS];
    for (row, (low, high)) in rows.iter_mut().zip(low.iter().zip(high)) {
        *row = low | high << 32;
    }
    transpose(&mut rows);
    for (row, (low, high)) in rows.into_iter().zip(to_low.iter_mut().zip(to_high)) {
        *low = row & u64::from(u32::MAX);
        *high = row >> 32;
    }
}
