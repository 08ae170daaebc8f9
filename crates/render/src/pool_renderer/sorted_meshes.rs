use std::collections::{HashMap, HashSet};

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
    /// Meshes of `orders` that were written since the last sort, or did not fit in their new order.
    unsorted: HashSet<MeshHandle>,
    /// Quads of one mesh; kept for its memory.
    quads: Vec<Quad>,
}

/// Meshes that may need another order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsorted {
    All,
    /// Only those that were written since the last sort, which was for the same camera, or that did not
    /// fit then.
    Written,
}

impl SortedMeshes {
    /// Creates an empty list.
    pub(crate) fn new(list: DrawList) -> Self {
        Self { list, orders: HashMap::new(), unsorted: HashSet::new(), quads: Vec::new() }
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
        self.unsorted.insert(handle);
        Ok(handle)
    }

    /// Replaces a mesh in the pool. Returns whether the mask of the mesh may have changed.
    pub(crate) fn replace<D: Device>(
        &mut self,
        pool: &mut Pool,
        (handle, mesh): (MeshHandle, &MeshData<'_>),
        upload: &mut PoolUpload<'_, D>,
    ) -> Result<bool, PoolError> {
        let Some(mut order) = QuadOrder::new(mesh) else {
            pool.replace(handle, mesh.quads, &mesh.counts, mesh.draw_data, upload)?;
            return Ok(!self.orders.is_empty() && self.orders.remove(&handle).is_some());
        };
        order.sort([0.0; 3], &mut self.quads);
        pool.replace(handle, &self.quads, &order.counts(), mesh.draw_data, upload)?;
        self.unsorted.insert(handle);
        Ok(self.orders.insert(handle, order).is_none())
    }

    /// Forgets a mesh that was removed from the pool.
    pub(crate) fn removed(&mut self, handle: MeshHandle) {
        self.orders.remove(&handle);
        self.unsorted.remove(&handle);
    }

    /// Writes the meshes in view that need another order for this camera, among all or some.
    ///
    /// # Cost
    /// Some ten nanoseconds for each of these meshes, and 8 bytes of upload for each quad of a mesh
    /// whose order changes.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses; sort all meshes then. A mesh that does not fit
    /// keeps its order.
    pub(crate) fn sort<D: Device>(
        &mut self,
        pool: &mut Pool,
        upload: &mut PoolUpload<'_, D>,
        view: (&View, &Visibility),
        which: Unsorted,
    ) -> Result<(), RenderError> {
        let Self { orders, unsorted, quads, .. } = self;
        let mut sort =
            |handle, order: &mut QuadOrder| sort_mesh(pool, upload, view, (handle, order), quads);
        match which {
            Unsorted::All => {
                unsorted.clear();
                for (&handle, order) in orders {
                    if !sort(handle, order)? {
                        unsorted.insert(handle);
                    }
                }
            }
            Unsorted::Written => {
                for handle in std::mem::take(unsorted) {
                    let order = orders.get_mut(&handle);
                    if !order.map_or(Ok(true), |order| sort(handle, order))? {
                        unsorted.insert(handle);
                    }
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

/// Writes a mesh if it is in view and needs another order for this camera. Returns `false` if it does
/// not fit.
fn sort_mesh<D: Device>(
    pool: &mut Pool,
    upload: &mut PoolUpload<'_, D>,
    (view, visibility): (&View, &Visibility),
    (handle, order): (MeshHandle, &mut QuadOrder),
    quads: &mut Vec<Quad>,
) -> Result<bool, RenderError> {
    let Some(data) = pool.data(handle).copied() else { return Ok(true) };
    let is_hidden = view.cull_frustum && !visibility.in_view(&data);
    if is_hidden || !order.sort(visibility.position_in(&data), quads) {
        return Ok(true);
    }
    match pool.replace(handle, quads, &order.counts(), data, upload) {
        Ok(()) => Ok(true),
        Err(PoolError::Full { .. }) => {
            order.forget();
            Ok(false)
        }
        Err(error) => {
            order.forget();
            Err(upload.buffers.explain(error))
        }
    }
}
