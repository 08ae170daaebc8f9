use super::blocks::Verdict;
use super::corner::PolygonHandle;
use super::cut::{Remainder, Source};
use super::interpolate::Interpolate;
use super::lists::VertexLists;
use super::part::Lifetime;
use super::plane::Plane;
use super::sides::MAX_PLANES;
use super::store::PolygonStore;
use crate::error::Error;

/// Sides are cached if there is at least one polygon to clip per this number of coordinates. With
/// fewer polygons, too few coordinates are shared.
const MAX_COORDINATES_PER_POLYGON: usize = 4;

/// Result of clipping a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clipped {
    /// No part of the polygon is inside.
    Outside,
    /// The whole polygon is inside. Nothing was inserted. With [`Lifetime::Kept`] the polygon has
    /// one more owner.
    Inside,
    /// A part of the polygon is inside, as a temporary polygon with one owner.
    Part(PolygonHandle),
}

impl Clipped {
    /// Returns the polygon that is inside: `original`, which was clipped, or its part. `None` if
    /// nothing is inside.
    pub const fn remaining(self, original: PolygonHandle) -> Option<PolygonHandle> {
        match self {
            Self::Outside => None,
            Self::Inside => Some(original),
            Self::Part(part) => Some(part),
        }
    }
}

/// Clips polygons.
impl<T: Interpolate, L: VertexLists> PolygonStore<T, L> {
    /// Clips a polygon with a convex volume, the inside of all `planes`. A part is a temporary
    /// polygon of its own. It shares the remaining vertices of the original, and has new vertices
    /// where edges are cut, with interpolated texture coordinates and data. The original is not
    /// changed, and may be removed before the part.
    ///
    /// With [`Lifetime::Kept`] the caller owns each result, and removes it once: a part, or the
    /// whole polygon, which then has one more owner. With [`Lifetime::Frame`] the caller removes
    /// nothing.
    ///
    /// Two polygons with a common edge get bitwise identical cuts of it. The condition is that they
    /// are clipped with the same planes in the same sequence, or with the
    /// [`opposite`](Plane::opposite) of one. The direction of the edge does not matter. A polygon
    /// in a plane belongs to the half space behind it, so only to one of two opposite planes.
    ///
    /// A corner is in a plane if its [`distance`](Plane::distance) is exactly zero, and a polygon
    /// if all of its corners are. No tolerance is applied. Positions of cuts are rounded to `f32`,
    /// so a polygon between cuts may be off its plane by this rounding. Later clips then use the
    /// rounded corners.
    ///
    /// # Cost
    /// O(corners · planes). Does not use the heap in the steady state.
    ///
    /// # Errors
    /// `Stale` if the handle is stale, `TooManyOwners` of a polygon, vertex or coordinate, `Full` if
    /// the heap is out of memory.
    ///
    /// # Limits
    /// Clipping a polygon that is not convex may leave several pieces. They stay one polygon,
    /// joined by coincident edges in the plane. Its area is correct.
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
            Remainder::Empty => Ok(Clipped::Outside),
            Remainder::All => self.keep_whole(polygon, lifetime),
            Remainder::Part => self.insert_left(lifetime).map(Clipped::Part),
        }
    }

    /// Clips many polygons with the same planes, and calls `visit` with each polygon and its
    /// result. The results equal those of separate [`clip`](Self::clip) calls. Polygons are first
    /// classified in blocks of 64, in the sequence of insertion. In the blocks that the planes cut,
    /// the sides of each coordinate are computed once for all polygons. Suited to a frustum and a
    /// large part of the store.
    ///
    /// # Cost
    /// O(planes) for each block on one side of them, and O(1) for each of its polygons. The rest
    /// costs O(coordinates · planes) and O(corners), plus the cuts. After an insertion, the box of
    /// its block is recomputed once, in O(corners of the block). Memory: four bytes per coordinate
    /// and half a byte per polygon. If polygons are not inserted in spatial order, blocks are large
    /// and do not help.
    ///
    /// # Errors
    /// `Stale` if a handle is stale, `TooManyOwners` of a polygon, vertex or coordinate, `Full` if
    /// the heap is out of memory. Results that were visited before the error stay.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Clipped, Corner, Lifetime, Plane, PolygonStore};
    ///
    /// let mut store = PolygonStore::<()>::new();
    /// let polygons: Vec<_> = [-5.0, 0.0, 5.0]
    ///     .map(|x| [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0]])
    ///     .map(|it| it.map(|position| Corner::New { position, uv: [0.0; 2], data: () }))
    ///     .iter()
    ///     .map(|corners| store.insert(corners))
    ///     .collect::<Result<_, _>>()?;
    /// let plane = Plane::new([1.0, 0.0, 0.0], -0.5)?;
    /// let mut visible = 0;
    /// store.clip_all(&polygons, &[plane], Lifetime::Frame, |_polygon, clipped| {
    ///     visible += u32::from(clipped != Clipped::Outside);
    /// })?;
    /// assert_eq!(visible, 2);
    /// # Ok::<(), drystone_mesh::Error>(())
    /// ```
    pub fn clip_all(
        &mut self,
        polygons: &[PolygonHandle],
        planes: &[Plane],
        lifetime: Lifetime,
        mut visit: impl FnMut(PolygonHandle, Clipped),
    ) -> Result<(), Error> {
        let end = self.vertices.end();
        let has_sides = planes.len() <= MAX_PLANES
            && polygons.len() >= end as usize / MAX_COORDINATES_PER_POLYGON;
        self.blocks.start(self.polygons.end())?;
        if has_sides {
            self.sides.start(end)?;
        }
        for &polygon in polygons {
            let Self { polygons, lists, vertices, blocks, sides, .. } = &mut *self;
            let record = polygons.get(polygon.cast()).ok_or(Error::Stale)?;
            let block = blocks.classify(polygon.index(), planes, polygons, lists, vertices);
            let verdict = match block {
                Verdict::Unknown if has_sides => {
                    sides.classify(lists.get(&record.list), planes, vertices)
                }
                _ => block,
            };
            let clipped = match verdict {
                Verdict::Outside => Clipped::Outside,
                Verdict::Inside => self.keep_whole(polygon, lifetime)?,
                Verdict::Unknown => self.clip(polygon, planes, lifetime)?,
            };
            visit(polygon, clipped);
        }
        Ok(())
    }

    /// Returns the result for a polygon that is inside as a whole. The caller becomes one of its
    /// owners if the result is kept.
    #[inline]
    fn keep_whole(&mut self, polygon: PolygonHandle, lifetime: Lifetime) -> Result<Clipped, Error> {
        if lifetime == Lifetime::Kept {
            self.share(polygon)?;
        }
        Ok(Clipped::Inside)
    }

    /// Copies the corners of a polygon to the cutter.
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

    /// Inserts the result of the cutter as a polygon.
    fn insert_left(&mut self, lifetime: Lifetime) -> Result<PolygonHandle, Error> {
        let count = self.cutter.sources.len();
        self.start_part(count, lifetime)?;
        for corner in 0..count {
            match self.take_cut_vertex(corner) {
                Ok(vertex) => self.listed.push(vertex),
                Err(error) => return Err(self.release_listed(error)),
            }
        }
        self.finish_part(lifetime)
    }

    /// Returns the vertex of a corner in the cutter. Adds one owner to the vertex.
    #[inline]
    fn take_cut_vertex(&mut self, corner: usize) -> Result<u32, Error> {
        let position = self.cutter.positions.get(corner).copied().ok_or(Error::Stale)?;
        match self.cutter.sources.get(corner).copied().ok_or(Error::Stale)? {
            Source::Vertex(vertex) => {
                self.vertices.share(vertex)?;
                Ok(vertex)
            }
            Source::Cut(number) => {
                let made = self.cutter.made.get(number as usize).ok_or(Error::Stale)?;
                let (uv, data) = (made.uv, made.data.clone());
                self.vertices.insert(position, uv, data)
            }
        }
    }
}
