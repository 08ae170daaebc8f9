use std::collections::HashMap;

use drystone_mesh::{Clipped, Corner, Error, Lifetime, Plane, PolygonHandle, PolygonStore};
use proptest::prelude::*;

use crate::shapes::{Mesh, length, measure_in, minus, new};

type Store = PolygonStore<()>;

/// Area of the result of a clip, and its contribution to the volume.
fn measure_clipped(store: &Store, original: PolygonHandle, clipped: Clipped) -> ([f64; 3], f64) {
    clipped.remaining(original).map_or(([0.0; 3], 0.0), |left| measure_in(store, left))
}

proptest! {
    #[test]
    fn halves_have_the_area_of_the_whole(
        corners in prop::collection::vec(prop::array::uniform2(-60i16..60), 3..25),
        axes in prop::array::uniform2(prop::array::uniform3(-3i8..=3)),
        normal in prop::array::uniform3(-1.0f32..1.0),
        offset in -50.0f32..50.0,
    ) {
        let mut store = Store::new();
        // Planar, of any shape, mostly with edges across each other.
        let position = |[u, v]: [i16; 2]| {
            let at = |n: usize| f32::from(u) * f32::from(axes[0][n]) + f32::from(v) * f32::from(axes[1][n]);
            [0, 1, 2].map(|n| at(n) / 8.0)
        };
        let corners: Vec<_> = corners.into_iter().map(|corner| new(position(corner))).collect();
        // Repeated corners are the subject of another test.
        let (Ok(polygon), Ok(plane)) = (store.insert(&corners), Plane::new(normal, offset)) else {
            return Ok(());
        };
        let halves = [plane, plane.opposite()].map(|plane| {
            let clipped = store.clip(polygon, &[plane], Lifetime::Frame).unwrap();
            measure_clipped(&store, polygon, clipped)
        });
        let (area, volume) = measure_in(&store, polygon);
        let sum = [0, 1, 2].map(|n| halves[0].0[n] + halves[1].0[n]);
        prop_assert!(length(minus(sum, area)) < 0.05, "{sum:?} for {area:?}");
        prop_assert!((halves[0].1 + halves[1].1 - volume).abs() < 1.0);
        prop_assert_eq!(store.validate(), Ok(()));
    }
}

#[test]
fn a_part_shares_the_remaining_vertices_and_the_original_stays() {
    let mut store = PolygonStore::<f32>::new();
    let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]].map(|[x, y]| Corner::New {
        position: [x, y, 0.0],
        uv: [x / 4.0, y],
        data: x,
    });
    let quad = store.insert(&corners).unwrap();
    let before: Vec<_> = store.corners(quad).unwrap().map(|c| (c.vertex(), c.position())).collect();
    let plane = Plane::new([-1.0, 0.0, 0.0], 3.0).unwrap();
    let clipped = store.clip(quad, &[plane], Lifetime::Kept).unwrap();
    let Clipped::Part(part) = clipped else { panic!("{clipped:?}") };
    let after: Vec<_> = store.corners(quad).unwrap().map(|c| (c.vertex(), c.position())).collect();
    assert_eq!(before, after);
    let stats = store.stats();
    assert_eq!((stats.polygons, stats.vertices, stats.coordinates), (2, 6, 6));
    let mut shared = 0;
    for corner in store.corners(part).unwrap() {
        let [x, y, _] = corner.position();
        assert_eq!((corner.uv(), *corner.data()), ([x / 4.0, y], x));
        shared += usize::from(before.iter().any(|(vertex, _)| *vertex == corner.vertex()));
    }
    assert_eq!(shared, 2);
    // The part keeps its shared vertices after the original is removed.
    assert!(store.remove(quad).unwrap());
    assert_eq!(store.stats().vertices, 4);
    store.end_frame();
    assert!(store.remove(part).unwrap() && store.stats().coordinates == 0);
}

#[test]
fn a_polygon_in_the_plane_belongs_to_the_half_behind_it() {
    let mut store = Store::new();
    let floor =
        store.insert(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(new)).unwrap();
    let above = Plane::new([0.0, 0.0, 1.0], 0.0).unwrap();
    let [a, b] = [above, above.opposite()]
        .map(|plane| store.clip(floor, &[plane], Lifetime::Frame).unwrap());
    assert_eq!((a, b), (Clipped::Outside, Clipped::Inside));
    // A polygon that only touches the plane is on one side.
    let wall = store.insert(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].map(new)).unwrap();
    let [a, b] =
        [above, above.opposite()].map(|plane| store.clip(wall, &[plane], Lifetime::Frame).unwrap());
    assert_eq!((a, b), (Clipped::Inside, Clipped::Outside));
}

fn positions(store: &Store, polygon: PolygonHandle) -> Vec<[f32; 3]> {
    store.corners(polygon).unwrap().map(|corner| corner.position()).collect()
}

/// Clips the polygons of two stores, of one all at once, and compares the results. Returns
/// the number of polygons inside, and of those that are cut.
fn compare_at_once(
    single: &mut Store,
    many: &mut Store,
    polygons: &[PolygonHandle],
    planes: &[Plane],
) -> [usize; 2] {
    let (mut all, mut counts) = (Vec::new(), [0; 2]);
    let visit = |polygon, clipped| all.push((polygon, clipped));
    many.clip_all(polygons, planes, Lifetime::Frame, visit).unwrap();
    assert_eq!(all.len(), polygons.len());
    for (&polygon, (visited, clipped)) in polygons.iter().zip(all) {
        assert_eq!(polygon, visited);
        match (single.clip(polygon, planes, Lifetime::Frame).unwrap(), clipped) {
            (Clipped::Part(a), Clipped::Part(b)) => {
                assert_eq!(positions(single, a), positions(many, b));
                counts[1] += 1;
            }
            (one, other) => assert_eq!(one, other),
        }
        counts[0] += usize::from(clipped == Clipped::Inside);
    }
    counts
}

#[test]
fn clip_all_equals_separate_clips() {
    let mesh = Mesh::torus(40, 24);
    let (mut single, mut many) = (Store::new(), Store::new());
    let polygons = mesh.insert_into(&mut single);
    assert_eq!(polygons, mesh.insert_into(&mut many));
    let mut counts = [0; 2];
    for n in 0..40 {
        // With few planes, and with more than are cached; the last ones are on corners.
        let [x, y, _] = mesh.positions[n * 20];
        let low = if n < 30 { [n as f32 / 8.0 - 4.0, -1.7, -0.9] } else { [x, y, 0.0] };
        let planes = cell_planes(low, 2.5).repeat(if n % 2 == 0 { 1 } else { 3 });
        // All polygons, and few of them.
        for part in [&polygons[..], &polygons[n * 30..n * 30 + 29]] {
            let found =
                compare_at_once(&mut single, &mut many, part, &planes[..planes.len() - n % 4]);
            counts = [0, 1].map(|n| counts[n] + found[n]);
        }
        single.end_frame();
        many.end_frame();
    }
    assert!(counts[0] > 0 && counts[1] > 0);
    many.remove(polygons[7]).unwrap();
    let result = many.clip_all(&polygons, &[], Lifetime::Frame, |_, _| {});
    assert_eq!(result, Err(Error::Stale));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Polygons with reused indices are outside of the stale boxes.
    #[test]
    fn clip_all_is_correct_after_insertions_and_removals(
        rounds in prop::collection::vec(
            (
                prop::collection::vec(any::<prop::sample::Index>(), 0..20),
                prop::collection::vec(prop::array::uniform3(-30i8..30), 0..30),
                prop::array::uniform3(-32i8..28),
                1u8..40,
            ),
            1..12,
        ),
    ) {
        let (mut single, mut many) = (Store::new(), Store::new());
        let mut polygons = Mesh::field(12).insert_into(&mut single);
        prop_assert_eq!(&polygons, &Mesh::field(12).insert_into(&mut many));
        for (removed, inserted, low, size) in rounds {
            for index in removed {
                let polygon = polygons.swap_remove(index.index(polygons.len()));
                single.remove(polygon).unwrap();
                many.remove(polygon).unwrap();
            }
            for at in inserted {
                let [x, y, z] = at.map(f32::from);
                let corners = [[x, y, z], [x + 2.0, y, z], [x, y + 1.0, z + 3.0]].map(new);
                let polygon = single.insert(&corners).unwrap();
                prop_assert_eq!(many.insert(&corners), Ok(polygon));
                polygons.push(polygon);
            }
            let planes = cell_planes(low.map(f32::from), size.into());
            compare_at_once(&mut single, &mut many, &polygons, &planes);
            if size % 3 != 0 {
                single.end_frame();
                many.end_frame();
            }
        }
    }
}

/// A light that removes all that it kept leaves the scene as it was, even where whole polygons are lit.
#[test]
fn kept_results_are_removed_without_the_originals() {
    let mut store = Store::new();
    // Three blocks of polygons: whole blocks are lit, single polygons, and parts.
    let polygons = Mesh::field(14).insert_into(&mut store);
    let before = store.stats();
    for (low, size) in [([-1.0, -1.0, -1.0], 9.5), ([3.0, 3.0, -1.0], 4.5), ([2.0; 3], 1.0)] {
        let planes = cell_planes(low, size);
        for is_at_once in [true, false] {
            let (mut lit, mut whole) = (Vec::new(), 0);
            let mut keep = |polygon, clipped: Clipped| {
                whole += usize::from(clipped == Clipped::Inside);
                lit.extend(clipped.remaining(polygon));
            };
            if is_at_once {
                store.clip_all(&polygons, &planes, Lifetime::Kept, keep).unwrap();
            } else {
                for &polygon in &polygons {
                    keep(polygon, store.clip(polygon, &planes, Lifetime::Kept).unwrap());
                }
            }
            assert_eq!(polygons.iter().filter(|&&it| store.owners(it) == 2).count(), whole);
            // The kept results do not depend on the frame.
            store.end_frame();
            lit.into_iter().for_each(|it| assert!(store.contains(it) && store.remove(it).is_ok()));
            assert!(polygons.iter().all(|&polygon| store.owners(polygon) == 1));
            let mut after = store.stats();
            after.reserved_bytes = before.reserved_bytes;
            assert_eq!(after, before);
        }
    }
    // A kept result outlives a temporary original.
    let plane = |offset| Plane::new([-1.0, 0.0, 0.0], offset).unwrap();
    let clipped = store.clip(polygons[0], &[plane(0.5)], Lifetime::Frame).unwrap();
    let part = clipped.remaining(polygons[0]).unwrap();
    let clipped = store.clip(part, &[plane(0.75)], Lifetime::Kept).unwrap();
    assert_eq!((clipped, clipped.remaining(part)), (Clipped::Inside, Some(part)));
    store.end_frame();
    assert_eq!((store.contains(part), store.remove(part)), (true, Ok(true)));
}

/// The six planes of a cell, and its corners.
fn cell_planes(low: [f32; 3], size: f32) -> Vec<Plane> {
    let mut planes = Vec::new();
    for axis in 0..3 {
        let mut normal = [0.0; 3];
        normal[axis] = 1.0;
        planes.push(Plane::new(normal, -low[axis]).unwrap());
        planes.push(Plane::new(normal, -(low[axis] + size)).unwrap().opposite());
    }
    planes
}

/// Counts the edges of a polygon in one direction minus those in the opposite one, except
/// for polygons in a plane.
fn count_edges(
    store: &Store,
    polygon: PolygonHandle,
    planes: &[Plane],
    edges: &mut HashMap<[[u32; 3]; 2], i32>,
) {
    let corners: Vec<_> = store.corners(polygon).unwrap().map(|c| c.position()).collect();
    for (n, &to) in corners.iter().enumerate() {
        let from = corners[(n + corners.len() - 1) % corners.len()];
        let lies_in = |plane: &&Plane| [from, to].iter().all(|&at| plane.distance(at).abs() < 1e-5);
        if from == to || planes.iter().find(lies_in).is_some() {
            continue;
        }
        let (a, b) = (from.map(f32::to_bits), to.map(f32::to_bits));
        let (edge, way) = if a < b { ([a, b], 1) } else { ([b, a], -1) };
        *edges.entry(edge).or_default() += way;
    }
}

/// Clips a closed mesh with every cell of a grid.
fn clip_to_cells(mesh: &Mesh, low: i32, high: i32, size: f32) {
    let mut store = Store::new();
    let polygons = mesh.insert_into(&mut store);
    let (mut whole, mut pieces) = ((0.0, 0.0), (0.0, 0.0));
    for &polygon in &polygons {
        let (area, volume) = measure_in(&store, polygon);
        whole = (whole.0 + length(area), whole.1 + volume);
    }
    let mut cut_count = 0;
    for n in 0..(high - low).pow(3) {
        let side = high - low;
        let cell = [n % side, n / side % side, n / side / side].map(|n| (n + low) as f32 * size);
        let (planes, mut edges) = (cell_planes(cell, size), HashMap::new());
        for &polygon in &polygons {
            let clipped = store.clip(polygon, &planes, Lifetime::Frame).unwrap();
            let Some(left) = clipped.remaining(polygon) else { continue };
            cut_count += usize::from(left != polygon);
            let (area, volume) = measure_in(&store, left);
            pieces = (pieces.0 + length(area), pieces.1 + volume);
            count_edges(&store, left, &planes, &mut edges);
        }
        assert!(edges.values().all(|&count| count == 0), "a gap in cell {cell:?}");
        store.end_frame();
    }
    assert_eq!(store.len() as usize, polygons.len());
    assert!(cut_count > 0 && whole.1 > 0.0);
    assert!((pieces.0 / whole.0 - 1.0).abs() < 1e-5, "{pieces:?} of {whole:?}");
    assert!((pieces.1 / whole.1 - 1.0).abs() < 1e-5, "{pieces:?} of {whole:?}");
}

#[test]
fn a_closed_mesh_in_cells_has_no_gap() {
    clip_to_cells(&Mesh::torus(40, 24), -5, 5, 1.0);
}

#[test]
fn a_box_with_faces_between_cells_is_in_one_of_them() {
    clip_to_cells(&Mesh::cuboid([-1.0, 0.0, -2.0], [2.0, 1.0, 1.0]), -3, 3, 1.0);
    clip_to_cells(&Mesh::cuboid([-1.0, 0.25, -2.0], [2.0, 1.0, 1.5]), -3, 3, 1.0);
}
