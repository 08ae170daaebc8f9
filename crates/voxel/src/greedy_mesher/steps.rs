use drystone_mesh::{Face, Quad};

use super::grid::axes;
use super::layer::Patch;
use super::row::Row;

/// Adds [steps](Quad::steps) to the quads of a layer. `visible` are its faces, and `extents` its
/// numbers of bits and rows.
///
/// # Cost
/// Some operations per quad, and one per row of it.
#[inline(always)]
pub(super) fn add_steps<W: Row>(
    face: Face,
    visible: &[W],
    extents: [usize; 2],
    quads: &mut [Quad],
) {
    let [bit_axis, row_axis] = axes(face.axis());
    let bits_are_wide = face.span_axes()[0] == bit_axis;
    for quad in quads {
        let ([width, height], position) = (quad.size(), quad.position());
        let [bit_count, row_count] = if bits_are_wide { [width, height] } else { [height, width] };
        let (row, bit) = (position[row_axis], position[bit_axis]);
        let [along, across] = steps(visible, extents, Patch { row, bit, row_count, bit_count });
        *quad = quad.with_steps(if bits_are_wide { [along, across] } else { [across, along] });
    }
}

/// Returns the steps of a patch at the ends of its rows, and at its first and last row. Edges on the
/// border of the layer do not count.
#[inline(always)]
fn steps<W: Row>(visible: &[W], [bits, rows]: [usize; 2], patch: Patch) -> [u32; 2] {
    let [row, bit, row_count, bit_count] =
        [patch.row, patch.bit, patch.row_count, patch.bit_count].map(|it| it as usize);
    let run = u64::MAX >> (u64::BITS - patch.bit_count) << patch.bit;
    let (mut across, mut open_across) = (0, 0);
    for beyond in [row.wrapping_sub(1), row + row_count] {
        if let (Some(beyond), true) = (visible.get(beyond), beyond < rows) {
            across += patch.bit_count;
            open_across += (run & !beyond.bits()).count_ones();
        }
    }
    let mut ends = 0;
    if bit > 0 {
        ends |= 1 << (bit - 1);
    }
    if bit + bit_count < bits {
        ends |= 1_u64 << (bit + bit_count);
    }
    let covered = visible.get(row..row + row_count).unwrap_or_default();
    let open_along = covered.iter().map(|row| (ends & !row.bits()).count_ones()).sum();
    [thirds(open_along, ends.count_ones() * patch.row_count), thirds(open_across, across)]
}

/// Returns a part in thirds, rounded to the nearest.
#[inline(always)]
fn thirds(part: u32, whole: u32) -> u32 {
    (Quad::MAX_STEPS * part * 2 + whole) / (2 * whole).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a patch in a layer of 8 x 4 faces: `row`, `bit`, number of rows, number of bits.
    fn of(rows: [u16; 4], [row, bit, row_count, bit_count]: [u32; 4]) -> [u32; 2] {
        let mut visible = [0; 16];
        visible[..4].copy_from_slice(&rows);
        steps(&visible, [8, 4], Patch { row, bit, row_count, bit_count })
    }

    #[test]
    fn a_flat_surface_has_no_steps_and_a_ridge_has_all() {
        let flat = [0xff; 4];
        for patch in [[0, 0, 4, 8], [1, 2, 1, 1], [0, 3, 4, 1], [3, 0, 1, 8]] {
            assert_eq!(of(flat, patch), [0, 0], "{patch:?}");
        }
        assert_eq!(of([0, 0, 0b100, 0], [2, 2, 1, 1]), [3, 3]);
        assert_eq!(of([0, 0b1111_1111, 0, 0], [1, 0, 1, 8]), [0, 3]);
        assert_eq!(of([0b100; 4], [0, 2, 4, 1]), [3, 0]);
    }

    #[test]
    fn steps_are_the_part_of_the_edges_that_ends_the_surface() {
        // One of two edges; and a quarter, which is nearest to one third.
        assert_eq!(of([0, 0xff, 0xff, 0xff], [1, 0, 1, 8]), [0, 2]);
        assert_eq!(of([0b1100_1111, 0b0011_1100, 0xff, 0], [1, 2, 1, 4]), [3, 1]);
        // A border does not count: its other edge decides.
        assert_eq!(of([0xff, 0, 0, 0], [0, 0, 1, 8]), [0, 3]);
        assert_eq!(of([0b1111; 4], [0, 0, 4, 4]), [3, 0]);
    }
}
