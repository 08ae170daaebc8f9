use super::store::are_finite;
use super::vertices::Vertices;
use super::{PolygonHandle, PolygonStore, VertexLists};
use crate::error::{Error, full};

/// How long a temporary polygon lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until the frame ends ([`PolygonStore::end_frame`]), which removes it once; or it is
    /// removed, which is for those alone that share it with nobody.
    Frame,
    /// Until it is removed.
    Kept,
}

/// A corner of a part that the caller has cut by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartCorner<T> {
    /// A corner of the original, by its number from 0 on: the two share the vertex.
    Kept(u32),
    /// A new vertex at a new coordinate.
    New {
        /// Where, in the caller's units.
        position: [f32; 3],
        /// Texture coordinates.
        uv: [f32; 2],
        /// The caller's.
        data: T,
    },
}

/// Parts of polygons.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Makes a temporary polygon of corners that an original has and of new ones: the way for
    /// those who cut with something else than [`clip`](Self::clip) does. It shares the
    /// vertices that it keeps. The original is not changed, and may be removed before.
    ///
    /// # Cost
    /// O(corners), and nothing asked of the heap once there was as much before. It is
    /// cheaper than [`insert`](Self::insert): what is kept is found by its number in the
    /// original, and that corners differ is left to the caller, as for cuts.
    ///
    /// # Errors
    /// `Stale`; `TooFewCorners`; `NoCorner` for a number that the original has not;
    /// `NotFinite`; `TooManyOwners`; `Full` without memory. Nothing is made then.
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
        // A vector of this function's own stays in registers.
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
            return Err(self.give_up(error));
        }
        self.finish_part(lifetime)
    }

    /// Memory for a part of `count` corners.
    #[inline]
    pub(super) fn start_part(&mut self, count: usize, lifetime: Lifetime) -> Result<(), Error> {
        if lifetime == Lifetime::Frame {
            self.temporaries.try_reserve(1).map_err(|_| full(size_of::<PolygonHandle>()))?;
        }
        self.listed.clear();
        self.listed.try_reserve(count).map_err(|_| full(count * size_of::<u32>()))
    }

    /// Makes a polygon of the vertices that are listed.
    #[inline]
    pub(super) fn finish_part(&mut self, lifetime: Lifetime) -> Result<PolygonHandle, Error> {
        let polygon = self.insert_listed()?;
        if lifetime == Lifetime::Frame {
            self.temporaries.push(polygon);
        }
        Ok(polygon)
    }
}

/// The vertex of a part's corner, counted for one polygon more. `list` is the original's. In
/// its caller's loop: four calls were a tenth of the time that a temporary takes.
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
