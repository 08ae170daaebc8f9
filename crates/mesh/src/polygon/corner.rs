use core::fmt;

use drystone_alloc::Handle;

use super::vertices::{Surface, Vertices};

/// A polygon of a [`PolygonStore`](super::PolygonStore), in handles.
#[derive(Clone, Copy, Debug)]
pub enum Polygon {}
/// A vertex of a [`PolygonStore`](super::PolygonStore), in handles.
#[derive(Clone, Copy, Debug)]
pub enum Vertex {}
/// A coordinate of a [`PolygonStore`](super::PolygonStore), in handles.
#[derive(Clone, Copy, Debug)]
pub enum Coordinate {}

/// Names a polygon until its last owner lets go; from then on it is stale.
pub type PolygonHandle = Handle<Polygon>;
/// Names a vertex for as long as a polygon uses it.
pub type VertexHandle = Handle<Vertex>;
/// Names a coordinate for as long as a vertex uses it.
pub type CoordinateHandle = Handle<Coordinate>;

/// A corner of a polygon that is to be made, with the caller's data `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner<T> {
    /// A vertex that another polygon has: position, texture coordinates and data.
    Shared(VertexHandle),
    /// A new vertex at a coordinate that another vertex has.
    At {
        /// Where.
        coordinate: CoordinateHandle,
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's.
        data: T,
    },
    /// A new vertex at a new coordinate.
    New {
        /// Where, in the caller's units.
        position: [f32; 3],
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's.
        data: T,
    },
}

/// A position as a camera sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projected {
    /// Transformed, in the camera's axes for instance.
    pub position: [f32; 3],
    /// On the screen.
    pub screen: [f32; 2],
}

/// A corner of a polygon in the store.
#[derive(Clone, Copy)]
pub struct CornerRef<'a, T> {
    /// The number of its vertex.
    number: u32,
    vertices: &'a Vertices<T>,
    /// The frame that the store is in.
    frame: u32,
    position: [f32; 3],
    surface: &'a Surface<T>,
}

impl<'a, T> CornerRef<'a, T> {
    /// The vertex, for other polygons to share ([`Corner::Shared`]).
    pub fn vertex(&self) -> Option<VertexHandle> {
        self.vertices.handle(self.number)
    }

    /// The coordinate, for other vertices to share ([`Corner::At`]).
    pub fn coordinate(&self) -> Option<CoordinateHandle> {
        self.vertices.coordinate_handle(self.number)
    }

    /// Where it is.
    pub fn position(&self) -> [f32; 3] {
        self.position
    }

    /// Where a camera sees it, if it was transformed in this frame.
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

/// The corners of a polygon, in order.
pub struct Corners<'a, T> {
    pub(super) vertices: &'a Vertices<T>,
    pub(super) frame: u32,
    /// Vertices, by number.
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
