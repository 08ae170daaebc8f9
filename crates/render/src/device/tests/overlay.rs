//! Overlays are equal on every device.

use super::*;
use crate::{
    image::Image,
    overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch},
};

on_every_device!(overlays_are_alike, overlays_are_drawn_as_by_the_rasteriser);
on_every_device!(overlays_change, overlays_stay_until_replaced);
on_every_device!(bad_overlays_are_refused, overlays_that_do_not_fit_together_are_refused);

/// A white pixel, and four by four pixels with a translucent lower half.
fn patches() -> Vec<OverlayPatch> {
    let white = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
    let pixel = |i: u8| if i < 8 { [i * 30, 200, 40, 255] } else { [0, 0, i * 4, 64] };
    let rgba = (0..16).flat_map(pixel).collect();
    vec![white, OverlayPatch { texture: 9, at: None, size: [4, 4], rgba }]
}

fn corner(at: [f32; 2], uv: [f32; 2], color: [u8; 4]) -> OverlayCorner {
    OverlayCorner { at, uv, color }
}

/// A rectangle of either winding.
fn rectangle([left, top, right, bottom]: [f32; 4], color: [u8; 4]) -> [OverlayCorner; 4] {
    [
        corner([left, top], [0.0, 0.0], color),
        corner([right, top], [1.0, 0.0], color),
        corner([right, bottom], [1.0, 1.0], color),
        corner([left, bottom], [0.0, 1.0], color),
    ]
}

/// Panes that overlap: one slanted, one clipped, one with a texture.
pub(super) fn panes() -> Overlay {
    let mut corners = Vec::new();
    corners.extend(rectangle([1.0, 1.0, 12.0, 7.0], [90, 20, 10, 160]));
    corners.extend(rectangle([4.0, 3.0, 15.0, 14.0], [255; 4]));
    corners.extend(rectangle([-50.0, 9.0, 90.0, 200.0], [0, 60, 0, 90]));
    let shades = [[200, 0, 0, 200], [0, 200, 0, 200], [0, 0, 200, 200]];
    let at = [[2.3, 2.1], [13.6, 8.2], [5.4, 15.3]];
    corners.extend((0..3).map(|i| corner(at[i], [0.0; 2], shades[i])));
    let part = |texture, clip, indices| OverlayPart { texture, clip, indices };
    Overlay {
        patches: patches(),
        freed: Vec::new(),
        corners,
        indices: vec![0, 1, 2, 0, 2, 3, 4, 5, 6, 6, 7, 4, 8, 10, 9, 8, 11, 10, 12, 13, 14],
        parts: vec![
            part(0, [0, 0, 16, 16], 0..6),
            part(9, [5, 0, 14, 99], 6..12),
            part(0, [3, 10, 40, 13], 12..18),
            part(0, [0, 0, 16, 16], 18..21),
            part(0, [7, 7, 7, 9], 0..6),
            part(0, [20, 0, 30, 9], 0..6),
        ],
    }
}

/// A picture of a wall, or of the sky, with the overlay over it.
fn pictured<D: Device>(device: &mut D) -> Image {
    device.set_palette(&PALETTE).unwrap();
    let mut geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    device.write(&mut geometry, 0, BufferData::DrawData(&[HERE]));
    device.write(&mut geometry, 0, BufferData::Quads(&[wall(2)]));
    draw(device, &geometry, 0, 0);
    device.read_image().unwrap()
}

fn overlays_are_drawn_as_by_the_rasteriser<D: Device>(mut device: D) {
    let mut soft = SoftDevice::new(16, 16).unwrap();
    let bare = pictured(&mut device);
    for device_overlay in [panes(), Overlay { patches: Vec::new(), ..panes() }] {
        device.set_overlay(&device_overlay).unwrap();
        soft.set_overlay(&device_overlay).unwrap();
        let (expected, seen) = (pictured(&mut soft), pictured(&mut device));
        let difference = expected.difference(&seen, 3).unwrap();
        assert_eq!(difference.pixels, 0, "{}: {difference:?}", device.describe());
        assert!(bare.difference(&seen, 8).unwrap().pixels > 120, "{}", device.describe());
    }
    // Computed by hand: a pane of 160 / 255 over the background.
    let (below, [red, green, ..]) = (bare.pixel(2, 1), pictured(&mut device).pixel(2, 1));
    let pane = |own: f32, below: u8| own + f32::from(below) * (1.0 - 160.0 / 255.0);
    assert!((pane(90.0, below[0]) - f32::from(red)).abs() < 2.0, "{red}");
    assert!((pane(20.0, below[1]) - f32::from(green)).abs() < 2.0, "{green}");
}

fn overlays_stay_until_replaced<D: Device>(mut device: D) {
    let bare = pictured(&mut device);
    device.set_overlay(&panes()).unwrap();
    let covered = pictured(&mut device);
    assert!(pictured(&mut device) == covered, "it stays");
    // Two pixels of the texture turn black; textures remain for later overlays.
    let black = OverlayPatch {
        texture: 9,
        at: Some([1, 0]),
        size: [2, 1],
        rgba: [[0, 0, 0, 255]; 2].concat(),
    };
    device.set_overlay(&Overlay { patches: vec![black], ..panes() }).unwrap();
    let patched = pictured(&mut device);
    assert!(covered.difference(&patched, 60).unwrap().pixels > 4);
    device.set_overlay(&Overlay::default()).unwrap();
    assert!(pictured(&mut device) == bare, "an empty one shows nothing");
    device.set_overlay(&Overlay { patches: Vec::new(), ..panes() }).unwrap();
    assert!(pictured(&mut device) == patched, "textures are kept");
    // A picture of another size is still covered from its left and top edge.
    device.resize(9, 11).unwrap();
    let small = pictured(&mut device);
    assert_eq!((small.width(), small.height()), (9, 11));
    assert_eq!(small.pixel(2, 1), patched.pixel(2, 1));
}

fn overlays_that_do_not_fit_together_are_refused<D: Device>(mut device: D) {
    let bare = pictured(&mut device);
    let good = panes();
    let edited = |edit: &dyn Fn(&mut Overlay)| {
        let mut overlay = good.clone();
        edit(&mut overlay);
        overlay
    };
    let bad = [
        edited(&|it| it.indices[4] = 99),
        edited(&|it| it.parts[0].indices = 0..99),
        edited(&|it| it.parts[0].indices = 0..4),
        edited(&|it| it.parts[1].texture = 8),
        edited(&|it| it.freed = vec![9]),
        edited(&|it| it.corners[3].at[1] = f32::NAN),
        edited(&|it| it.patches[1].rgba.truncate(60)),
        edited(&|it| it.patches[0].size = [0, 4]),
        edited(&|it| it.patches[1].at = Some([0, 0])),
        edited(&|it| it.patches.push(OverlayPatch { at: Some([2, 3]), ..it.patches[1].clone() })),
    ];
    for (i, bad) in bad.iter().enumerate() {
        let refused = device.set_overlay(bad);
        assert!(matches!(refused, Err(RenderError::BadOverlay { .. })), "{i}: {refused:?}");
    }
    device.set_overlay(&good).unwrap();
    assert!(pictured(&mut device) != bare);
}
