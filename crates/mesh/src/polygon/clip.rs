use super::cut::{Left, Source};
use super::{Interpolate, Lifetime, Plane, PolygonHandle, PolygonStore, VertexLists};
use crate::error::Error;

/// What clipping leaves of a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipped {
    /// Nothing.
    Outside,
    /// All of it: the polygon itself serves, and nothing was made.
    Inside,
    /// A part, which is a temporary polygon.
    Part(PolygonHandle),
}

/// Clipping.
impl<T: Interpolate, L: VertexLists> PolygonStore<T, L> {
    /// Clips a polygon with a convex volume, the inside of all `planes`. A part of it is a
    /// temporary polygon of its own, which shares with the original every vertex that is
    /// left, and adds those where edges are cut; texture coordinates and data are
    /// interpolated. The original is not changed, and may be removed before the part.
    ///
    /// Two polygons with an edge in common, clipped with the same planes in the same order
    /// or with the [`opposite`](Plane::opposite) of one, get the same cuts of it, bit by
    /// bit, whatever their direction. A polygon that lies in a plane belongs to the half
    /// behind it: to one of two opposite planes alone.
    ///
    /// A corner lies in a plane if its [`distance`](Plane::distance) is exactly zero, and a
    /// polygon if all of its corners do. No tolerance is applied. Positions of cuts are rounded
    /// to `f32`, so a polygon between cuts may lie beside its plane by that rounding. The
    /// rounded corners then decide, as for every other polygon.
    ///
    /// # Cost
    /// O(corners · planes). Nothing is asked of the heap once there was as much before.
    ///
    /// # Errors
    /// `Stale`; `TooManyOwners` of a vertex or coordinate; `Full` without memory.
    ///
    /// # Limits
    /// Of a polygon that is not convex a cut may leave several pieces: they stay one
    /// polygon, joined by edges that lie on each other in the plane. Its area is right.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Clipped, Corner, Lifetime, Plane, PolygonStore};
    ///
    /// let mut store = PolygonStore::<()>::new();
    /// let new = |x: f32, y: f32| Corner::New { position: [x, y, 0.0], uv: [x, y], data: () };
    /// let quad = store.insert(&[new(0.0, 0.0), new(4.0, 0.0), new(4.0, 1.0), new(0.0, 1.0)])?;
    /// let left_of_3 = Plane::new([-1.0, 0.0, 0.0], 3.0)?;
    /// let Clipped::Part(part) = store.clip(quad, &[left_of_3], Lifetime::Frame)? else { panic!() };
    /// let x: Vec<f32> = store.corners(part)?.map(|corner| corner.position()[0]).collect();
    /// assert_eq!(x, [0.0, 3.0, 3.0, 0.0]);
    /// assert_eq!(store.stats().coordinates, 6);
    /// store.end_frame();
    /// assert!(store.contains(quad) && !store.contains(part));
    /// # Ok::<(), drystone_mesh::Error>(())
    /// ```
    pub fn clip(
        &mut self,
        polygon: PolygonHandle,
        planes: &[Plane],
        lifetime: Lifetime,
    ) -> Result<Clipped, Error> {
        self.start_cut(polygon)?;
        match self.cutter.cut(planes, &self.vertices)? {
            Left::Nothing => Ok(Clipped::Outside),
            Left::All => Ok(Clipped::Inside),
            Left::Part => self.insert_left(lifetime).map(Clipped::Part),
        }
    }

    /// Gives the cutter the corners of a polygon.
    #[inline]
    fn start_cut(&mut self, polygon: PolygonHandle) -> Result<(), Error> {
        let record = self.polygons.get(polygon.cast()).ok_or(Error::Stale)?;
        let list = self.lists.get(&record.list);
        self.cutter.start(list.len())?;
        for &vertex in list {
            let position = self.vertices.position(vertex).ok_or(Error::Stale)?;
            self.cutter.push(position, vertex);
        }
        Ok(())
    }

    /// Makes a polygon of what the cutter has left.
    fn insert_left(&mut self, lifetime: Lifetime) -> Result<PolygonHandle, Error> {
        let count = self.cutter.sources.len();
        self.start_part(count, lifetime)?;
        for corner in 0..count {
            match self.take_cut_vertex(corner) {
                Ok(vertex) => self.listed.push(vertex),
                Err(error) => return Err(self.give_up(error)),
            }
        }
        self.finish_part(lifetime)
    }

    /// The vertex of a corner in the cutter, counted for one polygon more.
    #[inline]
    fn take_cut_vertex(&mut self, corner: usize) -> Result<u32, Error> {
        let position = self.cutter.positions.get(corner).copied().ok_or(Error::Stale)?;
        match self.cutter.sources.get(corner).copied().ok_or(Error::Stale)? {
            Source::Vertex(vertex) => {
                self.vertices.share(vertex)?;
                Ok(vertex)
            }
            Source::Made(number) => {
                let made = self.cutter.made.get(number as usize).ok_or(Error::Stale)?;
                let (uv, data) = (made.uv, made.data.clone());
                self.vertices.insert(position, uv, data)
            }
        }
    }
}
