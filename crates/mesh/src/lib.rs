//! Quads that a mesher writes and a renderer reads, and polygons that share their vertices.
//!
//! ```text
//!  mesher ──push──► QuadBuffer ──quads()──► vertex pool ──► shader: quad = vertex_index / 4
//!                   −X −Y −Z +X +Y +Z       8 bytes a quad          corner = vertex_index % 4
//!
//!  models ──insert──► PolygonStore ──clip──► temporaries ──Triangulator──► vertices, indices
//!                     polygons     ─────────► of a frame
//!                       └► vertices, counted ◄──┘            what is shared is kept once,
//!                            └► coordinates, counted         and goes with its last user
//! ```
//!
//! What is drawn cube by cube has [`Cube`]s instead: 8 bytes a voxel, with its visible faces.
//!
//! # Which one?
//!
//! | | for | corners | a quad takes |
//! |---|---|---|---|
//! | [`QuadBuffer`] | faces of voxels, made anew with each mesh | integers, on a grid | 8 bytes |
//! | [`PolygonStore`] | models of any shape, clipped and lit polygon by polygon | floats, uv, your data | 88 bytes, shared |
//! | [`CountedPool`] | anything else that several owners share: sprites, spans, objects | – | 8 bytes a record, and its value |
//!
//! # Examples
//! ```
//! use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};
//!
//! let mut mesh = QuadBuffer::new();
//! mesh.push(Quad::new([3, 0, 31], [4, 1], Face::PosY, 7));
//! assert_eq!(mesh.count(Face::PosY), 1);
//! assert_eq!(size_of_val(mesh.quads()), 8);
//! ```
//! A spot light that lights a part of a floor, for a frame:
//! ```
//! use drystone_mesh::{Clipped, Corner, Lifetime, PolygonStore, pyramid};
//!
//! let mut store = PolygonStore::<[f32; 1]>::new();
//! let floor = [[-9.0, 0.0, -9.0], [-9.0, 0.0, 9.0], [9.0, 0.0, 9.0], [9.0, 0.0, -9.0]]
//!     .map(|position| Corner::New { position, uv: [0.0; 2], data: [0.5] });
//! let floor = store.insert(&floor)?;
//!
//! let mut light = Vec::new();
//! let square = [[-1.0, 4.0, -1.0], [1.0, 4.0, -1.0], [1.0, 4.0, 1.0], [-1.0, 4.0, 1.0]];
//! pyramid([0.0, 5.0, 0.0], &square, &mut light)?;
//! let Clipped::Part(lit) = store.clip(floor, &light, Lifetime::Frame)? else { panic!() };
//! assert!(store.corners(lit)?.all(|corner| corner.position()[0].abs() == 5.0));
//! store.end_frame();
//! assert_eq!(store.len(), 1);
//! # Ok::<(), drystone_mesh::Error>(())
//! ```
//!
//! # Limits
//! A quad reaches positions 0 to 63 and sizes 1 to 64, in the integer grid of one chunk;
//! materials are 16 bits. Polygons are planar, or nearly so: nothing checks it, and clipping
//! and triangles are those of their corners.
//!
//! # Features
//! `triangulate`, the default, has the [`Triangulator`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod counted_pool;
mod cube;
mod error;
mod face;
mod index_pattern;
mod polygon;
mod quad;
mod quad_buffer;

pub use counted_pool::CountedPool;
pub use cube::Cube;
pub use drystone_alloc::Handle;
pub use error::Error;
pub use face::{Face, FaceSet};
pub use index_pattern::{INDICES_PER_QUAD, VERTICES_PER_QUAD, quad_index_pattern};
#[cfg(feature = "triangulate")]
pub use polygon::Triangulator;
pub use polygon::{ByLength, IndexRuns, RangeRuns, VertexLists};
pub use polygon::{
    Clipped, Coordinate, CoordinateHandle, Corner, CornerRef, Corners, Interpolate, Lifetime,
    MeshVertex, PartCorner, Plane, Polygon, PolygonHandle, PolygonStats, PolygonStore, Projected,
    Vertex, VertexHandle, frustum, portal, pyramid,
};
pub use quad::Quad;
pub use quad_buffer::{QuadBuffer, QuadSink};
