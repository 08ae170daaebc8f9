//! What lies where in the vertex pool, as a picture: all buffers end to end, read like a page.

use drystone_pool::{PlaceState, PoolPlace};
use egui::{Color32, ColorImage};

use crate::commands;

const FREE: Color32 = Color32::from_gray(52);
const WAITING: Color32 = Color32::from_rgb(240, 240, 240);

/// The picture of places that come by buffer and address, without holes; each pixel shows what
/// lies in its middle.
///
/// # Cost
/// O(places + pixels).
pub(super) fn picture(places: &[PoolPlace], size: [usize; 2]) -> ColorImage {
    let len = |place: &PoolPlace| u64::from(place.elements.end - place.elements.start);
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

fn color(state: PlaceState) -> Color32 {
    match state {
        PlaceState::Live(mesh) => {
            let [red, green, blue] = commands::mesh_color(mesh.slot());
            Color32::from_rgb(red, green, blue)
        }
        PlaceState::Waiting => WAITING,
        PlaceState::Free => FREE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_show_what_lies_in_their_middles() {
        let place = |buffer, elements, state| PoolPlace { buffer, elements, state };
        let places = [
            place(0, 0..30, PlaceState::Waiting),
            place(0, 30..40, PlaceState::Free),
            place(3, 0..0, PlaceState::Waiting),
            place(3, 0..40, PlaceState::Waiting),
            place(4, 0..80, PlaceState::Free),
        ];
        let image = picture(&places, [8, 2]);
        let waits: Vec<bool> = image.pixels.iter().map(|&pixel| pixel == WAITING).collect();
        let expected = [1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0].map(|bit| bit == 1);
        assert_eq!(waits, expected);
        assert!(picture(&[], [4, 4]).pixels.iter().all(|&pixel| pixel == FREE));
    }
}
