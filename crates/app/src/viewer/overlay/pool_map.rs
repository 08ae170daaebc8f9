//! What lies where in the vertex pool, as a picture: all buffers end to end, read like a page.

use drystone_pool::{PoolRange, RangeState};
use egui::{Color32, ColorImage};

use crate::commands;

const FREE: Color32 = Color32::from_gray(52);
const WAITING: Color32 = Color32::from_rgb(240, 240, 240);

/// Pixels of a row, and how many of them are left free below it.
const ROW: usize = 7;
const GAP: usize = 1;

/// Pixels down a map of so many rows.
pub(super) const fn height(rows: usize) -> usize {
    rows * ROW
}

/// The map of places that come by buffer and address, without holes, so many pixels wide, in so
/// many rows.
///
/// # Cost
/// O(places + pixels).
pub(super) fn picture(places: &[PoolRange], width: usize, rows: usize) -> ColorImage {
    let lines = lines(places, [width, rows]);
    let mut image = ColorImage::filled([width, height(rows)], Color32::TRANSPARENT);
    for (y, row) in image.pixels.chunks_exact_mut(width).enumerate() {
        if y % ROW < ROW - GAP {
            row.copy_from_slice(&lines.pixels[y / ROW * width..][..width]);
        }
    }
    image
}

/// The same in rows of one pixel; each pixel shows what lies in its middle.
fn lines(places: &[PoolRange], size: [usize; 2]) -> ColorImage {
    let len = |place: &PoolRange| u64::from(place.elements.end - place.elements.start);
    let all: u64 = places.iter().map(len).sum();
    let mut image = ColorImage::filled(size, FREE);
    let count = image.pixels.len() as u64;
    let mut places = places.iter();
    // The place that the pixel is in, or behind, and where it ends.
    let (mut place, mut end) = (None, 0);
    for (i, pixel) in image.pixels.iter_mut().enumerate() {
        // In 128 bits: a pool has up to 2³² elements a buffer.
        let middle = (u128::from(all) * (2 * i as u128 + 1) / u128::from(2 * count)) as u64;
        while end <= middle {
            let Some(next) = places.next() else { return image };
            end += len(next);
            place = Some(next);
        }
        *pixel = place.map_or(FREE, |place| color(place.state));
    }
    image
}

fn color(state: RangeState) -> Color32 {
    match state {
        RangeState::Live(mesh) => {
            let [red, green, blue] = commands::mesh_color(mesh.slot());
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
    fn pixels_show_what_lies_in_their_middles() {
        let place = |buffer, elements, state| PoolRange { buffer, elements, state };
        let places = [
            place(0, 0..30, RangeState::Waiting),
            place(0, 30..40, RangeState::Free),
            place(3, 0..0, RangeState::Waiting),
            place(3, 0..40, RangeState::Waiting),
            place(4, 0..80, RangeState::Free),
        ];
        let image = lines(&places, [8, 2]);
        let waits: Vec<bool> = image.pixels.iter().map(|&pixel| pixel == WAITING).collect();
        let expected = [1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0].map(|bit| bit == 1);
        assert_eq!(waits, expected);
        assert!(lines(&[], [4, 4]).pixels.iter().all(|&pixel| pixel == FREE));
        let map = picture(&places, 8, 2);
        assert_eq!(map.size, [8, 2 * ROW]);
        for (y, row) in map.pixels.chunks(8).enumerate() {
            let is_gap = (y + 1) % ROW == 0;
            let seen =
                if is_gap { &[Color32::TRANSPARENT; 8] } else { &image.pixels[y / ROW * 8..][..8] };
            assert_eq!(row, seen, "{y}");
        }
    }
}
