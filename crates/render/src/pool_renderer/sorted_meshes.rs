use std::collections::HashMap;

use drystone_mesh::Quad;
use drystone_pool::{DrawList, MeshHandle, MeshRef, PartSet, PoolError};

use super::{
    buffers::PoolUpload,
    opaque::{Pool, visible_parts},
};
use crate::{
    device::Device, draw_data::DrawData, error::RenderError, mesh_data::MeshData,
    quad_order::QuadOrder, view::View, visibility::Visibility,
};

/// List of the blended meshes of a pool. The quads of some meshes are written again when the camera
/// needs another order.
///
/// # Limits
/// A mesh keeps its last order while the pool is too full for another copy of it. Pools that may
/// overwrite a mesh in place need no copy.
pub(crate) struct SortedMeshes {
    pub(crate) list: DrawList,
    /// Meshes that are not in the right order for every camera.
    orders: HashMap<MeshHandle, QuadOrder>,
    /// Quads of one mesh; kept for its memory.
    quads: Vec<Quad>,
}

impl SortedMeshes {
    /// Creates an empty list.
    pub(crate) fn new(list: DrawList) -> Self {
        Self { list, orders: HashMap::new(), quads: Vec::new() }
    }

    /// Inserts a mesh into the pool, but not into the list.
    pub(crate) fn insert<D: Device>(
        &mut self,
        pool: &mut Pool,
        mesh: &MeshData<'_>,
        upload: &mut PoolUpload<'_, D>,
    ) -> Result<MeshHandle, PoolError> {
        let Some(mut order) = QuadOrder::new(mesh) else {
            return pool.insert(mesh.quads, &mesh.counts, mesh.draw_data, upload);
        };
        self.quads.clear();
        order.sort([0.0; 3], &mut self.quads);
        let handle = pool.insert(&self.quads, &order.counts(), mesh.draw_data, upload)?;
        self.orders.insert(handle, order);
        Ok(handle)
    }

    /// Replaces a mesh in the pool.
    pub(crate) fn replace<D: Device>(
        &mut self,
        pool: &mut Pool,
        (handle, mesh): (MeshHandle, &MeshData<'_>),
        upload: &mut PoolUpload<'_, D>,
    ) -> Result<(), PoolError> {
        let Some(mut order) = QuadOrder::new(mesh) else {
            pool.replace(handle, mesh.quads, &mesh.counts, mesh.draw_data, upload)?;
            self.orders.remove(&handle);
            return Ok(());
        };
        order.sort([0.0; 3], &mut self.quads);
        pool.replace(handle, &self.quads, &order.counts(), mesh.draw_data, upload)?;
        self.orders.insert(handle, order);
        Ok(())
    }

    /// Forgets a mesh that was removed from the pool.
    pub(crate) fn removed(&mut self, handle: MeshHandle) {
        self.orders.remove(&handle);
    }

    /// Writes the meshes in view that need another order for this camera.
    ///
    /// # Cost
    /// Some ten nanoseconds for each mesh in the value, and 8 bytes of upload for each quad of a mesh
    /// whose order changes.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses. A mesh that does not fit keeps its order.
    pub(crate) fn sort<D: Device>(
        &mut self,
        pool: &mut Pool,
        upload: &mut PoolUpload<'_, D>,
        (view, visibility): (&View, &Visibility),
    ) -> Result<(), RenderError> {
        for (&handle, order) in &mut self.orders {
            let Some(data) = pool.data(handle).copied() else { continue };
            let is_hidden = view.cull_frustum && !visibility.in_view(&data);
            if is_hidden || !order.sort(visibility.position_in(&data), &mut self.quads) {
                continue;
            }
            match pool.replace(handle, &self.quads, &order.counts(), data, upload) {
                Ok(()) => {}
                Err(PoolError::Full { .. }) => order.forget(),
                Err(error) => {
                    order.forget();
                    return Err(upload.buffers.explain(error));
                }
            }
        }
        Ok(())
    }

    /// Masks the list.
    pub(crate) fn mask(&mut self, pool: &Pool, view: &View, visibility: &Visibility) {
        let Self { list, orders, .. } = self;
        list.mask(pool, |mesh: &MeshRef<'_, DrawData>| {
            let parts = visible_parts(mesh, view, visibility);
            // Such an order mixes the face directions.
            let is_mixed = !orders.is_empty() && orders.contains_key(&mesh.handle());
            if is_mixed && parts != PartSet::EMPTY { PartSet::ALL } else { parts }
        });
    }
}
