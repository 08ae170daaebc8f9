use alloc::vec::Vec;
use core::fmt;

use super::blocks::Blocks;
use super::cut::Cutter;
use super::sides::Sides;
use super::vertices::{NEVER, Vertices};
use super::{Corner, Corners, IndexRuns, Polygon, PolygonHandle, PolygonStats, VertexLists};
use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// Corners that are compared each with each; more are sorted to find equal ones.
const FEW_CORNERS: usize = 32;

pub(super) type Polygons<L> = CountedPool<PolygonRecord<<L as VertexLists>::List>>;

/// A polygon: its vertices, by number.
#[derive(Debug)]
pub(super) struct PolygonRecord<List> {
    pub(super) list: List,
}

/// Polygons whose vertices and coordinates are shared, counted and freed by themselves.
///
/// ```text
///  polygons      A (1 owner)         B (2 owners)          handles of yours
///                │ 0 1 2 3           │ 1 4 5 2             lists of vertices
///  vertices      0:1   1:2   2:2   3:1   4:1   5:1         uv, data; counted by polygons
///                 └─┐   └─┐   └┐    │     │     │
///  coordinates     0:1   1:2   2:1 …                       position, seen where, stamp;
///                         └ two vertices: a seam of uv     counted by vertices
/// ```
/// Removing a polygon frees the vertices that no other polygon uses, and those the
/// coordinates that no other vertex uses: nobody needs to keep books on what is shared.
/// There is no vertex without a polygon and no coordinate without a vertex, so that nothing
/// is left when the last polygon goes.
///
/// Who has a mesh of vertices and indices inserts it [as a whole](Self::insert_mesh); who cuts
/// by other means than planes makes [parts](Self::insert_part).
///
/// `T` is the caller's data of a vertex; `L` says where the lists of vertices lie. From
/// Jacco Bikker's "Advanced Management Of Polygonal Data".
///
/// # Cost
/// Everything is O(corners), in records from [`CountedPool`]s and lists with free lists by
/// length: in the steady state nothing is asked of the heap. Without data of the caller's,
/// a polygon takes 16 bytes and 4 a corner, a vertex and its coordinate 56, another vertex at
/// that coordinate 20: 88 bytes for a quad of a surface, whose vertices are shared with its
/// neighbours, 256 for one alone. 12 of the 88 are counts, and 8 the generations of handles; the
/// article reckons with 20 for its counts. 20 of the 56 are where the coordinate is seen, and
/// not there before the first is transformed.
///
/// # Limits
/// 2³² − 1 polygons, 2³¹ coordinates and 2³¹ vertices that share one with another. Handles are good for the store that gave
/// them: another may take them for its own.
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
    /// Those that the frame's end removes, unless they are gone by then.
    pub(super) temporaries: Vec<PolygonHandle>,
    /// The stamp of coordinates that were transformed in this frame.
    pub(super) frame: u32,
    /// Of all polygons together.
    pub(super) corner_count: u64,
    pub(super) cutter: Cutter<T>,
    /// Vertices of a polygon in the making.
    pub(super) listed: Vec<u32>,
    /// Its corners, sorted by position.
    pub(super) order: Vec<u32>,
    pub(super) blocks: Blocks,
    pub(super) sides: Sides,
}

impl<T, L: VertexLists> PolygonStore<T, L> {
    /// A store without polygons.
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
            order: Vec::new(),
            blocks: Blocks::default(),
            sides: Sides::default(),
        }
    }

    /// Memory for so many polygons, corners of all of them and vertices at coordinates of
    /// their own, beyond those that there are. Who knows how much comes saves the store
    /// from growing step by step.
    ///
    /// # Errors
    /// `Full` without memory.
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

    /// Makes a polygon of its corners, in order, for one owner.
    ///
    /// # Errors
    /// `TooFewCorners` for less than three; `NotFinite` and `RepeatedCorner`, which compares
    /// positions; `Stale` when a corner is to share what is gone; `TooManyOwners` when that
    /// has 2³² − 1; `Full` without memory.
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
                Err(error) => return Err(self.give_up(error)),
            }
        }
        if let Err(error) = expect_different(&self.cutter.positions, &mut self.order) {
            return Err(self.give_up(error));
        }
        self.insert_listed()
    }

    /// Counts one owner more, who has to [`remove`](Self::remove) it in turn.
    ///
    /// # Errors
    /// `Stale`; `TooManyOwners` beyond 2³² − 1.
    pub fn share(&mut self, polygon: PolygonHandle) -> Result<(), Error> {
        self.polygons.share(polygon.cast())
    }

    /// Counts one owner less. With the last the polygon goes, and what nobody else uses of
    /// it; whether it did is the answer.
    ///
    /// # Errors
    /// `Stale`.
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

    /// The corners of a polygon, in order.
    ///
    /// # Errors
    /// `Stale`.
    #[inline]
    pub fn corners(&self, polygon: PolygonHandle) -> Result<Corners<'_, T>, Error> {
        let record = self.polygons.get(polygon.cast()).ok_or(Error::Stale)?;
        let list = self.lists.get(&record.list).iter();
        Ok(Corners { vertices: &self.vertices, frame: self.frame, list })
    }

    /// How many owners a polygon has; none when the handle is stale.
    pub fn owners(&self, polygon: PolygonHandle) -> u32 {
        self.polygons.owners(polygon.cast())
    }

    /// Whether the polygon is still there.
    pub fn contains(&self, polygon: PolygonHandle) -> bool {
        self.polygons.get(polygon.cast()).is_some()
    }

    /// Every polygon, temporary ones included.
    pub fn polygons(&self) -> impl Iterator<Item = PolygonHandle> {
        self.polygons.iter().map(|(handle, _)| handle.cast::<Polygon>())
    }

    /// How many polygons there are, temporary ones included.
    pub const fn len(&self) -> u32 {
        self.polygons.len()
    }

    /// Whether there is no polygon.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What there is, and in how many bytes.
    pub fn stats(&self) -> PolygonStats {
        PolygonStats::of(self)
    }

    /// Removes every polygon, whatever its owners, and keeps the memory. All handles are
    /// stale then.
    pub fn reset(&mut self) {
        self.polygons.reset();
        self.vertices.reset();
        self.lists.reset();
        self.temporaries.clear();
        self.blocks.reset();
        self.corner_count = 0;
    }

    /// Memory for a polygon of so many corners, which are listed then.
    #[inline]
    pub(super) fn start_polygon(&mut self, count: usize) -> Result<(), Error> {
        if count < 3 {
            return Err(Error::TooFewCorners { count });
        }
        self.cutter.start(count)?;
        self.listed.clear();
        self.listed.try_reserve(count).map_err(|_| full(count * size_of::<u32>()))
    }

    /// Makes a polygon of the vertices that are listed, each counted for it already.
    #[inline]
    pub(super) fn insert_listed(&mut self) -> Result<PolygonHandle, Error> {
        let list = self.polygons.reserve_one().and_then(|()| self.lists.insert(&self.listed));
        let list = match list {
            Ok(list) => list,
            Err(error) => return Err(self.give_up(error)),
        };
        self.corner_count += self.listed.len() as u64;
        let polygon = self.polygons.insert(PolygonRecord { list })?;
        self.blocks.touch(polygon.index());
        Ok(polygon.cast())
    }

    /// Lets go of the vertices that are listed.
    #[cold]
    pub(super) fn give_up(&mut self, error: Error) -> Error {
        for &vertex in &self.listed {
            self.vertices.release(vertex);
        }
        error
    }

    /// The vertex of a corner, counted for one polygon more, and where it is.
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

/// That the numbers of a corner are finite.
#[inline]
pub(super) fn expect_finite(corner: usize, numbers: &[f32]) -> Result<(), Error> {
    match are_finite(numbers) {
        true => Ok(()),
        false => Err(Error::NotFinite { corner }),
    }
}

/// Whether all numbers are finite, without a branch for each.
#[inline]
pub(super) fn are_finite(numbers: &[f32]) -> bool {
    numbers.iter().fold(true, |all, number| all & number.is_finite())
}

/// That no two positions are equal.
pub(super) fn expect_different(positions: &[[f32; 3]], order: &mut Vec<u32>) -> Result<(), Error> {
    let repeated =
        |a: usize, b: usize| Err(Error::RepeatedCorner { first: a.min(b), second: a.max(b) });
    if positions.len() <= FEW_CORNERS {
        for (second, position) in positions.iter().enumerate() {
            if let Some(first) = positions[..second].iter().position(|other| other == position) {
                return repeated(first, second);
            }
        }
        return Ok(());
    }
    u32::try_from(positions.len()).map_err(|_| full(positions.len()))?;
    order.clear();
    order.try_reserve(positions.len()).map_err(|_| full(positions.len() * size_of::<u32>()))?;
    order.extend(0..positions.len() as u32);
    // Adding zero makes one of the two zeros.
    let key = |n: u32| positions[n as usize].map(|number| number + 0.0);
    order.sort_unstable_by(|&a, &b| {
        let pairs = key(a).into_iter().zip(key(b));
        pairs.fold(core::cmp::Ordering::Equal, |order, (a, b)| order.then(a.total_cmp(&b)))
    });
    let equal = order.windows(2).find(|pair| key(pair[0]) == key(pair[1]));
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
