use drystone_alloc::Handle;
use drystone_pool::{DrawCommand, PoolError};

use super::NaiveRenderer;
use crate::{
    buffers::{BufferData, BufferKind, DrawSlots},
    device::Device,
    draw_data::DrawData,
    error::RenderError,
    mesh_data::Layer,
    passes::Batch,
    triangle_mesh::{NaiveTrianglesMark, TriangleMesh, TrianglesId, TrianglesOwner},
    triangle_vertex::TriangleVertex,
};

/// A mesh of triangles with its own two buffers and its own draw call.
pub(super) struct NaiveTriangles<G> {
    vertices: G,
    indices: G,
    command: DrawCommand,
    vertex_count: u32,
    pub(super) layer: Layer,
    /// A box around the mesh, in voxels.
    pub(super) bounds: DrawData,
}

impl<G> NaiveTriangles<G> {
    pub(super) const fn batch(&self) -> Batch<'_, G> {
        let command = std::slice::from_ref(&self.command);
        Batch::indexed(&self.vertices, &self.indices, command).trusted()
    }

    pub(super) fn bytes(&self) -> u64 {
        let vertices = u64::from(self.vertex_count) * size_of::<TriangleVertex>() as u64;
        vertices + u64::from(self.command.index_count) * size_of::<u32>() as u64
    }
}

impl<D: Device> NaiveRenderer<D> {
    pub(super) fn insert_naive_triangles(
        &mut self,
        mesh: &TriangleMesh<'_>,
    ) -> Result<TrianglesId, RenderError> {
        let mesh = self.upload_triangles(mesh)?;
        let full = |_| PoolError::SlotsFull { capacity: u32::MAX };
        let handle: Handle<NaiveTrianglesMark> = self.triangles.insert(mesh).map_err(full)?.cast();
        Ok(TrianglesId(TrianglesOwner::Naive(self.id, handle)))
    }

    pub(super) fn replace_naive_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        let handle = self.own_triangles(id)?;
        let layer = self.triangles.get(handle).ok_or(RenderError::StaleMesh)?.layer;
        let new = self.upload_triangles(&TriangleMesh { layer, ..*mesh })?;
        if let Some(old) = self.triangles.get_mut(handle) {
            *old = new;
        }
        Ok(())
    }

    pub(super) fn remove_naive_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        let handle = self.own_triangles(id)?;
        self.triangles.remove(handle).map(|_| ()).ok_or(RenderError::StaleMesh)
    }

    fn upload_triangles(
        &mut self,
        mesh: &TriangleMesh<'_>,
    ) -> Result<NaiveTriangles<D::Geometry>, RenderError> {
        let bounds = mesh.bounds()?;
        let count = |elements: usize| {
            let too_many = PoolError::MeshTooLarge { elements: elements as u64, limit: u32::MAX };
            u32::try_from(elements).map_err(|_| RenderError::from(too_many))
        };
        let (vertex_count, index_count) = (count(mesh.vertices.len())?, count(mesh.indices.len())?);
        let device = &mut self.device;
        let mut vertices = device.create(BufferKind::Vertices, vertex_count, DrawSlots::New(1))?;
        let mut indices = device.create(BufferKind::Indices, index_count, DrawSlots::New(0))?;
        device.write(&mut vertices, 0, BufferData::Vertices(mesh.vertices));
        device.write(&mut indices, 0, BufferData::Indices(mesh.indices));
        device.write(&mut vertices, 0, BufferData::DrawData(&[mesh.transform.into()]));
        let command = DrawCommand {
            index_count,
            instance_count: 1,
            first_index: 0,
            base_vertex: 0,
            first_instance: 0,
        };
        Ok(NaiveTriangles { vertices, indices, command, vertex_count, layer: mesh.layer, bounds })
    }

    fn own_triangles(
        &self,
        id: TrianglesId,
    ) -> Result<Handle<NaiveTriangles<D::Geometry>>, RenderError> {
        match id {
            TrianglesId(TrianglesOwner::Naive(renderer, handle)) if renderer == self.id => {
                Ok(handle.cast())
            }
            TrianglesId(_) => Err(RenderError::StaleMesh),
        }
    }
}
