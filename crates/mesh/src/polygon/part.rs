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

/// Parts of polygons.
impl<T, L: VertexLists> PolygonStore<T, L> {
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
