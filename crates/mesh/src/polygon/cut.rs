use alloc::vec::Vec;

use super::interpolate::mix;
use super::plane::newell;
use super::vertices::Vertices;
use super::{Interpolate, Plane};
use crate::error::{Error, full};

/// Where a corner of a polygon in the cutter comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// A vertex of the polygon, by place.
    Vertex(u32),
    /// A cut, by number.
    Made(u32),
}

/// A corner that came about where an edge was cut.
#[derive(Clone, Debug)]
pub(super) struct Made<T> {
    pub(super) uv: [f32; 2],
    pub(super) data: T,
}

/// What planes leave of a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    All,
    Part,
}

/// Cuts a polygon with planes, one after the other, as Sutherland and Hodgman do, in memory
/// that it keeps.
///
/// ```text
///        . · d ≥ 0                          a cut is computed from the lower to the
///      a─────●──┊──b      a, cut, cut, d    higher end of its edge, in the order of
///      │        ┊  │                        their positions: two polygons that share
///      d────────┊──c                        an edge get the same cut, bit by bit
/// ```
pub(super) struct Cutter<T> {
    pub(super) positions: Vec<[f32; 3]>,
    pub(super) sources: Vec<Source>,
    pub(super) made: Vec<Made<T>>,
    /// Of each corner, from the plane.
    distances: Vec<f64>,
    /// What is left of positions and sources, being put together.
    next: Vec<([f32; 3], Source)>,
}

/// One end of an edge that is cut.
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

    /// Takes up a polygon of `count` corners, which are pushed then.
    pub(super) fn start(&mut self, count: usize) -> Result<(), Error> {
        self.positions.clear();
        self.sources.clear();
        self.made.clear();
        self.reserve(count)
    }

    /// Memory for `count` corners, beyond those that there are.
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
    /// Leaves what lies inside of all planes.
    pub(super) fn cut(&mut self, planes: &[Plane], vertices: &Vertices<T>) -> Result<Left, Error> {
        let mut left = Left::All;
        for plane in planes {
            match self.measure(plane) {
                Left::Nothing => return Ok(Left::Nothing),
                Left::All => {}
                Left::Part => {
                    self.cut_by_measure(vertices)?;
                    left = Left::Part;
                }
            }
        }
        Ok(left)
    }

    /// Measures how far inside of a plane the corners lie, and says what is left of them.
    #[inline]
    fn measure(&mut self, plane: &Plane) -> Left {
        let (mut least, mut most) = (0.0f64, 0.0f64);
        self.distances.clear();
        self.distances.extend(self.positions.iter().map(|&position| {
            let distance = plane.distance(position);
            least = least.min(distance);
            most = most.max(distance);
            distance
        }));
        match (most > 0.0, least < 0.0) {
            (true, true) => Left::Part,
            (true, false) => Left::All,
            (false, true) => Left::Nothing,
            (false, false) => self.measure_within(plane),
        }
    }

    /// What is left of a polygon in the plane. It bounds the half that lies behind it and
    /// belongs to that alone. Only this function decides it: `Blocks` and `Sides` leave
    /// polygons that lie in a plane open.
    #[cold]
    fn measure_within(&self, plane: &Plane) -> Left {
        match plane.is_faced_away(newell(self.positions.iter().copied())) {
            true => Left::All,
            false => Left::Nothing,
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

    /// Where the plane cuts an edge.
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
            Made { uv, data: a.interpolate(b, t as f32) }
        };
        self.made.push(made);
        Ok((position, Source::Made(self.made.len() as u32 - 1)))
    }

    /// Texture coordinates and data of an edge's end.
    fn side<'a>(&'a self, end: End, vertices: &'a Vertices<T>) -> Result<([f32; 2], &'a T), Error> {
        match end.source {
            Source::Vertex(vertex) => vertices.surface(vertex).map(|it| (it.uv, &it.data)),
            Source::Made(number) => self.made.get(number as usize).map(|it| (it.uv, &it.data)),
        }
        .ok_or(Error::Stale)
    }
}
