//! Rotations, reflections and translations of the grid of voxels.

/// A rotation by right angles, optionally a reflection, and a translation. Row `r` of the result is
/// `sign[r] * point[axis[r]] + offset[r]`.
///
/// A voxel is a cell from `c` to `c + 1`. A negative sign swaps its ends, so the cell `c` becomes
/// the cell `-c - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transform {
    axis: [u8; 3],
    negative: [bool; 3],
    offset: [i64; 3],
}

impl Transform {
    /// Rotation from MagicaVoxel's axes, with Z up, to those of a world: (x, y, z) becomes (x, z, −y).
    pub(super) const TO_Y_UP: Self =
        Self { axis: [0, 2, 1], negative: [false, false, true], offset: [0; 3] };

    /// A pure translation.
    pub(super) const fn shift(offset: [i64; 3]) -> Self {
        Self { axis: [0, 1, 2], negative: [false; 3], offset }
    }

    /// Decodes a node's rotation byte. Bits 0–1 and 2–3 are the coordinates of the first and second
    /// row; the third row has the remaining one. Bits 4–6 are the signs of the rows. `None` if two
    /// rows have the same coordinate.
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        let first = byte & 3;
        let second = byte >> 2 & 3;
        if first == second || first == 3 || second == 3 {
            return None;
        }
        let axis = [first, second, 3 - first - second];
        let negative = [4, 5, 6].map(|bit| byte >> bit & 1 != 0);
        Some(Self { axis, negative, offset: [0; 3] })
    }

    /// The transform that applies `self` first and then `outer`.
    pub(super) fn then(self, outer: Self) -> Self {
        let rows = [0, 1, 2].map(|row| {
            let inner = usize::from(outer.axis[row]);
            let offset = signed(self.offset[inner], outer.negative[row]) + outer.offset[row];
            (self.axis[inner], self.negative[inner] != outer.negative[row], offset)
        });
        Self { axis: rows.map(|r| r.0), negative: rows.map(|r| r.1), offset: rows.map(|r| r.2) }
    }

    /// The image of a cell.
    pub(super) fn cell(&self, cell: [u8; 3]) -> [i64; 3] {
        [0, 1, 2].map(|row| {
            let c = i64::from(cell[usize::from(self.axis[row])]);
            let negative = self.negative[row];
            signed(c, negative) - i64::from(negative) + self.offset[row]
        })
    }

    /// Lowest and highest cell of the image of the cells from `low` to `high`, inclusive.
    pub(super) fn cell_range(&self, low: [u8; 3], high: [u8; 3]) -> ([i64; 3], [i64; 3]) {
        let [a, b] = [self.cell(low), self.cell(high)];
        ([0, 1, 2].map(|i| a[i].min(b[i])), [0, 1, 2].map(|i| a[i].max(b[i])))
    }
}

fn signed(value: i64, negative: bool) -> i64 {
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_128_bytes_48_are_rotations() {
        let all: Vec<_> = (0..128).filter_map(Transform::from_byte).collect();
        assert_eq!(all.len(), 48);
        assert!((1..48).all(|i| !all[..i].contains(&all[i])));
    }

    /// `then` equals applying both transforms in turn. The intermediate cells stay small enough to
    /// be cells again.
    #[test]
    fn then_applies_both_transforms_in_turn() {
        let all: Vec<_> = (0..128).filter_map(Transform::from_byte).collect();
        let lift = Transform::shift([100, 90, 80]);
        for first in &all {
            for second in &all {
                let first = first.then(lift);
                let second = second.then(Transform::shift([-3, 2, 1]));
                for cell in [[0, 0, 0], [1, 2, 3], [9, 0, 4]] {
                    let middle = first.cell(cell).map(|c| u8::try_from(c).unwrap());
                    assert_eq!(first.then(second).cell(cell), second.cell(middle));
                }
            }
        }
    }
}
