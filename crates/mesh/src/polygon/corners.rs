use core::fmt;

use super::corner::{CoordinateHandle, Projected, VertexHandle};
use super::vertices::{Surface, Vertices};

/// Corner of a polygon in a store.
#[derive(Clone, Copy)]
pub struct CornerRef<'a, T> {
    /// Index of its vertex.
    number: u32,
    vertices: &'a Vertices<T>,
    position: [f32; 3],
    /// Whether the coordinate was transformed in this frame.
    is_projected: bool,
    surface: &'a Surface<T>,
}

impl<'a, T> CornerRef<'a, T> {
    /// Returns the vertex, for other polygons to share ([`Corner::Shared`](super::Corner::Shared)).
    pub fn vertex(&self) -> Option<VertexHandle> {
        self.vertices.handle(self.number)
    }

    /// Returns the coordinate, for other vertices to share ([`Corner::At`](super::Corner::At)).
    pub fn coordinate(&self) -> Option<CoordinateHandle> {
        self.vertices.coordinate_handle(self.number)
    }

    /// Position, in the caller's units.
    pub fn position(&self) -> [f32; 3] {
        self.position
    }

    /// Returns the projection, if the coordinate was transformed in this frame.
    #[inline]
    pub fn projected(&self) -> Option<Projected> {
        if self.is_projected { self.vertices.projected(self.number) } else { None }
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
        let (position, stamp, surface) = vertices.corner(number)?;
        Some(CornerRef { number, vertices, position, is_projected: stamp == frame, surface })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.list.size_hint()
    }
}

impl<T> ExactSizeIterator for Corners<'_, T> {}
