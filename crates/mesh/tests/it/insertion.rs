use drystone_mesh::{
    Clipped, Corner, Error, Lifetime, MeshVertex, PartCorner, Plane, PolygonStore, Projected,
};

use crate::shapes::{Mesh, new};

type Store = PolygonStore<()>;

const TRIANGLE: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn bad_polygons_are_errors_and_leave_nothing() {
    let mut store = Store::new();
    let [a, b, c] = TRIANGLE;
    let mut fails = |corners: &[[f32; 3]], error| {
        let corners: Vec<_> = corners.iter().copied().map(new).collect();
        assert_eq!(store.insert(&corners), Err(error));
        assert_eq!(
            (store.stats().vertices, store.stats().coordinates, store.validate()),
            (0, 0, Ok(()))
        );
    };
    fails(&[], Error::TooFewCorners { count: 0 });
    fails(&[a, b], Error::TooFewCorners { count: 2 });
    fails(&[a, b, c, b], Error::RepeatedCorner { first: 1, second: 3 });
    fails(&[a, b, [-0.0, 0.0, -0.0]], Error::RepeatedCorner { first: 0, second: 2 });
    fails(&[a, b, [0.0, f32::NAN, 0.0]], Error::NotFinite { corner: 2 });
    fails(&[a, [f32::INFINITY, 0.0, 0.0], c], Error::NotFinite { corner: 1 });
    let mut many: Vec<_> = (0..1000).map(|n| [n as f32, (n * n) as f32, 0.0]).collect();
    many[700] = many[3].map(|n| n - 0.0);
    fails(&many, Error::RepeatedCorner { first: 3, second: 700 });
    let uv = [0.0, f32::NEG_INFINITY];
    let corners = [new(a), Corner::New { position: b, uv, data: () }, new(c)];
    assert_eq!(store.insert(&corners), Err(Error::NotFinite { corner: 1 }));
}

#[test]
fn removed_vertices_cannot_be_shared() {
    let mut store = Store::new();
    let polygon = store.insert(&TRIANGLE.map(new)).unwrap();
    let corner = store.corners(polygon).unwrap().next().unwrap();
    let (vertex, coordinate) = (corner.vertex().unwrap(), corner.coordinate().unwrap());
    store.remove(polygon).unwrap();
    let others = TRIANGLE.map(|position| new(position.map(|n| n + 9.0)));
    let at = Corner::At { coordinate, uv: [0.0; 2], data: () };
    for removed in [Corner::Shared(vertex), at] {
        // Their indices are reused or free by now.
        assert_eq!(store.insert(&[others[0], removed, others[1]]), Err(Error::Stale));
        store.insert(&others).unwrap();
    }
    assert_eq!(store.clip(polygon, &[], Lifetime::Kept), Err(Error::Stale));
    assert_eq!(store.share(polygon), Err(Error::Stale));
    assert_eq!(store.remove(polygon), Err(Error::Stale));
    assert!(store.corners(polygon).is_err() && !store.contains(polygon));
    assert_eq!(store.validate(), Ok(()));
}

#[test]
fn a_polygon_stays_until_its_last_owner_removes_it() {
    let mut store = Store::new();
    let polygon = store.insert(&TRIANGLE.map(new)).unwrap();
    store.share(polygon).unwrap();
    assert_eq!((store.owners(polygon), store.remove(polygon)), (2, Ok(false)));
    assert_eq!((store.remove(polygon), store.remove(polygon)), (Ok(true), Err(Error::Stale)));
}

#[test]
fn temporaries_end_with_the_frame_unless_kept_or_shared() {
    let mut store = Store::new();
    let polygon = store.insert(&TRIANGLE.map(new)).unwrap();
    let plane = Plane::new([1.0, 0.0, 0.0], -0.5).unwrap();
    let mut clip = |lifetime| match store.clip(polygon, &[plane], lifetime).unwrap() {
        Clipped::Part(part) => part,
        other => panic!("{other:?}"),
    };
    let [of_frame, removed, shared] = [(); 3].map(|()| clip(Lifetime::Frame));
    let kept = clip(Lifetime::Kept);
    store.remove(removed).unwrap();
    store.share(shared).unwrap();
    store.end_frame();
    let live = [polygon, of_frame, removed, shared, kept].map(|it| store.contains(it));
    assert_eq!(live, [true, false, false, true, true]);
    store.end_frame();
    assert!(store.remove(shared).unwrap() && store.remove(kept).unwrap());
    assert_eq!((store.len(), store.stats().vertices), (1, 3));
}

#[test]
fn large_polygons_and_numbers_work() {
    let mut store = Store::new();
    let circle: Vec<_> = (0..1000)
        .map(|n| (n as f32 * std::f32::consts::TAU / 1000.0).sin_cos())
        .map(|(sin, cos)| new([cos * 1e38, sin * 1e38, 3e38]))
        .collect();
    let polygon = store.insert(&circle).unwrap();
    let plane = Plane::new([1e38, 3e38, 0.0], 0.0).unwrap();
    let Clipped::Part(part) = store.clip(polygon, &[plane], Lifetime::Frame).unwrap() else {
        panic!()
    };
    assert_eq!(store.corners(part).unwrap().len(), 502);
    assert!(
        store.corners(part).unwrap().all(|corner| corner.position().iter().all(|n| n.is_finite()))
    );
    store.reset();
    assert_eq!((store.is_empty(), store.contains(part), store.validate()), (true, false, Ok(())));
    store.insert(&circle).unwrap();
    assert_eq!(store.validate(), Ok(()));
}

#[test]
fn insert_mesh_equals_separate_insertions() {
    let mesh = Mesh::torus(20, 12);
    let (mut single, mut whole) = (Store::new(), Store::new());
    let one_by_one = mesh.insert_into(&mut single);
    whole.reserve(mesh.faces.len(), 4 * mesh.faces.len(), mesh.positions.len()).unwrap();
    let reserved = whole.stats().reserved_bytes;
    let at_once = mesh.insert_whole_into(&mut whole);
    assert_eq!(one_by_one, at_once);
    assert_eq!(whole.stats().reserved_bytes, reserved);
    let (a, b) = (single.stats(), whole.stats());
    assert_eq!((a.vertices, a.corners, a.bytes), (b.vertices, b.corners, b.bytes));
    for &polygon in &at_once {
        let corners = |store: &Store| -> Vec<_> {
            let corners = store.corners(polygon).unwrap();
            corners.map(|it| (it.vertex(), it.coordinate(), it.position(), it.uv())).collect()
        };
        assert_eq!(corners(&single), corners(&whole));
    }
    for polygon in at_once {
        assert!(whole.remove(polygon).unwrap());
    }
    assert_eq!((whole.stats().coordinates, whole.validate()), (0, Ok(())));
}

#[test]
fn a_bad_mesh_is_an_error_at_the_face() {
    let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3], [f32::NAN; 3], [9.0; 3]];
    let fails = |face: &[u32], error| {
        let mut store = Store::new();
        let vertex = |n: usize| MeshVertex { position: positions[n], uv: [0.0; 2], data: () };
        let (faces, mut visited) = ([&[0, 1, 2][..], face, &[0, 1, 5]], 0);
        let made = store.insert_mesh(positions.len(), vertex, faces, |_| visited += 1);
        assert_eq!((made, visited), (Err(error), 1));
        let stats = store.stats();
        assert_eq!((stats.polygons, stats.vertices, store.validate()), (1, 3, Ok(())));
    };
    fails(&[], Error::TooFewCorners { count: 0 });
    fails(&[1, 2], Error::TooFewCorners { count: 2 });
    fails(&[5, 1, 6], Error::NoCorner { corner: 2, count: 6 });
    fails(&[5, u32::MAX, 1], Error::NoCorner { corner: 1, count: 6 });
    fails(&[5, 1, 5], Error::RepeatedCorner { first: 0, second: 2 });
    fails(&[0, 1, 3], Error::RepeatedCorner { first: 0, second: 2 });
    fails(&[5, 4, 1], Error::NotFinite { corner: 1 });
    let vertex = |_| MeshVertex { position: [0.0; 3], uv: [0.0; 2], data: () };
    let made = Store::new().insert_mesh(0, vertex, [&[0, 1, 2][..]], |_| {});
    assert_eq!(made, Err(Error::NoCorner { corner: 0, count: 0 }));
}

#[test]
fn bad_parts_are_errors_and_leave_nothing() {
    let mut store = Store::new();
    let polygon = store.insert(&TRIANGLE.map(new)).unwrap();
    let at = |position, uv| PartCorner::New { position, uv, data: () };
    let (kept, tip) = ([0, 1].map(PartCorner::Kept), at([0.5; 3], [0.0; 2]));
    for (last, error) in [
        (PartCorner::Kept(3), Error::NoCorner { corner: 3, count: 3 }),
        (PartCorner::Kept(u32::MAX), Error::NoCorner { corner: 3, count: 3 }),
        (at([f32::NAN; 3], [0.0; 2]), Error::NotFinite { corner: 3 }),
        (at([0.0; 3], [0.0, f32::INFINITY]), Error::NotFinite { corner: 3 }),
    ] {
        let corners = [kept[0], tip, kept[1], last];
        assert_eq!(store.insert_part(polygon, &corners, Lifetime::Frame), Err(error));
        let stats = store.stats();
        assert_eq!((stats.vertices, stats.temporaries, store.validate()), (3, 0, Ok(())));
    }
    let few = store.insert_part(polygon, &kept, Lifetime::Frame);
    assert_eq!(few, Err(Error::TooFewCorners { count: 2 }));

    // A polygon that the frame removed cannot be an original.
    let corners = [kept[0], kept[1], tip];
    let part = store.insert_part(polygon, &corners, Lifetime::Frame).unwrap();
    let [.., vertex] =
        <[_; 3]>::try_from(store.corners(part).unwrap().collect::<Vec<_>>()).unwrap();
    let (vertex, coordinate) = (vertex.vertex().unwrap(), vertex.coordinate().unwrap());
    store.end_frame();
    let again = store.insert_part(polygon, &corners, Lifetime::Kept).unwrap();
    assert_ne!(part, again);
    assert_eq!(store.insert_part(part, &corners, Lifetime::Kept), Err(Error::Stale));
    assert_eq!(store.clip(part, &[], Lifetime::Kept), Err(Error::Stale));
    assert_eq!(
        (store.corners(part).err(), store.remove(part)),
        (Some(Error::Stale), Err(Error::Stale))
    );
    for removed in [Corner::Shared(vertex), Corner::At { coordinate, uv: [0.0; 2], data: () }] {
        let corners = [new(TRIANGLE[0]), new(TRIANGLE[1]), removed];
        assert_eq!(store.insert(&corners), Err(Error::Stale));
    }
    assert!(store.remove(polygon).unwrap() && store.remove(again).unwrap());
    assert_eq!((store.stats().coordinates, store.validate()), (0, Ok(())));
}

#[test]
fn a_coordinate_stays_for_a_seam_after_its_first_vertex_is_freed() {
    let mut store = Store::new();
    let front = store.insert(&TRIANGLE.map(new)).unwrap();
    let corners: Vec<_> = store
        .corners(front)
        .unwrap()
        .map(|it| (it.vertex().unwrap(), it.coordinate().unwrap()))
        .collect();
    let at = |n: usize| Corner::At { coordinate: corners[n].1, uv: [n as f32; 2], data: () };
    let back = store.insert(&[at(2), at(1), at(0)]).unwrap();
    let project = |position| Projected { position, screen: [0.5; 2] };
    store.transform(front, project).unwrap();
    assert!(store.remove(front).unwrap());
    let stats = store.stats();
    assert_eq!((stats.vertices, stats.coordinates, store.validate()), (3, 3, Ok(())));
    // The vertices are freed, the coordinates and their projections are not.
    assert!(store.corners(back).unwrap().all(|corner| corner.projected().is_some()));
    let shared = [Corner::Shared(corners[0].0), at(1), at(2)];
    assert_eq!(store.insert(&shared), Err(Error::Stale));
    let third = store.insert(&[at(0), at(1), new([3.0; 3])]).unwrap();
    assert_eq!((store.stats().vertices, store.stats().coordinates), (6, 4));
    assert!(store.remove(back).unwrap());
    assert_eq!((store.stats().vertices, store.stats().coordinates), (3, 3));
    // A seam can be shared like other vertices.
    let seam = store.corners(third).unwrap().next().unwrap();
    let seam = (seam.vertex().unwrap(), seam.uv());
    assert_eq!(seam.1, [0.0; 2]);
    let other = [Corner::Shared(seam.0), new([5.0; 3]), new([6.0; 3])];
    let fourth = store.insert(&other).unwrap();
    assert!(store.remove(third).unwrap() && store.validate() == Ok(()));
    assert_eq!(store.corners(fourth).unwrap().next().unwrap().vertex(), Some(seam.0));
    assert!(store.remove(fourth).unwrap());
    assert_eq!(store.insert(&other), Err(Error::Stale));
    let stats = store.stats();
    assert_eq!((stats.vertices, stats.coordinates, store.validate()), (0, 0, Ok(())));
}
