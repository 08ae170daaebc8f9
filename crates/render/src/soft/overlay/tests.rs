use proptest::prelude::*;

use super::*;
use crate::OverlayPart;

const SIDE: u32 = 24;

fn corner(at: [f32; 2]) -> OverlayCorner {
    OverlayCorner { at, uv: [0.5; 2], color: [0, 0, 0, 128] }
}

/// A white picture with these triangles over it, half opaque and black.
fn painted(corners: Vec<OverlayCorner>, indices: Vec<u32>) -> Image {
    let white = OverlayPatch { texture: 7, at: None, size: [1, 1], rgba: vec![255; 4] };
    let indices_used = 0..indices.len() as u32;
    let part = OverlayPart { texture: 7, clip: [0, 0, SIDE, SIDE], indices: indices_used };
    let (patches, parts) = (vec![white], vec![part]);
    let mut overlay = SoftOverlay::default();
    let freed = Vec::new();
    overlay.set(&Overlay { patches, freed, corners, indices, parts }).unwrap();
    let mut image = Image::new(SIDE, SIDE, [255; 4]);
    overlay.paint(&mut image);
    image
}

proptest! {
    /// A square that is cut from its middle in any way covers each pixel once.
    #[test]
    fn triangles_that_share_edges_cover_each_pixel_once(
        x in 1.0_f32..23.0, y in 1.0_f32..23.0, rim in prop::collection::vec(0_u32..24, 4),
    ) {
        let end = SIDE as f32;
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| rim[i] as f32);
        let around = [
            [0.0, 0.0], [a, 0.0], [end, 0.0], [end, b], [end, end], [c, end], [0.0, end],
            [0.0, d],
        ];
        let mut corners = vec![corner([x, y])];
        corners.extend(around.map(corner));
        let indices = (0..8).flat_map(|i| [0, 1 + i, 1 + (i + 1) % 8]).collect();
        let image = painted(corners, indices);
        for (i, pixel) in image.rgba().chunks(4).enumerate() {
            prop_assert_eq!(pixel[0], 127, "pixel {} of {:?}", i, (x, y));
        }
    }

    /// Pixels whose centres are clearly within or outside are compared with a plain test.
    #[test]
    fn pixels_are_those_whose_centres_lie_within(
        at in prop::collection::vec(-9.0_f32..33.0, 6),
    ) {
        let at = [[at[0], at[1]], [at[2], at[3]], [at[4], at[5]]];
        let image = painted(at.map(corner).to_vec(), vec![0, 1, 2]);
        let side = |a: [f32; 2], b: [f32; 2], c: [f32; 2]| {
            let [a, b, c] = [a, b, c].map(|it| it.map(f64::from));
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / length.max(1e-9)
        };
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            let middle = [x as f32 + 0.5, y as f32 + 0.5];
            let sides = [0, 1, 2].map(|i| side(at[i], at[(i + 1) % 3], middle));
            if sides.iter().any(|side| side.abs() < 0.02) {
                continue;
            }
            let is_within = sides.iter().all(|&it| it > 0.0) || sides.iter().all(|&it| it < 0.0);
            prop_assert_eq!(image.pixel(x, y)[0] < 255, is_within, "{}, {} of {:?}", x, y, at);
        }
    }
}

#[test]
fn far_triangles_are_drawn_without_a_panic() {
    let far = [[-1e30, 3.0], [1e30, 3.0], [0.0, 1e30]];
    let image = painted(far.map(corner).to_vec(), vec![0, 1, 2]);
    assert_eq!((image.pixel(5, 1)[0], image.pixel(5, 20)[0]), (255, 127));
}
