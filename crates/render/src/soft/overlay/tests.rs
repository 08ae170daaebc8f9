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

/// Draws the overlay pixel by pixel over the whole picture, without spans, groups and bands.
fn painted_plainly(overlay: &SoftOverlay, image: &mut Image) {
    let size = [image.width(), image.height()];
    for part in &overlay.overlay.parts {
        let Some([left, top, right, bottom]) = part.clip_within(size) else { continue };
        let indices = &overlay.overlay.indices[part.indices.start as usize..][..part.indices.len()];
        for triangle in indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|i| overlay.overlay.corners[triangle[i] as usize]);
            let Some(triangle) = Triangle::new(corners) else { continue };
            let [a, b, c] = triangle.at;
            let sides = [(b, c), (c, a), (a, b)];
            let is_left_or_top = |(from, to): ([i32; 2], [i32; 2])| {
                to[1] < from[1] || (to[1] == from[1] && to[0] > from[0])
            };
            for (y, x) in (top..bottom).flat_map(|y| (left..right).map(move |x| (y, x))) {
                let weights = triangle.weights([x, y].map(|at| at as i32 * SUBPIXELS));
                if (0..3).all(|i| weights[i] >= i64::from(!is_left_or_top(sides[i]))) {
                    let colors = triangle.corners.map(|corner| color(&corner.color));
                    let parts = weights.map(|weight| weight as f32 / triangle.area as f32);
                    let of = |values: [f32; 3]| sum([0, 1, 2].map(|i| values[i] * parts[i]));
                    let uv = [0, 1].map(|axis| of(triangle.corners.map(|it| it.uv[axis])));
                    let texel = overlay.textures[&part.texture].sample(uv);
                    let own = [0, 1, 2, 3].map(|i| of(colors.map(|color| color[i])) * texel[i]);
                    let [first, others @ ..] = triangle.corners;
                    let is_plain =
                        others.iter().all(|it| (it.uv, it.color) == (first.uv, first.color));
                    let plain = overlay.textures[&part.texture].sample(first.uv);
                    let plain = [0, 1, 2, 3].map(|i| colors[0][i] * plain[i]);
                    let at = (y * size[0] + x) as usize * 4;
                    let below = &mut image.rgba_mut()[at..at + 4];
                    let mixed = over(
                        if is_plain { plain } else { own },
                        [below[0], below[1], below[2], below[3]],
                    );
                    below.copy_from_slice(&mixed);
                }
            }
        }
    }
}

/// Corners of triangles around a picture of 40 by 50 pixels; many have the same colour or the same
/// texel, as those of panels.
fn corners() -> impl Strategy<Value = Vec<OverlayCorner>> {
    let at = [-9.0_f32..60.0, -9.0_f32..60.0];
    let uv = prop_oneof![Just([0.0; 2]), [0.0_f32..1.0, 0.0_f32..1.0]];
    let color = prop_oneof![Just([9, 80, 70, 160]), Just([90, 90, 90, 255]), any::<[u8; 4]>()];
    let corner = (at, uv, color).prop_map(|(at, uv, color)| OverlayCorner { at, uv, color });
    prop::collection::vec(corner, 12)
}

proptest! {
    #[test]
    fn bands_and_spans_are_equal_to_drawing_pixel_by_pixel(
        corners in corners(), indices in prop::collection::vec(0_u32..12, 3 * GROUP + 30),
        texels in prop::collection::vec(any::<u8>(), 4 * 4 * 3), clip in [0_u32..30, 0_u32..30],
    ) {
        let texture = OverlayPatch { texture: 7, at: None, size: [4, 3], rgba: texels };
        let clips = [[clip[0], clip[1], 35, 44], [0, 0, 99, 99]];
        let middle = indices.len() as u32 - 15;
        let ranges = [0..middle, middle..indices.len() as u32];
        let parts = ranges.into_iter().zip(clips);
        let parts = parts.map(|(indices, clip)| OverlayPart { texture: 7, clip, indices }).collect();
        let (patches, freed) = (vec![texture], Vec::new());
        let mut overlay = SoftOverlay::default();
        overlay.set(&Overlay { patches, freed, corners, indices, parts }).unwrap();
        let [mut image, mut plainly] = [(); 2].map(|()| Image::new(40, 50, [30, 200, 90, 255]));
        overlay.paint(&mut image);
        painted_plainly(&overlay, &mut plainly);
        prop_assert!(image == plainly);
    }

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
