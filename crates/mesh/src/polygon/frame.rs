use super::vertices::NEVER;
use super::{PolygonHandle, PolygonStore, Projected, VertexLists};
use crate::error::Error;

/// What is done once a frame.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Transforms those coordinates of a polygon that were not transformed in this frame:
    /// what many polygons share is transformed for the first of them. Use one `project` a
    /// frame; before another, for a second camera, [`end_frame`](Self::end_frame) or
    /// [`forget_projections`](Self::forget_projections).
    ///
    /// # Errors
    /// `Stale`; `Full` without memory for what is seen, 20 bytes a coordinate, which there is
    /// from the first transformation on.
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
        self.vertices.reserve_seen()?;
        for &vertex in self.lists.get(&record.list) {
            self.vertices.project(vertex, self.frame, &mut project);
        }
        Ok(())
    }

    /// Ends the frame: its temporaries are removed, and coordinates have to be transformed
    /// anew. The frame is one owner of each: one that others share stays with those, unless
    /// its maker removed it before, which was the frame's own share.
    pub fn end_frame(&mut self) {
        let mut temporaries = core::mem::take(&mut self.temporaries);
        // From the last to the first: the next frame's get their places in order.
        for polygon in temporaries.drain(..).rev() {
            // One that is gone already is all that is asked.
            let _ = self.remove(polygon);
        }
        self.temporaries = temporaries;
        self.forget_projections();
    }

    /// Lets coordinates be transformed anew, for another camera in the same frame.
    pub fn forget_projections(&mut self) {
        self.frame = self.frame.wrapping_add(1);
        if self.frame == NEVER {
            self.forget_stamps();
        }
    }

    /// After 2³² frames a coordinate that was not seen for as long would bear the stamp of
    /// the new frame.
    #[cold]
    fn forget_stamps(&mut self) {
        self.vertices.forget_stamps();
        self.frame = NEVER + 1;
    }
}
