use drystone_mesh::{Error, PolygonHandle, PolygonStore, Triangulator};
use proptest::prelude::*;

use crate::shapes::{length, measure, measure_in, minus, new};

type Store = PolygonStore<()>;

/// Triangles of a polygon, and twice the area of each.
fn triangles_of(
    store: &Store,
    polygon: PolygonHandle,
    holes: &[PolygonHandle],
) -> Vec<([u32; 3], [f64; 3])> {
    let mut corners = Vec::new();
    for &ring in [polygon].iter().chain(holes) {
        corners.extend(store.corners(ring).unwrap().map(|it| it.position().map(f64::from)));
    }
    let mut triangles = Vec::new();
    Triangulator::new().triangulate(store, polygon, holes, &mut triangles).unwrap();
    let area = |triangle: [u32; 3]| measure(&triangle.map(|n| corners[n as usize])).0;
    triangles.into_iter().map(|triangle| (triangle, area(triangle))).collect()
}

fn sum_of(areas: &[([u32; 3], [f64; 3])]) -> ([f64; 3], f64) {
    let (mut sum, mut total) = ([0.0; 3], 0.0);
    for (_, area) in areas {
        sum = [0, 1, 2].map(|n| sum[n] + area[n]);
        total += length(*area);
    }
    (sum, total)
}

fn ring(store: &mut Store, radii: &[f32], plane: usize, turns: bool) -> PolygonHandle {
    let corner = |n: usize| {
        let n = if turns { radii.len() - 1 - n } else { n };
        let (sin, cos) = (n as f32 * std::f32::consts::TAU / radii.len() as f32).sin_cos();
        let mut position = [0.0; 3];
        position[plane] = radii[n] * cos;
        position[(plane + 1) % 3] = radii[n] * sin;
        position[(plane + 2) % 3] = radii[n] * (cos + 0.5 * sin) * 0.25;
        new(position)
    };
    let corners: Vec<_> = (0..radii.len()).map(corner).collect();
    store.insert(&corners).unwrap()
}

proptest! {
    #[test]
    fn triangles_cover_the_polygon_once(
        radii in prop::collection::vec(1.0f32..5.0, 3..40),
        plane in 0..3usize,
        turns in any::<bool>(),
    ) {
        let mut store = Store::new();
        let star = ring(&mut store, &radii, plane, turns);
        let triangles = triangles_of(&store, star, &[]);
        let (area, _) = measure_in(&store, star);
        let (sum, total) = sum_of(&triangles);
        prop_assert!(length(minus(sum, area)) < 1e-3, "{sum:?} for {area:?}");
        // No triangle is reversed or overlaps another one.
        prop_assert!((total - length(area)).abs() < 1e-3);
    }

    #[test]
    fn a_hole_is_left_out(
        radii in prop::collection::vec(3.0f32..5.0, 16..30),
        hole in prop::collection::vec(0.5f32..2.0, 3..12),
        plane in 0..3usize,
        turns in any::<bool>(),
    ) {
        let mut store = Store::new();
        let outer = ring(&mut store, &radii, plane, turns);
        let hole = ring(&mut store, &hole, plane, false);
        let triangles = triangles_of(&store, outer, &[hole]);
        let left = length(measure_in(&store, outer).0) - length(measure_in(&store, hole).0);
        prop_assert!((sum_of(&triangles).1 - left).abs() < 1e-3);
        prop_assert!((length(sum_of(&triangles).0) - left).abs() < 1e-3);
    }
}

#[test]
fn a_convex_polygon_becomes_a_fan() {
    let mut store = Store::new();
    let polygon = ring(&mut store, &[2.0; 6], 1, false);
    let triangles: Vec<_> = triangles_of(&store, polygon, &[]).iter().map(|it| it.0).collect();
    assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]);
}

#[test]
fn a_star_that_winds_twice_is_not_a_fan() {
    let mut store = Store::new();
    let corner = |n: usize| {
        let (sin, cos) = ((n * 2) as f32 * std::f32::consts::TAU / 5.0).sin_cos();
        new([cos, sin, 0.0])
    };
    let star = store.insert(&[0, 1, 2, 3, 4].map(corner)).unwrap();
    let triangles: Vec<_> = triangles_of(&store, star, &[]).iter().map(|it| it.0).collect();
    assert_ne!(triangles, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
}

#[test]
fn removed_polygons_have_no_triangles() {
    let mut store = Store::new();
    let polygon = ring(&mut store, &[2.0; 6], 1, false);
    let hole = ring(&mut store, &[1.0; 6], 1, false);
    store.remove(hole).unwrap();
    let mut triangles = vec![[7; 3]];
    let mut triangulator = Triangulator::new();
    let result = triangulator.triangulate(&store, polygon, &[hole], &mut triangles);
    assert_eq!(result, Err(Error::Stale));
    assert_eq!(triangulator.triangulate(&store, hole, &[], &mut triangles), Err(Error::Stale));
    assert_eq!(triangles, [[7; 3]]);
}
