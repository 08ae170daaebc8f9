use alloc::vec::Vec;

use super::row_masks::RowMasks;
use super::transpose::transpose;

/// The masks that facings along X need, with rows along Y: row `x + n * z`, bit `y`.
///
/// In rows along X, a layer of such a facing is one bit of each row; turned, it is whole
/// rows like those of the other facings.
#[derive(Debug, Default)]
pub(super) struct TurnedMasks {
    side: usize,
    /// Visible faces of the facing taken last.
    pub(super) visible: Vec<u64>,
    /// Same material as the voxel before in Y.
    pub(super) same_y: Vec<u64>,
    /// Same material as the voxel before in Z.
    pub(super) same_z: Vec<u64>,
}

impl TurnedMasks {
    /// Makes room for the masks of a chunk and turns those that do not depend on the
    /// facing.
    pub(super) fn fill(&mut self, masks: &RowMasks) {
        self.side = masks.side();
        let row_count = self.side * self.side;
        for rows in [&mut self.visible, &mut self.same_y, &mut self.same_z] {
            rows.clear();
            rows.resize(row_count, 0);
        }
        let [_, same_y, same_z] = masks.same();
        for z in 0..self.side {
            if (0..self.side).any(|y| masks.is_exposed(masks.row(y, z))) {
                turn(self.side, z, &mut self.same_y, |y| same_y[masks.row(y, z)]);
                turn(self.side, z, &mut self.same_z, |y| same_z[masks.row(y, z)]);
            }
        }
    }

    /// Turns the visible faces of a facing along X.
    pub(super) fn take_visible(&mut self, masks: &RowMasks, visible: &[u64]) {
        for z in 0..self.side {
            turn(self.side, z, &mut self.visible, |y| visible[masks.row(y, z)]);
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
