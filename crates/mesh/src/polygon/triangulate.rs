use alloc::vec::Vec;
use core::fmt;

use earcut::Earcut;

use super::corner::PolygonHandle;
use super::lists::VertexLists;
use super::plane::newell;
use super::store::PolygonStore;
use crate::error::{Error, full};

/// Maximum number of corners of a polygon and its holes.
const MAX_CORNERS: usize = 1 << 24;

/// Divides polygons into triangles before they are drawn. Reuse one triangulator, because it
/// retains its memory.
///
/// Jacco Bikker's article on polygonal data postpones triangulation until then, so that fewer
/// polygons are clipped and transformed.
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
    /// Start of each hole in the corners.
    holes: Vec<u32>,
    indices: Vec<u32>,
}

impl Triangulator {
    /// Creates a triangulator. Memory is allocated when it is first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the triangles of a polygon without its `holes`, which are polygons in its plane and
    /// inside it. A triangle is three corner indices: first the corners of the polygon from 0 on,
    /// then those of the holes. Triangles wind like the polygon.
    ///
    /// # Cost
    /// A triangle is copied. A convex polygon of n corners without holes becomes a fan of n − 2
    /// triangles, in O(n). All others use ear clipping: O(n log n) in general, O(n²) in the worst case.
    ///
    /// # Errors
    /// `Stale` if a handle is stale, `Full` for more than 2²⁴ corners. Nothing is appended then. If
    /// the heap is out of memory, it may abort like `Vec`.
    ///
    /// # Limits
    /// The triangles of a polygon that intersects itself cover it only approximately.
    pub fn triangulate<T, L: VertexLists>(
        &mut self,
        store: &PolygonStore<T, L>,
        polygon: PolygonHandle,
        holes: &[PolygonHandle],
        triangles: &mut Vec<[u32; 3]>,
    ) -> Result<(), Error> {
        self.positions.clear();
        self.holes.clear();
        self.push_corners(store, polygon)?;
        let outer = self.positions.len();
        if holes.is_empty() && outer == 3 {
            reserve(triangles, 1)?;
            triangles.push([0, 1, 2]);
            return Ok(());
        }
        self.project(outer);
        if holes.is_empty() && is_convex(&self.points) {
            reserve(triangles, outer)?;
            triangles.extend((1..outer as u32 - 1).map(|n| [0, n, n + 1]));
            return Ok(());
        }
        for &hole in holes {
            self.holes.push(self.positions.len() as u32);
            self.push_corners(store, hole)?;
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
    fn push_corners<T, L: VertexLists>(
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

    /// Projects the corners along the axis on which the polygon's projection is largest, with
    /// counter-clockwise winding.
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

/// Whether a counter-clockwise polygon never turns right and winds around once. One pass: most
/// polygons are convex, and this test is the largest part of their triangulation.
fn is_convex(points: &[[f64; 2]]) -> bool {
    let &[.., mut a, mut b] = points else { return false };
    let mut directions = [Directions::default(); 2];
    for &c in points {
        if turn(a, b, c) < 0.0 {
            return false;
        }
        directions[0].step(c[0] - b[0]);
        directions[1].step(c[1] - b[1]);
        (a, b) = (b, c);
    }
    // A polygon that winds around once changes direction twice on each axis.
    directions.iter().all(|axis| axis.changes() <= 2)
}

/// Directions of a polygon's edges along an axis. Edges across it have none.
#[derive(Clone, Copy, Default)]
struct Directions {
    first: f64,
    last: f64,
    changes: u32,
}

impl Directions {
    #[inline]
    fn step(&mut self, step: f64) {
        if step != 0.0 {
            match self.first == 0.0 {
                true => self.first = step,
                false => self.changes += u32::from((self.last > 0.0) != (step > 0.0)),
            }
            self.last = step;
        }
    }

    /// Returns the number of changes, including that from the last edge to the first.
    fn changes(&self) -> u32 {
        self.changes + u32::from((self.last > 0.0) != (self.first > 0.0))
    }
}

/// Returns twice the area of a triangle, positive if it is counter-clockwise.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
