use drystone_mesh::{Corner, IndexRuns, PolygonStats, PolygonStore, VertexLists};

use crate::lists::{ByLength, RangeRuns};
use crate::shapes::Mesh;

const SIDE: usize = 200;

fn stats_of_field<L: VertexLists>() -> PolygonStats {
    let mut store = PolygonStore::<(), L>::new();
    Mesh::field(SIDE).insert_into(&mut store);
    store.stats()
}

/// Checks the documented size of a quad.
const POLYGON_BYTES: u64 = 16;
const CORNER_BYTES: u64 = 4;
/// Sizes of a vertex with its coordinate, and of a vertex at the coordinate of another one.
const VERTEX_BYTES: u64 = 56;
const SEAM_BYTES: u64 = 20;

#[test]
fn a_shared_quad_takes_88_bytes() {
    let stats = stats_of_field::<IndexRuns>();
    let quads = (SIDE * SIDE) as u64;
    let line = SIDE as u64 + 1;
    assert_eq!((u64::from(stats.polygons), u64::from(stats.vertices)), (quads, line * line));
    let quad = POLYGON_BYTES + 4 * CORNER_BYTES;
    assert_eq!(stats.bytes, quads * quad + line * line * VERTEX_BYTES);
    assert_eq!(stats.bytes / quads, 88);
    assert_eq!(stats.unshared_bytes, quads * (quad + 4 * VERTEX_BYTES));
    assert_eq!(stats.unshared_bytes / quads, 256);
    // Pools grow by 1/8.
    assert!(stats.reserved_bytes <= stats.bytes * 9 / 8 + 4096, "{stats:?}");
}

#[test]
fn the_smallest_lists_are_the_default() {
    let [runs, lists, ranges] = [
        stats_of_field::<IndexRuns>(),
        stats_of_field::<ByLength>(),
        stats_of_field::<RangeRuns>(),
    ];
    assert!(runs.bytes < lists.bytes && runs.bytes < ranges.bytes);
    assert!(runs.reserved_bytes < lists.reserved_bytes, "{runs:?} {lists:?}");
    assert!(runs.reserved_bytes < ranges.reserved_bytes, "{runs:?} {ranges:?}");
}

#[test]
fn a_seam_shares_coordinates() {
    let mut store = PolygonStore::<()>::new();
    let field = Mesh::field(1).insert_into(&mut store);
    let back: Vec<_> = store
        .corners(field[0])
        .unwrap()
        .map(|corner| {
            let coordinate = corner.coordinate().unwrap();
            Corner::At { coordinate, uv: [9.0; 2], data: () }
        })
        .collect();
    let one = store.stats().bytes;
    let back = store.insert(&back).unwrap();
    let stats = store.stats();
    assert_eq!((stats.vertices, stats.coordinates), (8, 4));
    assert_eq!(stats.bytes - one, POLYGON_BYTES + 4 * (CORNER_BYTES + SEAM_BYTES));
    store.remove(field[0]).unwrap();
    assert_eq!((store.stats().vertices, store.stats().coordinates), (4, 4));
    store.remove(back).unwrap();
    assert_eq!(store.stats().coordinates, 0);
}
