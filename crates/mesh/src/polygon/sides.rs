use alloc::vec::Vec;

use super::blocks::Verdict;
use super::vertices::Vertices;
use super::{Clipped, Interpolate, Lifetime, Plane, PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// Maximum number of planes with cached sides.
const MAX_PLANES: usize = 15;
const ALL_PLANES: u32 = (1 << MAX_PLANES) - 1;
/// Bit that marks the sides of a coordinate as computed.
const COMPUTED: u32 = 1 << 31;
/// Sides are cached if there is at least one polygon to clip per this number of coordinates. With
/// fewer polygons, too few coordinates are shared.
const MAX_COORDINATES_PER_POLYGON: usize = 4;

/// Cached sides of coordinates relative to the planes of a clip: for each plane one bit for
/// outside, and above them one bit for inside. A coordinate in a plane has neither. The sides are
/// computed when they are first needed.
#[derive(Default)]
pub(super) struct Sides {
    of_coordinates: Vec<u32>,
}

impl Sides {
    /// Starts a clip with other planes, for coordinates below `end`.
    fn start(&mut self, end: u32) -> Result<(), Error> {
        self.of_coordinates.clear();
        let no_memory = |_| full(end as usize * size_of::<u32>());
        self.of_coordinates.try_reserve(end as usize).map_err(no_memory)?;
        self.of_coordinates.resize(end as usize, 0);
        Ok(())
    }

    /// Classifies a polygon without cutting it.
    #[inline]
    fn classify<T>(&mut self, list: &[u32], planes: &[Plane], vertices: &Vertices<T>) -> Verdict {
        let mut any = 0;
        for &vertex in list {
            let Some(at) = vertices.coordinate_of(vertex) else { return Verdict::Unknown };
            let Some(sides) = self.of_coordinates.get_mut(at as usize) else {
                return Verdict::Unknown;
            };
            if *sides == 0 {
                let Some(position) = vertices.position_at(at) else { return Verdict::Unknown };
                *sides = sides_of(position, planes);
            }
            any |= *sides;
        }
        let all_planes = (1 << planes.len()) - 1;
        let (outside, inside) = (any & all_planes, any >> MAX_PLANES & all_planes);
        match (outside & !inside, inside == all_planes) {
            // All corners are outside of one of the planes or in it.
            (1.., _) => Verdict::Outside,
            (0, true) if outside == 0 => Verdict::Inside,
            _ => Verdict::Unknown,
        }
    }
}

/// Returns the sides of a position. Stops at the first plane that the position is outside of. It
/// then counts as inside of all later planes, so a polygon outside of one of those stays undecided,
/// and is cut.
#[inline]
fn sides_of(position: [f32; 3], planes: &[Plane]) -> u32 {
    let mut sides = COMPUTED;
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
    /// `Stale` if a handle is stale, `TooManyOwners` of a vertex or coordinate, `Full` if the heap
    /// is out of memory. Parts inserted before the error stay.
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
                Verdict::Inside => Clipped::Inside,
                Verdict::Unknown => self.clip(polygon, planes, lifetime)?,
            };
            visit(polygon, clipped);
        }
        Ok(())
    }
}
