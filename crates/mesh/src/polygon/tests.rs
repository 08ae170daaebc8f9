extern crate std;

use std::vec::Vec;

use super::*;

fn triangle(store: &mut PolygonStore, z: f32) -> PolygonHandle {
    let corners = [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]].map(|position| Corner::New {
        position,
        uv: [0.0; 2],
        data: (),
    });
    store.insert(&corners).unwrap()
}

/// Returns the number of coordinates that a transformation of a polygon transforms.
fn transformed(store: &mut PolygonStore, polygon: PolygonHandle) -> u32 {
    let mut count = 0;
    let project = |position| {
        count += 1;
        Projected { position, screen: [count as f32, 0.0] }
    };
    store.transform(polygon, project).unwrap();
    count
}

fn is_projected(store: &PolygonStore, polygon: PolygonHandle) -> Vec<bool> {
    store.corners(polygon).unwrap().map(|corner| corner.projected().is_some()).collect()
}

#[test]
fn a_shared_coordinate_is_transformed_once_a_frame() {
    let mut store = PolygonStore::new();
    let first = triangle(&mut store, 0.0);
    let mut corners: Vec<_> =
        store.corners(first).unwrap().map(|it| Corner::Shared(it.vertex().unwrap())).collect();
    corners[0] = Corner::New { position: [1.0, 1.0, 0.0], uv: [0.0; 2], data: () };
    let second = store.insert(&corners).unwrap();
    for _ in 0..3 {
        assert_eq!(is_projected(&store, first), [false; 3]);
        assert_eq!(transformed(&mut store, first), 3);
        assert_eq!(is_projected(&store, second), [false, true, true]);
        assert_eq!((transformed(&mut store, second), transformed(&mut store, first)), (1, 0));
        store.end_frame();
    }
    // Simulates another camera in the same frame.
    assert_eq!(transformed(&mut store, second), 3);
    store.forget_projections();
    assert_eq!(transformed(&mut store, second), 3);
}

#[test]
fn a_coordinate_with_a_reused_index_is_not_transformed_yet() {
    let mut store = PolygonStore::new();
    let first = triangle(&mut store, 0.0);
    transformed(&mut store, first);
    store.remove(first).unwrap();
    let second = triangle(&mut store, 1.0);
    assert_eq!(is_projected(&store, second), [false; 3]);
    assert_eq!(transformed(&mut store, second), 3);
}

#[test]
fn old_stamps_are_invalid_when_the_frame_counter_wraps() {
    let mut store = PolygonStore::new();
    let [early, late] = [0.0, 1.0].map(|z| triangle(&mut store, z));
    // Transformed in the first frame only, until the frame counter wraps.
    transformed(&mut store, early);
    store.frame = u32::MAX;
    assert_eq!(is_projected(&store, early), [false; 3]);
    transformed(&mut store, late);
    store.end_frame();
    for polygon in [early, late] {
        assert_eq!(is_projected(&store, polygon), [false; 3]);
        assert_eq!((transformed(&mut store, polygon), transformed(&mut store, polygon)), (3, 0));
    }
    store.end_frame();
    assert_eq!(is_projected(&store, late), [false; 3]);
    // A coordinate that was never transformed belongs to no frame.
    let never = triangle(&mut store, 2.0);
    assert_eq!(is_projected(&store, never), [false; 3]);
}
