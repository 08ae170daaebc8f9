use alloc::vec::Vec;

use super::store::{Coordinates, Vertices};
use super::{Clipped, Interpolate, Lifetime, Plane, PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// Planes that a coordinate's sides are kept of.
const MOST_PLANES: usize = 16;

/// On which sides of some planes things lie: of each plane one bit for outside, and above
/// those one for inside. What lies in a plane has neither.
#[derive(Default)]
pub(super) struct Sides {
    of_coordinates: Vec<u32>,
    /// The same, for each vertex: polygons list vertices.
    of_vertices: Vec<u32>,
}

/// What the sides of a polygon's corners tell.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Outside,
    Inside,
    /// It has to be cut to know.
    Open,
}

impl Sides {
    /// Finds the sides of everything in a store.
    fn find<T>(
        &mut self,
        planes: &[Plane],
        vertices: &Vertices<T>,
        coordinates: &Coordinates,
    ) -> Result<(), Error> {
        self.of_coordinates.clear();
        self.of_vertices.clear();
        let (ends, no_memory) = ((coordinates.end(), vertices.end()), |_| full(MOST_PLANES));
        self.of_coordinates.try_reserve(ends.0 as usize).map_err(no_memory)?;
        self.of_vertices.try_reserve(ends.1 as usize).map_err(no_memory)?;
        let sides = |index| coordinates.at(index).map_or(0, |it| sides_of(it.position, planes));
        self.of_coordinates.extend((0..ends.0).map(sides));
        let of_coordinates = &self.of_coordinates;
        self.of_vertices.extend((0..ends.1).map(|index| {
            let coordinate = vertices.at(index).map(|it| it.coordinate as usize);
            coordinate.and_then(|at| of_coordinates.get(at)).copied().unwrap_or(0)
        }));
        Ok(())
    }

    /// What is known of a polygon before it is cut.
    #[inline]
    fn judge(&self, vertices: &[u32], plane_count: usize) -> Verdict {
        let sides = vertices.iter().filter_map(|&vertex| self.of_vertices.get(vertex as usize));
        let any = sides.fold(0, |any, sides| any | sides);
        let all_planes = (1 << plane_count) - 1;
        let (outside, inside) = (any & all_planes, any >> MOST_PLANES & all_planes);
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
    let mut sides = 0;
    for (n, plane) in planes.iter().enumerate() {
        let distance = plane.distance(position);
        if distance < 0.0 {
            return sides | 1 << n | u32::MAX << (n + 1) << MOST_PLANES;
        }
        sides |= u32::from(distance > 0.0) << (n + MOST_PLANES);
    }
    sides
}

/// Clipping of many polygons.
impl<T: Interpolate, L: VertexLists> PolygonStore<T, L> {
    /// Clips many polygons with the same planes, and calls `visit` with each and what is
    /// left of it: as [`clip`](Self::clip) for one after the other, but that each coordinate
    /// of the store is looked at once, however many polygons share it. For a frustum and a
    /// large part of the store.
    ///
    /// # Cost
    /// O(coordinates of the store · planes), and O(corners) for each polygon, with one number
    /// of four bytes a corner, but for those that are cut. Keeps eight bytes a coordinate.
    /// More than 16 planes are clipped with polygon by polygon.
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
        let has_sides = planes.len() <= MOST_PLANES;
        if has_sides {
            self.sides.find(planes, &self.vertices, &self.coordinates)?;
        }
        for &polygon in polygons {
            let record = self.polygons.get(polygon.cast()).ok_or(Error::Stale)?;
            let verdict = match has_sides {
                true => self.sides.judge(self.lists.get(&record.list), planes.len()),
                false => Verdict::Open,
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
