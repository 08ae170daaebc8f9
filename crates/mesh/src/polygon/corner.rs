use core::fmt;

use drystone_alloc::Handle;

use super::vertices::{Surface, Vertices};

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

/// Corner of a polygon in a store.
#[derive(Clone, Copy)]
pub struct CornerRef<'a, T> {
    /// Index of its vertex.
    number: u32,
    vertices: &'a Vertices<T>,
    /// Present frame of the store.
    frame: u32,
    position: [f32; 3],
    surface: &'a Surface<T>,
}

impl<'a, T> CornerRef<'a, T> {
    /// Returns the vertex, for other polygons to share ([`Corner::Shared`]).
    pub fn vertex(&self) -> Option<VertexHandle> {
        self.vertices.handle(self.number)
    }

    /// Returns the coordinate, for other vertices to share ([`Corner::At`]).
    pub fn coordinate(&self) -> Option<CoordinateHandle> {
        self.vertices.coordinate_handle(self.number)
    }

    /// Position, in the caller's units.
    pub fn position(&self) -> [f32; 3] {
        self.position
    }

    /// Returns the projection, if the coordinate was transformed in this frame.
    pub fn projected(&self) -> Option<Projected> {
        self.vertices.projected(self.number, self.frame)
    }

    /// Texture coordinates.
    pub fn uv(&self) -> [f32; 2] {
        self.surface.uv
    }

    /// The caller's data.
    pub fn data(&self) -> &'a T {
        &self.surface.data
    }
}

impl<T: fmt::Debug> fmt::Debug for CornerRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Surface { uv, data } = self.surface;
        let mut corner = f.debug_struct("CornerRef");
        corner.field("position", &self.position).field("uv", uv).field("data", data);
        corner.finish_non_exhaustive()
    }
}

/// Iterator over the corners of a polygon, in sequence.
pub struct Corners<'a, T> {
    pub(super) vertices: &'a Vertices<T>,
    pub(super) frame: u32,
    /// Indices of the vertices.
    pub(super) list: core::slice::Iter<'a, u32>,
}

impl<T> Clone for Corners<'_, T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), ..*self }
    }
}

impl<T: fmt::Debug> fmt::Debug for Corners<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, T> Iterator for Corners<'a, T> {
    type Item = CornerRef<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<CornerRef<'a, T>> {
        let &number = self.list.next()?;
        let &mut Self { vertices, frame, .. } = self;
        let (position, surface) = vertices.corner(number)?;
        Some(CornerRef { number, vertices, frame, position, surface })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.list.size_hint()
    }
}

impl<T> ExactSizeIterator for Corners<'_, T> {}
