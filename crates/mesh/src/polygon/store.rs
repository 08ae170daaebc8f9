use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use super::blocks::Blocks;
use super::corner::{Polygon, PolygonHandle, Projected};
use super::corners::Corners;
use super::cut::Cutter;
use super::lists::{IndexRuns, ListStats, Polygons, VertexLists};
use super::sides::Sides;
use super::vertices::{NEVER, Vertices};
use crate::counted_pool::CountedPool;
use crate::error::Error;

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
/// neighbours, takes 88 bytes; a separate quad takes 256. 12 of the 88 bytes are counts, and 8 are
/// generations of handles. If a quad shares only coordinates, its counts take 24 bytes, and 36 if it
/// is separate. Four of these count the polygon's owners; the article has the other 20 and 32. 20
/// of the 56 bytes hold the projection, which is allocated only when a coordinate is first
/// transformed.
///
/// # Limits
/// Polygons of more than 20 corners use the heap, unless
/// [`IndexRunOptions`](super::IndexRunOptions) extend the range.
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
        Self::with_lists(L::default())
    }

    /// Creates an empty store with vertex lists that may have [options](IndexRuns::with_options).
    pub fn with_lists(lists: L) -> Self {
        Self {
            polygons: CountedPool::new(),
            vertices: Vertices::new(),
            lists,
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

    /// Transforms the coordinates of a polygon that were not transformed in this frame yet, so
    /// shared coordinates are transformed only once. This saves time if `project` does more than
    /// multiply by a matrix, which takes no longer than the lookup. Use one `project` per frame.
    /// Before another one, for a second camera, call [`end_frame`](Self::end_frame) or
    /// [`forget_projections`](Self::forget_projections).
    ///
    /// # Errors
    /// `Stale` if the handle is stale. `Full` if the heap has no memory for the projections: 20
    /// bytes per coordinate, allocated by the first transformation.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Corner, PolygonStore, Projected};
    ///
    /// let mut store = PolygonStore::<()>::new();
    /// let corners = [[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]
    ///     .map(|position| Corner::New { position, uv: [0.0; 2], data: () });
    /// let polygon = store.insert(&corners)?;
    /// store.transform(polygon, |[x, y, z]| Projected { position: [x, y, z], screen: [x / z, y / z] })?;
    /// let corner = store.corners(polygon)?.nth(1).unwrap();
    /// assert_eq!(corner.projected().unwrap().screen, [0.5, 0.0]);
    /// # Ok::<(), drystone_mesh::Error>(())
    /// ```
    pub fn transform(
        &mut self,
        polygon: PolygonHandle,
        mut project: impl FnMut([f32; 3]) -> Projected,
    ) -> Result<(), Error> {
        let record = self.polygons.get(polygon.cast()).ok_or(Error::Stale)?;
        self.vertices.reserve_projected()?;
        for &vertex in self.lists.get(&record.list) {
            self.vertices.project(vertex, self.frame, &mut project);
        }
        Ok(())
    }

    /// Ends the frame: removes its temporary polygons and invalidates all projections. The frame is
    /// one owner of each temporary polygon. One that is shared stays for its other owners, unless
    /// the frame's ownership was already removed.
    pub fn end_frame(&mut self) {
        let mut temporaries = core::mem::take(&mut self.temporaries);
        // In reverse, so that the next frame reuses their indices in ascending order.
        for polygon in temporaries.drain(..).rev() {
            // An error means that it was already removed.
            let _ = self.remove(polygon);
        }
        self.temporaries = temporaries;
        self.forget_projections();
    }

    /// Invalidates all projections, for another camera in the same frame.
    pub fn forget_projections(&mut self) {
        self.frame = self.frame.wrapping_add(1);
        if self.frame == NEVER {
            self.clear_stamps();
        }
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
        let Self { polygons, vertices, lists, .. } = self;
        let per_polygon = Polygons::<L>::RECORD_BYTES as u64;
        let per_whole = Vertices::<T>::WHOLE_BYTES as u64;
        let per_seam = Vertices::<T>::SEAM_BYTES as u64;
        let number = size_of::<u32>() as u64;
        let corners = self.corner_count;
        let listed = u64::from(polygons.len()) * per_polygon + corners * number;
        let reserved = polygons.reserved_bytes()
            + vertices.reserved_bytes()
            + lists.reserved_bytes()
            + self.blocks.reserved_bytes();
        PolygonStats {
            polygons: polygons.len(),
            temporaries: self.temporaries.len() as u32,
            corners,
            vertices: vertices.len(),
            coordinates: vertices.coordinate_count(),
            long_lists: lists.stats().long,
            bytes: listed
                + u64::from(vertices.coordinate_count()) * per_whole
                + u64::from(vertices.seam_count()) * per_seam,
            unshared_bytes: listed + corners * per_whole,
            reserved_bytes: reserved as u64,
        }
    }

    /// Returns the statistics of the vertex lists. They tell whether polygons with many corners are
    /// so frequent that a larger [`IndexRunOptions::max_len`](super::IndexRunOptions::max_len)
    /// helps.
    pub fn list_stats(&self) -> ListStats {
        self.lists.stats()
    }

    /// Verifies all invariants, for tests. In particular, the owners of every vertex are the
    /// polygons that list it, and those of every coordinate the vertices that use it.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.polygons.validate()?;
        let mut used = BTreeMap::<u32, u32>::new();
        let mut corners = 0;
        for (_, polygon) in self.polygons.iter() {
            let list = self.lists.get(&polygon.list);
            if list.len() < 3 {
                return Err("a polygon has fewer than three corners");
            }
            corners += list.len() as u64;
            for &vertex in list {
                self.vertices.surface(vertex).ok_or("a polygon lists an index without a vertex")?;
                *used.entry(vertex).or_default() += 1;
            }
        }
        if corners != self.corner_count {
            return Err("the number of corners is wrong");
        }
        self.vertices.validate(|vertex| used.get(&vertex).copied().unwrap_or(0))
    }

    /// Clears all stamps. After 2³² frames, an old stamp would equal that of the new frame.
    #[cold]
    fn clear_stamps(&mut self) {
        self.vertices.clear_stamps();
        self.frame = NEVER + 1;
    }
}

/// Statistics of a [`PolygonStore`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolygonStats {
    /// Number of polygons, including temporary ones.
    pub polygons: u32,
    /// Number of temporary polygons of this frame, including those already removed.
    pub temporaries: u32,
    /// Number of corners of all polygons, which is the number of vertices without sharing.
    pub corners: u64,
    /// Number of vertices.
    pub vertices: u32,
    /// Number of coordinates.
    pub coordinates: u32,
    /// Number of polygons whose vertex list is on the heap because it is long
    /// ([`ListStats::long`]).
    pub long_lists: u32,
    /// Size of all records in use and of the vertex lists, in bytes.
    pub bytes: u64,
    /// Size without sharing, in bytes: each corner with a vertex and a coordinate of its own. Can
    /// be below `bytes` if vertices share coordinates whose first vertex was removed.
    pub unshared_bytes: u64,
    /// Size of the reserved memory in bytes, including free records.
    pub reserved_bytes: u64,
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
