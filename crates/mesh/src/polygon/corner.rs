use drystone_alloc::Handle;

/// Marker type of the handles of polygons of a [`PolygonStore`](super::PolygonStore).
#[derive(Clone, Copy, Debug)]
pub enum Polygon {}
/// Marker type of the handles of vertices of a [`PolygonStore`](super::PolygonStore).
#[derive(Clone, Copy, Debug)]
pub enum Vertex {}
/// Marker type of the handles of coordinates of a [`PolygonStore`](super::PolygonStore).
#[derive(Clone, Copy, Debug)]
pub enum Coordinate {}

/// Handle of a polygon, valid until its last owner removes it.
pub type PolygonHandle = Handle<Polygon>;
/// Handle of a vertex, valid as long as a polygon uses it.
pub type VertexHandle = Handle<Vertex>;
/// Handle of a coordinate, valid as long as a vertex uses it.
pub type CoordinateHandle = Handle<Coordinate>;

/// Corner of a polygon to be inserted, with the caller's data `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner<T> {
    /// Existing vertex of another polygon: position, texture coordinates and data.
    Shared(VertexHandle),
    /// New vertex at the coordinate of an existing vertex.
    At {
        /// Existing coordinate.
        coordinate: CoordinateHandle,
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's data.
        data: T,
    },
    /// A new vertex at a new coordinate.
    New {
        /// Position, in the caller's units.
        position: [f32; 3],
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's data.
        data: T,
    },
}

/// Result of transforming a position for a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projected {
    /// Transformed position, for example in the camera's axes.
    pub position: [f32; 3],
    /// Position on the screen.
    pub screen: [f32; 2],
}
