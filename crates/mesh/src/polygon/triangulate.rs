use alloc::vec::Vec;
use core::fmt;

use earcut::Earcut;

use super::plane::newell;
use super::{PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// The most corners of one polygon and its holes.
const MAX_CORNERS: usize = 1 << 24;

/// Cuts polygons into triangles, late: when they are about to be drawn. Keeps its memory;
/// use one again and again.
///
/// # Examples
/// ```
/// use drystone_mesh::{Corner, PolygonStore, Triangulator};
///
/// let mut store = PolygonStore::<()>::new();
/// // An arrow head: not convex.
/// let corners = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 1.0]]
///     .map(|[x, y]| Corner::New { position: [x, y, 0.0], uv: [x, y], data: () });
/// let arrow = store.insert(&corners)?;
/// let mut triangles = Vec::new();
/// Triangulator::new().triangulate(&store, arrow, &[], &mut triangles)?;
/// assert_eq!(triangles.len(), 2);
/// # Ok::<(), drystone_mesh::Error>(())
/// ```
#[derive(Default)]
pub struct Triangulator {
    earcut: Earcut<f64>,
    positions: Vec<[f32; 3]>,
    points: Vec<[f64; 2]>,
    /// Where holes begin among the corners.
    holes: Vec<u32>,
    indices: Vec<u32>,
}

impl Triangulator {
    /// A triangulator without memory; the first polygons make it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the triangles of a polygon without `holes`, which are polygons in its plane
    /// and within it. A triangle is three corners: those of the polygon count from 0, those
    /// of the holes on from there. They wind as the polygon does.
    ///
    /// # Cost
    /// A convex polygon without holes becomes a fan, in O(corners), with a triangle less
    /// than corners but one. Others go through ear clipping: O(corners log corners) in
    /// general, at the worst O(corners²).
    ///
    /// # Errors
    /// `Stale`; `Full` for more than 2²⁴ corners. Nothing is appended then. Without memory it
    /// ends as a vector would.
    ///
    /// # Limits
    /// A polygon that intersects itself gets triangles that cover it more or less.
    pub fn triangulate<T, L: VertexLists>(
        &mut self,
        store: &PolygonStore<T, L>,
        polygon: PolygonHandle,
        holes: &[PolygonHandle],
        triangles: &mut Vec<[u32; 3]>,
    ) -> Result<(), Error> {
        self.positions.clear();
        self.holes.clear();
        self.take_up(store, polygon)?;
        let outer = self.positions.len();
        self.project(outer);
        if holes.is_empty() && is_convex(&self.points) {
            reserve(triangles, outer)?;
            triangles.extend((1..outer as u32 - 1).map(|n| [0, n, n + 1]));
            return Ok(());
        }
        for &hole in holes {
            self.holes.push(self.positions.len() as u32);
            self.take_up(store, hole)?;
        }
        self.project(outer);
        self.earcut.earcut_slice(&self.points, &self.holes, &mut self.indices);
        reserve(triangles, self.indices.len() / 3)?;
        let points = &self.points;
        let (found, _) = self.indices.as_chunks::<3>();
        triangles.extend(found.iter().map(|&[a, b, c]| {
            match turn(points[a as usize], points[b as usize], points[c as usize]) < 0.0 {
                true => [a, c, b],
                false => [a, b, c],
            }
        }));
        Ok(())
    }

    /// Appends the corners of a polygon.
    fn take_up<T, L: VertexLists>(
        &mut self,
        store: &PolygonStore<T, L>,
        polygon: PolygonHandle,
    ) -> Result<(), Error> {
        let corners = store.corners(polygon)?;
        let count = self.positions.len() + corners.len();
        if count > MAX_CORNERS {
            return Err(full(count));
        }
        self.positions.extend(corners.map(|corner| corner.position()));
        Ok(())
    }

    /// Looks along the axis that shows the polygon largest, from where it is seen
    /// counter-clockwise.
    fn project(&mut self, outer: usize) {
        let outer = self.positions.get(..outer).unwrap_or_default();
        let normal = newell(outer.iter().copied());
        let size = normal.map(f64::abs);
        let axis = match (size[0] > size[1], size[0] > size[2], size[1] > size[2]) {
            (true, true, _) => 0,
            (false, _, true) => 1,
            _ => 2,
        };
        let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
        if normal[axis] < 0.0 {
            core::mem::swap(&mut u, &mut v);
        }
        self.points.clear();
        self.points.extend(self.positions.iter().map(|at| [at[u].into(), at[v].into()]));
    }
}

impl fmt::Debug for Triangulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triangulator").finish_non_exhaustive()
    }
}

fn reserve(triangles: &mut Vec<[u32; 3]>, count: usize) -> Result<(), Error> {
    triangles.try_reserve(count).map_err(|_| full(count * size_of::<[u32; 3]>()))
}

/// Whether a polygon, seen counter-clockwise, never turns right and goes round once.
fn is_convex(points: &[[f64; 2]]) -> bool {
    let count = points.len();
    let at = |n: usize| points[n % count];
    if (0..count).any(|n| turn(at(n), at(n + 1), at(n + 2)) < 0.0) {
        return false;
    }
    // A polygon that goes round once goes once to the right and once to the left.
    (0..2).all(|axis| {
        let steps = (0..count).map(|n| at(n + 1)[axis] - at(n)[axis]).filter(|step| *step != 0.0);
        let signs = || steps.clone().map(|step| step > 0.0);
        let changes = signs().zip(signs().cycle().skip(1)).filter(|(a, b)| a != b).count();
        changes <= 2
    })
}

/// Twice the area of a triangle, positive where it is seen counter-clockwise.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
