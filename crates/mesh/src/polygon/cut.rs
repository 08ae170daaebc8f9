use alloc::vec::Vec;

use super::interpolate::{Interpolate, mix};
use super::plane::{Plane, newell};
use super::vertices::Vertices;
use crate::error::{Error, full};

/// Origin of a corner of a polygon in the cutter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Vertex of the original polygon, by index.
    Vertex(u32),
    /// Cut of an edge, by index.
    Cut(u32),
}

/// Corner where an edge was cut.
#[derive(Clone, Debug)]
pub(super) struct CutCorner<T> {
    pub(super) uv: [f32; 2],
    pub(super) data: T,
}

/// Result of clipping a polygon with planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remainder {
    Empty,
    All,
    Part,
}

/// Clips a polygon with one plane after another, after Sutherland and Hodgman. Its memory is
/// reused.
///
/// ```text
///        . · d ≥ 0                          a cut is computed from the smaller to the
///      a─────●──┊──b      a, cut, cut, d    larger end of its edge, compared by
///      │        ┊  │                        position: two polygons that share
///      d────────┊──c                        an edge get bitwise identical cuts
/// ```
pub(super) struct Cutter<T> {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) sources: Vec<Source>,
    pub(super) made: Vec<CutCorner<T>>,
    /// Distance of each corner from the plane.
    distances: Vec<f64>,
    /// Positions and sources of the result that is being built.
    next: Vec<([f32; 3], Source)>,
}

/// End of an edge that is cut.
#[derive(Clone, Copy)]
struct End {
    position: [f32; 3],
    source: Source,
    distance: f64,
}

impl<T> Cutter<T> {
    pub(super) const fn new() -> Self {
        Self {
            positions: Vec::new(),
            sources: Vec::new(),
            made: Vec::new(),
            distances: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Starts a polygon of `count` corners, which are then pushed.
    pub(super) fn start(&mut self, count: usize) -> Result<(), Error> {
        self.positions.clear();
        self.sources.clear();
        self.made.clear();
        self.reserve(count)
    }

    /// Reserves memory for `count` corners in addition to the existing ones.
    fn reserve(&mut self, count: usize) -> Result<(), Error> {
        let no_memory = |_| full(count * size_of::<End>());
        self.positions.try_reserve(count).map_err(no_memory)?;
        self.sources.try_reserve(count).map_err(no_memory)?;
        self.distances.clear();
        self.distances.try_reserve(self.positions.len() + count).map_err(no_memory)
    }

    #[inline]
    pub(super) fn push(&mut self, position: [f32; 3], vertex: u32) {
        self.positions.push(position);
        self.sources.push(Source::Vertex(vertex));
    }
}

impl<T: Interpolate> Cutter<T> {
    /// Clips the polygon with all planes and keeps the inside.
    pub(super) fn cut(
        &mut self,
        planes: &[Plane],
        vertices: &Vertices<T>,
    ) -> Result<Remainder, Error> {
        let mut left = Remainder::All;
        for plane in planes {
            match self.measure(plane) {
                Remainder::Empty => return Ok(Remainder::Empty),
                Remainder::All => {}
                Remainder::Part => {
                    self.cut_by_measure(vertices)?;
                    left = Remainder::Part;
                }
            }
        }
        Ok(left)
    }

    /// Computes the distances of all corners from a plane, and returns the part that is inside.
    #[inline]
    fn measure(&mut self, plane: &Plane) -> Remainder {
        let (mut min, mut max) = (0.0f64, 0.0f64);
        self.distances.clear();
        self.distances.extend(self.positions.iter().map(|&position| {
            let distance = plane.distance(position);
            min = min.min(distance);
            max = max.max(distance);
            distance
        }));
        match (max > 0.0, min < 0.0) {
            (true, true) => Remainder::Part,
            (true, false) => Remainder::All,
            (false, true) => Remainder::Empty,
            (false, false) => self.measure_coplanar(plane),
        }
    }

    /// Handles a polygon in the plane, which belongs only to the half space behind it. This is the
    /// only function that decides about such polygons: `Blocks` and `Sides` leave them undecided.
    #[cold]
    fn measure_coplanar(&self, plane: &Plane) -> Remainder {
        match plane.is_faced_away(newell(self.positions.iter().copied())) {
            true => Remainder::All,
            false => Remainder::Empty,
        }
    }

    fn cut_by_measure(&mut self, vertices: &Vertices<T>) -> Result<(), Error> {
        let count = self.positions.len();
        let no_memory = |_| full(count * size_of::<End>());
        self.next.clear();
        self.next.try_reserve(2 * count).map_err(no_memory)?;
        self.made.try_reserve(count).map_err(no_memory)?;
        let Some(mut from) = self.end(count - 1) else { return Ok(()) };
        for corner in 0..count {
            let Some(to) = self.end(corner) else { break };
            if (from.distance < 0.0 && to.distance > 0.0)
                || (from.distance > 0.0 && to.distance < 0.0)
            {
                let cut = self.cut_edge(from, to, vertices)?;
                self.next.push(cut);
            }
            if to.distance >= 0.0 {
                self.next.push((to.position, to.source));
            }
            from = to;
        }
        self.positions.clear();
        self.sources.clear();
        self.reserve(self.next.len())?;
        self.positions.extend(self.next.iter().map(|(position, _)| *position));
        self.sources.extend(self.next.iter().map(|(_, source)| *source));
        Ok(())
    }

    fn end(&self, corner: usize) -> Option<End> {
        Some(End {
            position: *self.positions.get(corner)?,
            source: *self.sources.get(corner)?,
            distance: *self.distances.get(corner)?,
        })
    }

    /// Computes the cut of an edge with the plane.
    fn cut_edge(
        &mut self,
        from: End,
        to: End,
        vertices: &Vertices<T>,
    ) -> Result<([f32; 3], Source), Error> {
        let (a, b) = if from.position <= to.position { (from, to) } else { (to, from) };
        let t = a.distance / (a.distance - b.distance);
        let position = core::array::from_fn(|n| mix(a.position[n], b.position[n], t));
        let made = {
            let ((uv_a, a), (uv_b, b)) = (self.side(a, vertices)?, self.side(b, vertices)?);
            let uv = core::array::from_fn(|n| mix(uv_a[n], uv_b[n], t));
            CutCorner { uv, data: a.interpolate(b, t as f32) }
        };
        self.made.push(made);
        Ok((position, Source::Cut(self.made.len() as u32 - 1)))
    }

    /// Returns texture coordinates and data of an edge's end.
    fn side<'a>(&'a self, end: End, vertices: &'a Vertices<T>) -> Result<([f32; 2], &'a T), Error> {
        match end.source {
            Source::Vertex(vertex) => vertices.surface(vertex).map(|it| (it.uv, &it.data)),
            Source::Cut(number) => self.made.get(number as usize).map(|it| (it.uv, &it.data)),
        }
        .ok_or(Error::Stale)
    }
}
