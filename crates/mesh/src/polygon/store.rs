use alloc::vec::Vec;
use core::fmt;

use super::blocks::Blocks;
use super::cut::Cutter;
use super::sides::Sides;
use super::vertices::{NEVER, Vertices};
use super::{Corner, Corners, IndexRuns, Polygon, PolygonHandle, PolygonStats, VertexLists};
use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// Number of corners up to which each pair is compared. More are sorted to find equal ones.
const MAX_COMPARED_CORNERS: usize = 32;

pub(super) type Polygons<L> = CountedPool<PolygonRecord<<L as VertexLists>::List>>;

/// Polygon: the indices of its vertices.
#[derive(Debug)]
pub(super) struct PolygonRecord<List> {
    pub(super) list: List,
}

/// Store of polygons whose vertices and coordinates are shared, counted and freed automatically.
///
/// ```text
///  polygons      A (1 owner)         B (2 owners)          handles of yours
///                │ 0 1 2 3           │ 1 4 5 2             lists of vertices
///  vertices      0:1   1:2   2:2   3:1   4:1   5:1         uv, data; counted by polygons
///                 └─┐   └─┐   └┐    │     │     │
///  coordinates     0:1   1:2   2:1 …                       position, projection, stamp;
///                         └ two vertices: a uv seam     counted by vertices
/// ```
/// Removing a polygon frees the vertices that no other polygon uses, and these free the coordinates
/// that no other vertex uses. Callers need not track shared data. Every vertex belongs to a polygon
/// and every coordinate to a vertex, so removing the last polygon leaves the store empty.
///
/// A mesh of vertices and indices can be inserted [as a whole](Self::insert_mesh). Polygons cut by
/// other means than planes are inserted as [parts](Self::insert_part).
///
/// `T` is the caller's data of a vertex. `L` selects the storage of the vertex lists. Source: Jacco
/// Bikker's "Advanced Management Of Polygonal Data".
///
/// # Cost
/// All operations are O(corners), on records of [`CountedPool`]s and lists with free lists by
/// length. In the steady state nothing is allocated on the heap. Without data of the caller, a
/// polygon takes 16 bytes plus 4 per corner, a vertex with its coordinate 56 bytes, and another
/// vertex at the same coordinate 20. A quad of a surface, whose vertices are shared with its
/// neighbours, takes 88 bytes; a separate quad takes 256. 12 of the 88 bytes are counts (20 in the
/// article), and 8 are generations of handles. 20 of the 56 bytes hold the projection, which is
/// allocated only when a coordinate is first transformed.
///
/// # Limits
/// At most 2³² − 1 polygons, 2³¹ coordinates and 2³¹ vertices that share a coordinate. Handles are
/// valid only for the store that returned them: another store may take them for its own.
///
/// # Examples
/// ```
/// use drystone_mesh::{Corner, PolygonStore};
///
/// let mut store = PolygonStore::<()>::new();
/// let new = |x: f32, y: f32| Corner::New { position: [x, y, 0.0], uv: [x, y], data: () };
/// let quad = store.insert(&[new(0.0, 0.0), new(1.0, 0.0), new(1.0, 1.0), new(0.0, 1.0)])?;
///
/// // A triangle on the quad's right edge.
/// let edge: Vec<_> = store.corners(quad)?.skip(1).take(2).filter_map(|c| c.vertex()).collect();
/// let triangle = store.insert(&[Corner::Shared(edge[1]), Corner::Shared(edge[0]), new(2.0, 0.5)])?;
/// assert_eq!((store.stats().vertices, store.stats().corners), (5, 7));
///
/// store.remove(quad)?;
/// assert_eq!(store.stats().coordinates, 3);
/// store.remove(triangle)?;
/// assert_eq!(store.stats().coordinates, 0);
/// # Ok::<(), drystone_mesh::Error>(())
/// ```
pub struct PolygonStore<T = (), L: VertexLists = IndexRuns> {
    pub(super) polygons: Polygons<L>,
    pub(super) vertices: Vertices<T>,
    pub(super) lists: L,
    /// Polygons that the end of the frame removes, if they still exist.
    pub(super) temporaries: Vec<PolygonHandle>,
    /// Stamp of the coordinates that were transformed in this frame.
    pub(super) frame: u32,
    /// Number of corners of all polygons.
    pub(super) corner_count: u64,
    pub(super) cutter: Cutter<T>,
    /// Vertices of the polygon that is being built.
    pub(super) listed: Vec<u32>,
    /// Corners of the polygon that is being built, sorted by position.
    pub(super) sorted: Vec<u32>,
    pub(super) blocks: Blocks,
    pub(super) sides: Sides,
}

impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            polygons: CountedPool::new(),
            vertices: Vertices::new(),
            lists: L::default(),
            temporaries: Vec::new(),
            frame: NEVER + 1,
            corner_count: 0,
            cutter: Cutter::new(),
            listed: Vec::new(),
            sorted: Vec::new(),
            blocks: Blocks::default(),
            sides: Sides::default(),
        }
    }

    /// Reserves memory for these numbers of polygons, corners of all polygons and vertices with
    /// coordinates of their own, in addition to the existing ones. The store then need not grow
    /// step by step.
    ///
    /// # Errors
    /// `Full` if the heap is out of memory.
    pub fn reserve(
        &mut self,
        polygon_count: usize,
        corner_count: usize,
        vertex_count: usize,
    ) -> Result<(), Error> {
        self.polygons.reserve(polygon_count)?;
        self.lists.reserve(corner_count)?;
        self.vertices.reserve(vertex_count)
    }

    /// Inserts a polygon of `corners`, in sequence, with one owner.
    ///
    /// # Errors
    /// `TooFewCorners` for less than three. `NotFinite` and `RepeatedCorner` for invalid positions.
    /// `Stale` if a shared vertex or coordinate no longer exists, `TooManyOwners` if it has 2³² − 1
    /// owners. `Full` if the heap is out of memory.
    #[inline]
    pub fn insert(&mut self, corners: &[Corner<T>]) -> Result<PolygonHandle, Error>
    where
        T: Clone,
    {
        self.start_polygon(corners.len())?;
        for (number, corner) in corners.iter().enumerate() {
            match self.take_corner(number, corner) {
                Ok((vertex, position)) => {
                    self.listed.push(vertex);
                    self.cutter.positions.push(position);
                }
                Err(error) => return Err(self.release_listed(error)),
            }
        }
        if let Err(error) = expect_different(&self.cutter.positions, &mut self.sorted) {
            return Err(self.release_listed(error));
        }
        self.insert_listed()
    }

    /// Adds one owner, which must call [`remove`](Self::remove) once.
    ///
    /// # Errors
    /// `Stale` if the handle is stale, `TooManyOwners` beyond 2³² − 1.
    pub fn share(&mut self, polygon: PolygonHandle) -> Result<(), Error> {
        self.polygons.share(polygon.cast())
    }

    /// Removes one owner. The last one removes the polygon, and the vertices and coordinates that
    /// no other polygon uses. Returns whether the polygon was removed.
    ///
    /// # Errors
    /// `Stale` if the handle is stale.
    #[inline]
    pub fn remove(&mut self, polygon: PolygonHandle) -> Result<bool, Error> {
        let Some(record) = self.polygons.release(polygon.cast())? else { return Ok(false) };
        let vertices = self.lists.get(&record.list);
        self.corner_count -= vertices.len() as u64;
        for &vertex in vertices {
            self.vertices.release(vertex);
        }
        self.lists.remove(record.list);
        Ok(true)
    }

    /// Iterates over the corners of a polygon, in sequence.
    ///
    /// # Errors
    /// `Stale` if the handle is stale.
    #[inline]
    pub fn corners(&self, polygon: PolygonHandle) -> Result<Corners<'_, T>, Error> {
        let record = self.polygons.get(polygon.cast()).ok_or(Error::Stale)?;
        let list = self.lists.get(&record.list).iter();
        Ok(Corners { vertices: &self.vertices, frame: self.frame, list })
    }

    /// Number of owners of a polygon; 0 if the handle is stale.
    pub fn owners(&self, polygon: PolygonHandle) -> u32 {
        self.polygons.owners(polygon.cast())
    }

    /// Whether the handle refers to an existing polygon.
    pub fn contains(&self, polygon: PolygonHandle) -> bool {
        self.polygons.get(polygon.cast()).is_some()
    }

    /// Iterates over all polygons, including temporary ones.
    pub fn polygons(&self) -> impl Iterator<Item = PolygonHandle> {
        self.polygons.iter().map(|(handle, _)| handle.cast::<Polygon>())
    }

    /// Number of polygons, including temporary ones.
    pub const fn len(&self) -> u32 {
        self.polygons.len()
    }

    /// Whether there are no polygons.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the statistics.
    pub fn stats(&self) -> PolygonStats {
        PolygonStats::of(self)
    }

    /// Removes all polygons, regardless of their owners, and keeps the memory. All handles become
    /// stale.
    pub fn reset(&mut self) {
        self.polygons.reset();
        self.vertices.reset();
        self.lists.reset();
        self.temporaries.clear();
        self.blocks.reset();
        self.corner_count = 0;
    }

    /// Reserves memory for a polygon of `count` corners, and starts its list.
    #[inline]
    pub(super) fn start_polygon(&mut self, count: usize) -> Result<(), Error> {
        if count < 3 {
            return Err(Error::TooFewCorners { count });
        }
        self.cutter.start(count)?;
        self.listed.clear();
        self.listed.try_reserve(count).map_err(|_| full(count * size_of::<u32>()))
    }

    /// Inserts a polygon of the listed vertices, which already count it as an owner.
    #[inline]
    pub(super) fn insert_listed(&mut self) -> Result<PolygonHandle, Error> {
        let list = self.polygons.reserve_one().and_then(|()| self.lists.insert(&self.listed));
        let list = match list {
            Ok(list) => list,
            Err(error) => return Err(self.release_listed(error)),
        };
        self.corner_count += self.listed.len() as u64;
        let polygon = self.polygons.insert(PolygonRecord { list })?;
        self.blocks.touch(polygon.index());
        Ok(polygon.cast())
    }

    /// Releases the listed vertices.
    #[cold]
    pub(super) fn release_listed(&mut self, error: Error) -> Error {
        for &vertex in &self.listed {
            self.vertices.release(vertex);
        }
        error
    }

    /// Returns the vertex of a corner and its position. Adds one owner to the vertex.
    #[inline]
    fn take_corner(&mut self, number: usize, it: &Corner<T>) -> Result<(u32, [f32; 3]), Error>
    where
        T: Clone,
    {
        match it {
            Corner::Shared(vertex) => {
                let vertex = self.vertices.find(*vertex)?;
                let position = self.vertices.position(vertex).ok_or(Error::Stale)?;
                self.vertices.share(vertex)?;
                Ok((vertex, position))
            }
            Corner::At { coordinate, uv, data } => {
                expect_finite(number, uv)?;
                let vertex = self.vertices.insert_seam(*coordinate, *uv, data.clone())?;
                let position = self.vertices.position(vertex).ok_or(Error::Stale)?;
                Ok((vertex, position))
            }
            Corner::New { position, uv, data } => {
                expect_finite(number, position)?;
                expect_finite(number, uv)?;
                Ok((self.vertices.insert(*position, *uv, data.clone())?, *position))
            }
        }
    }
}

/// Checks that the numbers of a corner are finite.
#[inline]
pub(super) fn expect_finite(corner: usize, numbers: &[f32]) -> Result<(), Error> {
    match are_finite(numbers) {
        true => Ok(()),
        false => Err(Error::NotFinite { corner }),
    }
}

/// Whether all numbers are finite. Has no branch per number.
#[inline]
pub(super) fn are_finite(numbers: &[f32]) -> bool {
    numbers.iter().fold(true, |all, number| all & number.is_finite())
}

/// Checks that no two positions are equal.
pub(super) fn expect_different(positions: &[[f32; 3]], sorted: &mut Vec<u32>) -> Result<(), Error> {
    let repeated =
        |a: usize, b: usize| Err(Error::RepeatedCorner { first: a.min(b), second: a.max(b) });
    if positions.len() <= MAX_COMPARED_CORNERS {
        for (second, position) in positions.iter().enumerate() {
            if let Some(first) = positions[..second].iter().position(|other| other == position) {
                return repeated(first, second);
            }
        }
        return Ok(());
    }
    u32::try_from(positions.len()).map_err(|_| full(positions.len()))?;
    sorted.clear();
    sorted.try_reserve(positions.len()).map_err(|_| full(positions.len() * size_of::<u32>()))?;
    sorted.extend(0..positions.len() as u32);
    // Adding zero maps −0 to 0.
    let key = |n: u32| positions[n as usize].map(|number| number + 0.0);
    sorted.sort_unstable_by(|&a, &b| {
        let pairs = key(a).into_iter().zip(key(b));
        pairs.fold(core::cmp::Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
    });
    let equal = sorted.windows(2).find(|pair| key(pair[0]) == key(pair[1]));
    equal.map_or(Ok(()), |pair| repeated(pair[0] as usize, pair[1] as usize))
}

impl<T, L: VertexLists> Default for PolygonStore<T, L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, L: VertexLists> fmt::Debug for PolygonStore<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolygonStore").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
