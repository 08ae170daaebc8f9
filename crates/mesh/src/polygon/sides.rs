use alloc::vec::Vec;

use super::blocks::Verdict;
use super::vertices::Vertices;
use super::{Clipped, Interpolate, Lifetime, Plane, PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// Planes that a coordinate's sides are kept of.
const MAX_PLANES: usize = 15;
const ALL_PLANES: u32 = (1 << MAX_PLANES) - 1;
/// What the sides of a coordinate have once they are known.
const KNOWN: u32 = 1 << 31;
/// Sides are kept where there is a polygon to clip for every so many coordinates: fewer don't
/// share enough.
const FEW: usize = 4;

/// On which sides of some planes coordinates lie: of each plane one bit for outside, and
/// above those one for inside. What lies in a plane has neither. They are found when they
/// are first asked for.
#[derive(Default)]
pub(super) struct Sides {
    of_coordinates: Vec<u32>,
}

impl Sides {
    /// Takes up other planes, for coordinates up to `end`.
    fn start(&mut self, end: u32) -> Result<(), Error> {
        self.of_coordinates.clear();
        let no_memory = |_| full(end as usize * size_of::<u32>());
        self.of_coordinates.try_reserve(end as usize).map_err(no_memory)?;
        self.of_coordinates.resize(end as usize, 0);
        Ok(())
    }

    /// What is known of a polygon before it is cut.
    #[inline]
    fn judge<T>(&mut self, list: &[u32], planes: &[Plane], vertices: &Vertices<T>) -> Verdict {
        let mut any = 0;
        for &vertex in list {
            let Some(at) = vertices.coordinate_of(vertex) else { return Verdict::Open };
            let Some(sides) = self.of_coordinates.get_mut(at as usize) else {
                return Verdict::Open;
            };
            if *sides == 0 {
                let Some(position) = vertices.position_at(at) else { return Verdict::Open };
                *sides = sides_of(position, planes);
            }
            any |= *sides;
        }
        let all_planes = (1 << planes.len()) - 1;
        let (outside, inside) = (any & all_planes, any >> MAX_PLANES & all_planes);
        match (outside & !inside, inside == all_planes) {
            // One of the planes has corners outside, and none inside.
            (1.., _) => Verdict::Outside,
            (0, true) if outside == 0 => Verdict::Inside,
            _ => Verdict::Open,
        }
    }
}

/// The sides of a position. The first plane that it lies outside of is the last one looked
/// at. It counts as inside of those after, which keeps a polygon open that lies outside of
/// one of them: cutting it then tells.
#[inline]
fn sides_of(position: [f32; 3], planes: &[Plane]) -> u32 {
    let mut sides = KNOWN;
    for (n, plane) in planes.iter().enumerate() {
        let distance = plane.distance(position);
        if distance < 0.0 {
            let after = ALL_PLANES << (n + 1) & ALL_PLANES;
            return sides | 1 << n | after << MAX_PLANES;
        }
        sides |= u32::from(distance > 0.0) << (n + MAX_PLANES);
    }
    sides
}

/// Clipping of many polygons.
impl<T: Interpolate, L: VertexLists> PolygonStore<T, L> {
    /// Clips many polygons with the same planes, and calls `visit` with each and what is
    /// left of it: as [`clip`](Self::clip) for one after the other, but that polygons are
    /// first looked at in blocks of 64, as they were inserted, and of the blocks that the
    /// planes cut each coordinate once, however many polygons share it. For a frustum and a
    /// large part of the store.
    ///
    /// # Cost
    /// O(planes) for each block that lies on one side of them, and O(1) for its polygons.
    /// For the rest O(coordinates · planes) and O(corners), and the cuts. A polygon that came
    /// since the last time costs the corners of its block once. Keeps four bytes a
    /// coordinate and half a byte a polygon. Polygons that were inserted in no order, so that
    /// blocks are large, cost what the rest does.
    ///
    /// # Errors
    /// As for [`clip`](Self::clip); what was visited before stays.
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
    /// let mut seen = 0;
    /// store.clip_all(&polygons, &[plane], Lifetime::Frame, |_polygon, clipped| {
    ///     seen += u32::from(clipped != Clipped::Outside);
    /// })?;
    /// assert_eq!(seen, 2);
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
        let has_sides = planes.len() <= MAX_PLANES && polygons.len() >= end as usize / FEW;
        self.blocks.start(self.polygons.end())?;
        if has_sides {
            self.sides.start(end)?;
        }
        for &polygon in polygons {
            let Self { polygons, lists, vertices, blocks, sides, .. } = &mut *self;
            let record = polygons.get(polygon.cast()).ok_or(Error::Stale)?;
            let block = blocks.judge(polygon.index(), planes, polygons, lists, vertices);
            let verdict = match block {
                Verdict::Open if has_sides => {
                    sides.judge(lists.get(&record.list), planes, vertices)
                }
                _ => block,
            };
            let clipped = match verdict {
                Verdict::Outside => Clipped::Outside,
                Verdict::Inside => Clipped::Inside,
                Verdict::Open => self.clip(polygon, planes, lifetime)?,
            };
            visit(polygon, clipped);
        }
        Ok(())
    }
}
