use proptest::prelude::*;

use super::*;
use crate::samples::Samples;

const SIDE: u32 = 24;

fn corner() -> impl Strategy<Value = Snapped> {
    // Coarse and fine grids, so that ties happen often.
    let range = -4 * SUBPIXELS..28 * SUBPIXELS;
    (range.clone(), range, prop_oneof![Just(1), Just(64), Just(128), Just(256)], 0.0..1.0f32)
        .prop_map(|(x, y, grid, depth)| Snapped { x: x / grid * grid, y: y / grid * grid, depth })
}

fn count(triangles: &[[Snapped; 3]]) -> Vec<u32> {
    let viewport = Viewport::new(SIDE, SIDE);
    let mut counts = vec![0; (SIDE * SIDE) as usize];
    for corners in triangles {
        let Some(triangle) = Triangle::new(*corners, PixelKind::default(), &viewport) else {
            continue;
        };
        // In two bands, as if by two threads.
        for rows in [0..10, 10..SIDE as i32] {
            triangle.spans(&viewport, &rows, |span| {
                assert!(rows.contains(&(span.y as i32)));
                span.xs.for_each(|x| counts[span.y * SIDE as usize + x] += 1);
            });
        }
    }
    counts
}

/// Bits of the samples that the triangle covers, by pixel.
fn masks(corners: [Snapped; 3], viewport: &Viewport) -> Vec<u32> {
    let mut masks = vec![0; (SIDE * SIDE) as usize];
    let Some(triangle) = Triangle::new(corners, PixelKind::default(), viewport) else {
        return masks;
    };
    for rows in [0..10, 10..SIDE as i32] {
        triangle.fragments(viewport, &rows, |fragment| {
            assert!(rows.contains(&(fragment.y as i32)));
            let mask = &mut masks[fragment.y * SIDE as usize + fragment.x];
            assert_eq!(*mask, 0, "a pixel is visited once");
            fragment.covered().for_each(|sample| *mask |= 1 << sample);
        });
    }
    masks
}

/// Twice the area left of a → b, seen with y up.
fn side(a: Snapped, b: Snapped, x: i64, y: i64) -> i64 {
    let [ax, ay, bx, by] = [a.x, a.y, b.x, b.y].map(i64::from);
    (bx - ax) * (ay - y) - (ay - by) * (x - ax)
}

/// Whether a centre is in the triangle, on its border (`None`), or outside.
fn contains([a, b, c]: [Snapped; 3], x: i64, y: i64) -> Option<bool> {
    let sides = [side(a, b, x, y), side(b, c, x, y), side(c, a, x, y)];
    if sides.iter().any(|&s| s < 0) {
        Some(false)
    } else {
        sides.iter().all(|&s| s > 0).then_some(true)
    }
}

proptest! {
    #[test]
    fn covers_the_pixels_inside(corners in [corner(), corner(), corner()]) {
        let [a, b, c] = corners;
        let counts = count(&[corners]);
        let faces_away = side(a, b, c.x.into(), c.y.into()) <= 0;
        for (i, &count) in counts.iter().enumerate() {
            let [x, y] = [i % SIDE as usize, i / SIDE as usize].map(|p| p as i64 * 256);
            match contains(corners, x, y) {
                _ if faces_away => prop_assert_eq!(count, 0),
                Some(inside) => prop_assert_eq!(count, u32::from(inside), "{} {}", x, y),
                None => prop_assert!(count <= 1),
            }
        }
    }

    /// Each sample is covered as the centre of a pixel would be that lies there.
    #[test]
    fn covers_the_samples_inside(corners in [corner(), corner(), corner()]) {
        for samples in [Samples::One, Samples::Four, Samples::Eight] {
            let viewport = Viewport::new(SIDE, SIDE).with_samples(samples);
            let masks = masks(corners, &viewport);
            for (sample, &[dx, dy]) in viewport.samples.iter().enumerate() {
                let moved = corners.map(|it| Snapped { x: it.x - dx, y: it.y - dy, ..it });
                let expected = count(&[moved]);
                let covered: Vec<u32> = masks.iter().map(|mask| mask >> sample & 1).collect();
                prop_assert_eq!(covered, expected, "sample {} of {}", sample, samples);
            }
        }
    }

    /// A fan about a point, whose outer corners wind once around it: every pixel in a triangle,
    /// on an inner edge or at the middle is covered exactly once.
    #[test]
    fn shared_edges_are_covered_once(
        middle in (8..16i32, 8..16i32),
        sub in prop_oneof![Just(0), Just(128), 0..256i32],
        lengths in prop::collection::vec(0..40i32, 8),
    ) {
        let middle = Snapped { x: middle.0 * 256 + sub, y: middle.1 * 256 + sub, depth: 0.5 };
        const AROUND: [[i32; 2]; 8] =
            [[1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1], [0, 1], [1, 1]];
        let rim: Vec<Snapped> = (0..8).map(|i| {
            let [x, y] = AROUND[i].map(|d| d * (lengths[i] * 64 + 1));
            Snapped { x: middle.x + x, y: middle.y + y, depth: 0.5 }
        }).collect();
        let fan: Vec<[Snapped; 3]> =
            (0..8).map(|i| [middle, rim[i], rim[(i + 1) % 8]]).collect();
        for (i, &count) in count(&fan).iter().enumerate() {
            let [x, y] = [i % SIDE as usize, i / SIDE as usize].map(|p| p as i64 * 256);
            let held: Vec<_> = fan.iter().map(|&t| contains(t, x, y)).collect();
            let outside = held.iter().all(|h| *h == Some(false));
            let on_rim = (0..8).any(|j| {
                held[j].is_none() && side(rim[j], rim[(j + 1) % 8], x, y) == 0
            });
            prop_assert!(count <= 1);
            if outside {
                prop_assert_eq!(count, 0);
            } else if !on_rim {
                prop_assert_eq!(count, 1, "{} {}", x, y);
            }
        }
    }

    #[test]
    fn dividing_and_walking_cover_the_same_pixels(
        at in prop::array::uniform3(-100_000..100_000i64),
        across in prop::array::uniform3(prop_oneof![Just(0), -9_000..9_000i64]),
        width in 1..40i64,
    ) {
        let edges = Edges { at, across, down: [0; 3] };
        let (walked, divided) = (edges.walk(width), edges.divide(width));
        if walked.is_empty() {
            prop_assert!(divided.is_empty());
        } else {
            prop_assert_eq!(walked, divided);
        }
    }
}

/// A point of the plane of the tests.
fn at(x: i32, y: i32) -> Snapped {
    let depth = 0.25 + x as f32 / 64.0 + y as f32 / 128.0;
    Snapped { x: x * 256 + 40, y: y * 256 - 70, depth }
}

/// Samples have their own depth. A triangle is coloured at the centre of a pixel that it covers, else
/// at the first sample that it covers.
#[test]
fn samples_have_the_depth_of_the_plane() {
    let viewport = Viewport::new(SIDE, SIDE).with_samples(Samples::Four);
    let corners = [at(-3, 30), at(40, 5), at(0, -9)];
    let triangle = Triangle::new(corners, PixelKind::default(), &viewport).unwrap();
    let depth_at = |[x, y]: [f32; 2]| {
        let (x, y) = (x - 0.5 - 40.0 / 256.0, y - 0.5 + 70.0 / 256.0);
        0.25 + x / 64.0 + y / 128.0
    };
    let (mut whole, mut parts) = (0, 0);
    triangle.fragments(&viewport, &(0..SIDE as i32), |fragment| {
        let positions = viewport.samples.iter().map(|[dx, dy]| {
            let [x, y] = center(fragment.x, fragment.y);
            [x + *dx as f32 / 256.0, y + *dy as f32 / 256.0]
        });
        let positions: Vec<[f32; 2]> = positions.collect();
        for sample in fragment.covered() {
            assert!((fragment.depth(sample) - depth_at(positions[sample])).abs() < 1e-6);
        }
        let seen = fragment.covered().fold(0, |seen, sample| seen | 1 << sample);
        let (shaded_at, depth) = fragment.shaded_at(seen);
        assert!((depth - depth_at(shaded_at)).abs() < 1e-6);
        let covered: Vec<usize> = fragment.covered().collect();
        let expected = if covered.len() == 4 {
            whole += 1;
            center(fragment.x, fragment.y)
        } else {
            parts += 1;
            positions[covered[0]]
        };
        assert_eq!(shaded_at, expected);
    });
    assert!(whole > 100 && parts > 10, "{whole} {parts}");
}

#[test]
fn depth_is_that_of_the_plane() {
    let viewport = Viewport::new(SIDE, SIDE);
    let triangle =
        Triangle::new([at(-3, 30), at(40, 5), at(0, -9)], PixelKind::default(), &viewport).unwrap();
    let mut seen = 0;
    triangle.spans(&viewport, &(0..SIDE as i32), |span| {
        for (i, x) in span.xs.enumerate() {
            let got = span.depth + span.depth_step * i as f32;
            let (x, y) = (x as f32 - 40.0 / 256.0, span.y as f32 + 70.0 / 256.0);
            assert!((got - (0.25 + x / 64.0 + y / 128.0)).abs() < 1e-6);
            seen += 1;
        }
    });
    assert!(seen > 100);
}
