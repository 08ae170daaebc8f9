use drystone_alloc::{Error, memory::Linear};

use super::row_masks::RowMasks;
use super::transpose::transpose;

/// The masks that facings along X need, with rows along Y: row `x + n * z`, bit `y`.
///
/// In rows along X, a layer of such a facing is one bit of each row; turned, it is whole
/// rows like those of the other facings.
pub(super) struct TurnedMasks<'s> {
    side: usize,
    /// Visible faces of the facing taken last.
    pub(super) visible: &'s mut [u64],
    /// Same material as the voxel before in Y.
    pub(super) same_y: &'s mut [u64],
    /// Same material as the voxel before in Z.
    pub(super) same_z: &'s mut [u64],
}

impl<'s> TurnedMasks<'s> {
    /// Turns the masks of a chunk that do not depend on the facing. An error if `scratch`
    /// has no room for them.
    pub(super) fn new(masks: &RowMasks<'_>, scratch: &'s Linear<'_>) -> Result<Self, Error> {
        let side = masks.side();
        let none = || scratch.alloc_slice_with(side * side, |_| 0);
        let turned = Self { side, visible: none()?, same_y: none()?, same_z: none()? };
        let [_, same_y, same_z] = masks.same();
        for z in 0..side {
            if (0..side).any(|y| masks.is_exposed(masks.row(y, z))) {
                turn(side, z, turned.same_y, |y| same_y[masks.row(y, z)]);
                turn(side, z, turned.same_z, |y| same_z[masks.row(y, z)]);
            }
        }
        Ok(turned)
    }

    /// Turns the visible faces of a facing along X.
    pub(super) fn take_visible(&mut self, masks: &RowMasks<'_>, visible: &[u64]) {
        for z in 0..self.side {
            turn(self.side, z, self.visible, |y| visible[masks.row(y, z)]);
        }
    }
}

/// Turns the slice at `z` of what `row_at` gives for each Y, and writes it to `turned`.
#[inline]
fn turn(side: usize, z: usize, turned: &mut [u64], row_at: impl Fn(usize) -> u64) {
    let mut rows = [0; 64];
    let mut any = 0;
    for (y, row) in rows.iter_mut().enumerate().take(side) {
        *row = row_at(y);
        any |= *row;
    }
    if any != 0 {
        transpose(&mut rows, side);
    }
    turned[side * z..][..side].copy_from_slice(&rows[..side]);
}
