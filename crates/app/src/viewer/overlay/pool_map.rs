//! Map of the vertex pool: all buffers end to end, read like a page.

use drystone_pool::{PoolRange, RangeState};
use egui::{Color32, ColorImage};

use crate::output;

const FREE: Color32 = Color32::from_gray(52);
const WAITING: Color32 = Color32::from_rgb(240, 240, 240);

/// Height of a row in pixels, and of the gap below it.
const ROW: usize = 7;
const GAP: usize = 1;

/// Returns the height of a map in pixels.
pub(super) const fn height(rows: usize) -> usize {
    rows * ROW
}

/// Draws the map. `ranges` are sorted by buffer and offset, without holes; `width` is in pixels.
///
/// # Cost
/// O(ranges + pixels).
pub(super) fn picture(ranges: &[PoolRange], width: usize, rows: usize) -> ColorImage {
    let lines = lines(ranges, [width, rows]);
    let mut image = ColorImage::filled([width, height(rows)], Color32::TRANSPARENT);
    for (y, row) in image.pixels.chunks_exact_mut(width).enumerate() {
        if y % ROW < ROW - GAP {
            row.copy_from_slice(&lines.pixels[y / ROW * width..][..width]);
        }
    }
    image
}

/// Draws the map with rows of one pixel; each pixel shows the range at its middle.
fn lines(ranges: &[PoolRange], size: [usize; 2]) -> ColorImage {
    let len = |range: &PoolRange| u64::from(range.elements.end - range.elements.start);
    let all: u64 = ranges.iter().map(len).sum();
    let mut image = ColorImage::filled(size, FREE);
    let count = image.pixels.len() as u64;
    let mut ranges = ranges.iter();
    // The range under or before the pixel, and its end.
    let (mut current, mut end) = (None, 0);
    for (i, pixel) in image.pixels.iter_mut().enumerate() {
        // In 128 bits: a pool has up to 2³² elements per buffer.
        let middle = (u128::from(all) * (2 * i as u128 + 1) / u128::from(2 * count)) as u64;
        while end <= middle {
            let Some(next) = ranges.next() else { return image };
            end += len(next);
            current = Some(next);
        }
        *pixel = current.map_or(FREE, |range| color(range.state));
    }
    image
}

fn color(state: RangeState) -> Color32 {
    match state {
        RangeState::Live(mesh) => {
            let [red, green, blue] = output::mesh_color(mesh.slot());
            Color32::from_rgb(red, green, blue)
        }
        RangeState::Waiting => WAITING,
        RangeState::Free => FREE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_show_the_range_at_their_middle() {
        let range = |buffer, elements, state| PoolRange { buffer, elements, state };
        let ranges = [
            range(0, 0..30, RangeState::Waiting),
            range(0, 30..40, RangeState::Free),
            range(3, 0..0, RangeState::Waiting),
            range(3, 0..40, RangeState::Waiting),
            range(4, 0..80, RangeState::Free),
        ];
        let image = lines(&ranges, [8, 2]);
        let waiting: Vec<bool> = image.pixels.iter().map(|&pixel| pixel == WAITING).collect();
        let expected = [1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0].map(|bit| bit == 1);
        assert_eq!(waiting, expected);
        assert!(lines(&[], [4, 4]).pixels.iter().all(|&pixel| pixel == FREE));
        let map = picture(&ranges, 8, 2);
        assert_eq!(map.size, [8, 2 * ROW]);
        for (y, row) in map.pixels.chunks(8).enumerate() {
            let is_gap = (y + 1) % ROW == 0;
            let seen =
                if is_gap { &[Color32::TRANSPARENT; 8] } else { &image.pixels[y / ROW * 8..][..8] };
            assert_eq!(row, seen, "{y}");
        }
    }
}
