use drystone_mesh::{CoordinateHandle, Corner, IndexRuns, PolygonStats, PolygonStore, VertexLists};

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

/// Jacco Bikker's article adds 20 bytes of counts to a quad that shares its coordinates and has
/// vertices of its own, and 32 to a separate quad. It does not count the owners of polygons.
#[test]
fn counts_take_the_bytes_of_the_article_and_4_for_the_polygon() {
    const COUNT: u64 = 4;
    let counts_of = |stats: &PolygonStats| {
        let [quads, vertices, coordinates] =
            [stats.polygons, stats.vertices, stats.coordinates].map(u64::from);
        // Lists, texture coordinates, links of seams to coordinates, positions with stamp and
        // projection, and generations.
        let data = quads * (8 + 16) + vertices * 8 + (vertices - coordinates) * 4;
        let others = coordinates * (12 + 4 + 20) + (quads + vertices) * 4;
        stats.bytes - data - others
    };
    let mesh = Mesh::field(SIDE);
    let mut store = PolygonStore::<()>::new();
    let mut shared: Vec<Option<CoordinateHandle>> = vec![None; mesh.positions.len()];
    for face in &mesh.faces {
        let corner = |&n: &usize| match shared[n] {
            Some(coordinate) => Corner::At { coordinate, uv: [0.0; 2], data: () },
            None => Corner::New { position: mesh.positions[n], uv: [0.0; 2], data: () },
        };
        let quad = store.insert(&face.iter().map(corner).collect::<Vec<_>>()).unwrap();
        for (&n, corner) in face.iter().zip(store.corners(quad).unwrap()) {
            shared[n] = corner.coordinate();
        }
    }
    let quads = (SIDE * SIDE) as u64;
    assert_eq!(counts_of(&store.stats()) / quads, 20 + COUNT);

    let mut separate = PolygonStore::<()>::new();
    Mesh::field(1).insert_into(&mut separate);
    assert_eq!(counts_of(&separate.stats()), 32 + COUNT);
    // Vertices that are shared, too, need fewer counts.
    let stats = stats_of_field::<IndexRuns>();
    assert_eq!(counts_of(&stats) / quads, 8 + COUNT);
}
