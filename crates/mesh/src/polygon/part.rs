use super::corner::PolygonHandle;
use super::insert::are_finite;
use super::lists::VertexLists;
use super::store::PolygonStore;
use super::vertices::Vertices;
use crate::error::{Error, full};

/// Lifetime of a temporary polygon or of the result of a clip, and thereby its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until the end of the frame ([`PolygonStore::end_frame`]), which owns the temporary polygon
    /// and removes it once. The temporary may be removed earlier if it is not shared. An original
    /// that a clip leaves whole gets no owner: callers do not remove it.
    Frame,
    /// Until the caller removes it, such as what a stationary light lights. The caller owns the
    /// result: a new polygon, or an original that a clip leaves whole and that now has one more
    /// owner.
    Kept,
}

/// Corner of a part for [`PolygonStore::insert_part`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartCorner<T> {
    /// Corner of the original, by its index. Both polygons share the vertex.
    Kept(u32),
    /// A new vertex at a new coordinate.
    New {
        /// Position, in the caller's units.
        position: [f32; 3],
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's data.
        data: T,
    },
}

/// Insertion of parts of polygons.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Inserts a temporary polygon of corners of an original and of new corners, for example the
    /// result of another clipping algorithm. It shares the original's vertices. The original is not
    /// changed, and may be removed before the part.
    ///
    /// # Cost
    /// O(corners). Does not use the heap in the steady state. Cheaper than
    /// [`insert`](Self::insert): corners of the original are found by index, and equal positions
    /// are not checked.
    ///
    /// # Errors
    /// `Stale` if the handle is stale. `TooFewCorners` for less than three. `NoCorner` for an index
    /// that the original does not have. `NotFinite` for invalid positions. `TooManyOwners` of a
    /// vertex. `Full` if the heap is out of memory. Nothing is inserted then.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Corner, Lifetime, PartCorner, PolygonStore};
    ///
    /// let mut store = PolygonStore::<()>::new();
    /// let new = |x: f32, y: f32| Corner::New { position: [x, y, 0.0], uv: [x, y], data: () };
    /// let quad = store.insert(&[new(0.0, 0.0), new(1.0, 0.0), new(1.0, 1.0), new(0.0, 1.0)])?;
    /// let middle = PartCorner::New { position: [0.5, 0.5, 0.0], uv: [0.5, 0.5], data: () };
    /// let corners = [PartCorner::Kept(0), PartCorner::Kept(1), middle];
    /// let part = store.insert_part(quad, &corners, Lifetime::Frame)?;
    /// assert_eq!((store.stats().vertices, store.stats().corners), (5, 7));
    /// store.end_frame();
    /// assert!(!store.contains(part) && store.stats().vertices == 4);
    /// # Ok::<(), drystone_mesh::Error>(())
    /// ```
    #[inline]
    pub fn insert_part(
        &mut self,
        original: PolygonHandle,
        corners: &[PartCorner<T>],
        lifetime: Lifetime,
    ) -> Result<PolygonHandle, Error>
    where
        T: Clone,
    {
        if corners.len() < 3 {
            return Err(Error::TooFewCorners { count: corners.len() });
        }
        self.start_part(corners.len(), lifetime)?;
        let record = self.polygons.get(original.cast()).ok_or(Error::Stale)?;
        let list = self.lists.get(&record.list);
        // A local vector stays in registers.
        let (mut listed, mut result) = (core::mem::take(&mut self.listed), Ok(()));
        for (number, corner) in corners.iter().enumerate() {
            match take_part_corner(&mut self.vertices, list, number, corner) {
                Ok(vertex) => listed.push(vertex),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.listed = listed;
        if let Err(error) = result {
            return Err(self.release_listed(error));
        }
        self.finish_part(lifetime)
    }

    /// Reserves memory for a part of `count` corners.
    #[inline]
    pub(super) fn start_part(&mut self, count: usize, lifetime: Lifetime) -> Result<(), Error> {
        if lifetime == Lifetime::Frame {
            self.temporaries.try_reserve(1).map_err(|_| full(size_of::<PolygonHandle>()))?;
        }
        self.listed.clear();
        self.listed.try_reserve(count).map_err(|_| full(count * size_of::<u32>()))
    }

    /// Inserts a polygon of the listed vertices.
    #[inline]
    pub(super) fn finish_part(&mut self, lifetime: Lifetime) -> Result<PolygonHandle, Error> {
        let polygon = self.insert_listed()?;
        if lifetime == Lifetime::Frame {
            self.temporaries.push(polygon);
        }
        Ok(polygon)
    }
}

/// Returns the vertex of a part's corner, and adds one owner to it. `list` is that of the original.
/// Inlined into its caller's loop: four calls took 10 % of the time of an insertion.
#[inline(always)]
fn take_part_corner<T: Clone>(
    vertices: &mut Vertices<T>,
    list: &[u32],
    number: usize,
    corner: &PartCorner<T>,
) -> Result<u32, Error> {
    match corner {
        PartCorner::Kept(kept) => match list.get(*kept as usize) {
            Some(&vertex) => vertices.share(vertex).map(|()| vertex),
            None => Err(Error::NoCorner { corner: number, count: list.len() }),
        },
        PartCorner::New { position, uv, data } => match are_finite(position) && are_finite(uv) {
            true => vertices.insert(*position, *uv, data.clone()),
            false => Err(Error::NotFinite { corner: number }),
        },
    }
}
