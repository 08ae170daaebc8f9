use super::vertices::NEVER;
use super::{PolygonHandle, PolygonStore, Projected, VertexLists};
use crate::error::Error;

/// Operations of a frame.
impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Transforms the coordinates of a polygon that were not transformed in this frame yet, so
    /// shared coordinates are transformed only once. Use one `project` per frame. Before another
    /// one, for a second camera, call [`end_frame`](Self::end_frame) or
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

    /// Clears all stamps. After 2³² frames, an old stamp would equal that of the new frame.
    #[cold]
    fn clear_stamps(&mut self) {
        self.vertices.clear_stamps();
        self.frame = NEVER + 1;
    }
}
