use drystone_alloc::{Handle, Slots};
use drystone_mesh::{Face, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::{DrawCommand, PoolError};

use crate::{
    buffers::{BufferData, BufferKind, DrawSlots, PATTERN_QUADS},
    device::{Device, DeviceInfo, Output, Submitted, sealed::Sealed},
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, MeshData, MeshId, NaiveMark, Owner, next_renderer},
    passes::{Batch, Passes, ShadowPass},
    pool_renderer::totals,
    quad_order::QuadOrder,
    renderer::{DrawStats, HeldStats, Renderer},
    shadows::{Redrawn, ShadowCache},
    triangle_mesh::{TriangleMesh, TrianglesId, TrianglesOwner},
    view::View,
    visibility::Visibility,
};

/// The baseline: each mesh has its own buffers and its own draw call.
///
/// # Cost
/// A picture makes one binding and one draw call for each mesh, or for each [`PATTERN_QUADS`] quads
/// of a longer mesh. All face directions of a mesh are contiguous, so one call covers them.
pub struct NaiveRenderer<D: Device> {
    device: D,
    /// Unique among naive renderers; detects meshes of other renderers.
    id: u32,
    meshes: Slots<NaiveMesh<D::Geometry>>,
    shadows: ShadowCache,
    /// Counts of the last picture.
    drawn: DrawStats,
}

/// A mesh of quads, or a part of a polygon model.
struct NaiveMesh<G> {
    geometry: G,
    /// The indices of triangles.
    indices: Option<G>,
    commands: Vec<DrawCommand>,
    /// Position and box.
    bounds: DrawData,
    layer: Layer,
    /// The order of the quads, if it depends on the camera.
    order: Option<QuadOrder>,
    /// Bytes of quads, or of vertices and indices.
    size_bytes: u64,
}

impl<G> NaiveMesh<G> {
    fn batch(&self) -> Batch<'_, G> {
        match &self.indices {
            Some(indices) => Batch::indexed(&self.geometry, indices, &self.commands).trusted(),
            None => Batch::new(&self.geometry, &self.commands).trusted(),
        }
    }
}

impl<D: Device> NaiveRenderer<D> {
    /// Creates a renderer without meshes.
    pub fn new(device: D) -> Self {
        let id = next_renderer();
        let (meshes, shadows) = (Slots::new(), ShadowCache::default());
        Self { device, id, meshes, shadows, drawn: DrawStats::default() }
    }

    fn upload(&mut self, mesh: &MeshData<'_>) -> Result<NaiveMesh<D::Geometry>, RenderError> {
        mesh.check_draw_data()?;
        let counted: u64 = mesh.counts.iter().map(|&count| u64::from(count)).sum();
        if counted != mesh.quads.len() as u64 {
            let (elements, parts) = (mesh.quads.len(), Face::COUNT);
            return Err(PoolError::PartsMismatch { elements, counted, parts }.into());
        }
        let mut order = QuadOrder::new(mesh);
        let mut sorted = Vec::new();
        let is_sorted = order.as_mut().is_some_and(|order| order.sort([0.0; 3], &mut sorted));
        let quads = if is_sorted { &sorted } else { mesh.quads };
        Ok(NaiveMesh {
            geometry: quad_geometry(&mut self.device, quads, mesh.draw_data)?,
            indices: None,
            commands: mesh_commands(quads.len() as u32),
            bounds: mesh.draw_data,
            layer: mesh.layer,
            order,
            size_bytes: size_of_val(quads) as u64,
        })
    }

    /// Creates the geometries of the meshes in view that need another order for this camera. A mesh
    /// keeps its last order if the device is out of memory.
    fn sort_quads(&mut self, view: &View, visibility: &Visibility) -> Result<(), RenderError> {
        let mut sorted = Vec::new();
        for (_, mesh) in self.meshes.iter_mut() {
            let (Some(order), bounds) = (&mut mesh.order, mesh.bounds) else { continue };
            let is_hidden = view.cull_frustum && !visibility.in_view(&bounds);
            if is_hidden || !order.sort(visibility.position_in(&bounds), &mut sorted) {
                continue;
            }
            match quad_geometry(&mut self.device, &sorted, bounds) {
                Ok(geometry) => mesh.geometry = geometry,
                Err(RenderError::OutOfMemory { .. }) => order.forget(),
                Err(error) => {
                    order.forget();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn upload_triangles(
        &mut self,
        mesh: &TriangleMesh<'_>,
    ) -> Result<NaiveMesh<D::Geometry>, RenderError> {
        let bounds = mesh.bounds()?;
        let count = |elements: usize| {
            let too_many = PoolError::MeshTooLarge { elements: elements as u64, limit: u32::MAX };
            u32::try_from(elements).map_err(|_| RenderError::from(too_many))
        };
        let (vertex_count, index_count) = (count(mesh.vertices.len())?, count(mesh.indices.len())?);
        let device = &mut self.device;
        let mut geometry = device.create(BufferKind::Vertices, vertex_count, DrawSlots::New(1))?;
        let mut indices = device.create(BufferKind::Indices, index_count, DrawSlots::New(0))?;
        device.write(&mut geometry, 0, BufferData::Vertices(mesh.vertices));
        device.write(&mut indices, 0, BufferData::Indices(mesh.indices));
        device.write(&mut geometry, 0, BufferData::DrawData(&[mesh.slot_data()]));
        let command = DrawCommand { index_count, instance_count: 1, ..DrawCommand::default() };
        Ok(NaiveMesh {
            geometry,
            indices: Some(indices),
            commands: vec![command],
            bounds,
            layer: mesh.layer,
            order: None,
            size_bytes: (size_of_val(mesh.vertices) + size_of_val(mesh.indices)) as u64,
        })
    }

    fn insert_mesh(
        &mut self,
        mesh: NaiveMesh<D::Geometry>,
    ) -> Result<Handle<NaiveMark>, RenderError> {
        let full = |_| PoolError::SlotsFull { capacity: u32::MAX };
        self.shadows.changed(&mesh.bounds);
        Ok(self.meshes.insert(mesh).map_err(full)?.cast())
    }

    /// The layer of a mesh that is not stale.
    fn layer_of(&self, handle: Handle<NaiveMesh<D::Geometry>>) -> Result<Layer, RenderError> {
        self.meshes.get(handle).map(|mesh| mesh.layer).ok_or(RenderError::StaleMesh)
    }

    fn replace_mesh(
        &mut self,
        handle: Handle<NaiveMesh<D::Geometry>>,
        new: NaiveMesh<D::Geometry>,
    ) {
        if let Some(old) = self.meshes.get_mut(handle) {
            self.shadows.changed(&old.bounds);
            self.shadows.changed(&new.bounds);
            *old = new;
        }
    }

    fn remove_mesh(&mut self, handle: Handle<NaiveMesh<D::Geometry>>) -> Result<(), RenderError> {
        let mesh = self.meshes.remove(handle).ok_or(RenderError::StaleMesh)?;
        self.shadows.changed(&mesh.bounds);
        Ok(())
    }

    /// The handle of a mesh of the renderer with number `renderer`.
    fn own(
        &self,
        renderer: u32,
        handle: Handle<NaiveMark>,
    ) -> Result<Handle<NaiveMesh<D::Geometry>>, RenderError> {
        if renderer == self.id { Ok(handle.cast()) } else { Err(RenderError::StaleMesh) }
    }

    fn own_quads(&self, id: MeshId) -> Result<Handle<NaiveMesh<D::Geometry>>, RenderError> {
        let MeshId(Owner::Naive(renderer, handle)) = id else { return Err(RenderError::StaleMesh) };
        self.own(renderer, handle)
    }

    fn own_triangles(
        &self,
        id: TrianglesId,
    ) -> Result<Handle<NaiveMesh<D::Geometry>>, RenderError> {
        let TrianglesId(TrianglesOwner::Naive(renderer, handle)) = id else {
            return Err(RenderError::StaleMesh);
        };
        self.own(renderer, handle)
    }
}

/// Creates the geometry of a mesh.
fn quad_geometry<D: Device>(
    device: &mut D,
    quads: &[Quad],
    data: DrawData,
) -> Result<D::Geometry, RenderError> {
    let mut geometry = device.create(BufferKind::Quads, quads.len() as u32, DrawSlots::New(1))?;
    device.write(&mut geometry, 0, BufferData::Quads(quads));
    device.write(&mut geometry, 0, BufferData::DrawData(&[data]));
    Ok(geometry)
}

/// Batches of the opaque meshes in the box of a shadow map.
fn casters<'a, G>(meshes: &'a Slots<NaiveMesh<G>>, map: &Redrawn) -> Vec<Batch<'a, G>> {
    let meshes = meshes.iter().map(|(_, mesh)| mesh);
    let casters = meshes.filter(|mesh| mesh.layer == Layer::Opaque);
    casters.filter(|mesh| map.visibility.in_view(&mesh.bounds)).map(NaiveMesh::batch).collect()
}

/// Draw commands for all quads of a mesh: one, or several if the mesh is longer than the index
/// pattern.
fn mesh_commands(quad_count: u32) -> Vec<DrawCommand> {
    let firsts = (0..quad_count).step_by(PATTERN_QUADS as usize);
    let command = |first: u32| DrawCommand {
        index_count: (quad_count - first).min(PATTERN_QUADS) * INDICES_PER_QUAD,
        instance_count: 1,
        first_index: 0,
        base_vertex: (first * VERTICES_PER_QUAD) as i32,
        first_instance: 0,
    };
    firsts.map(command).collect()
}

impl<D: Device> Sealed for NaiveRenderer<D> {}

impl<D: Device> Renderer for NaiveRenderer<D> {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn output(&mut self) -> &mut dyn Output {
        &mut self.device
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        let mesh = self.upload(mesh)?;
        Ok(MeshId(Owner::Naive(self.id, self.insert_mesh(mesh)?)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let handle = self.own_quads(id)?;
        let layer = self.layer_of(handle)?;
        let new = self.upload(&MeshData { layer, ..*mesh })?;
        self.replace_mesh(handle, new);
        Ok(())
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        self.remove_mesh(self.own_quads(id)?)
    }

    fn max_triangle_bytes(&self) -> u64 {
        u64::from(self.device.info().max_quads) * size_of::<Quad>() as u64
    }

    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        let mesh = self.upload_triangles(mesh)?;
        Ok(TrianglesId(TrianglesOwner::Naive(self.id, self.insert_mesh(mesh)?)))
    }

    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        let handle = self.own_triangles(id)?;
        let layer = self.layer_of(handle)?;
        let new = self.upload_triangles(&TriangleMesh { layer, ..*mesh })?;
        self.replace_mesh(handle, new);
        Ok(())
    }

    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        self.remove_mesh(self.own_triangles(id)?)
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let DeviceInfo { size: [width, height], .. } = self.device.info();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let frame = view.frame(width, height);
        self.sort_quads(view, &visibility)?;
        let (mut opaque, mut others) = (Vec::new(), Vec::new());
        let (mut models, mut blended) = (Vec::new(), Vec::new());
        for (_, mesh) in &self.meshes {
            if view.cull_frustum && !visibility.in_view(&mesh.bounds) {
                continue;
            }
            match mesh.layer {
                Layer::Opaque if mesh.indices.is_some() => models.push(mesh.batch()),
                // At one depth, the first face is seen.
                Layer::Opaque if mesh.bounds.sort_rank > 0 => others.push(mesh.batch()),
                Layer::Opaque => opaque.push(mesh.batch()),
                // Blended models are drawn after blended quads.
                Layer::Blended => {
                    let key = (mesh.indices.is_some(), visibility.blend_key(&mesh.bounds));
                    blended.push((key, mesh.batch()));
                }
            }
        }
        opaque.extend(others);
        opaque.extend(models);
        blended.sort_by_key(|(key, _)| *key);
        let blended: Vec<_> = blended.into_iter().map(|(_, batch)| batch).collect();
        let (opaque, blended) = (&opaque, &blended);
        let kept = self.device.kept_shadows();
        let plan = self.shadows.plan(view, [width, height], kept);
        let meshes = &self.meshes;
        let shadows = plan.as_ref().map(|plan| ShadowPass::new(plan, |map| casters(meshes, map)));
        let shadows = shadows.as_ref();
        let passes =
            Passes { opaque, blended, indirect: false, culled: None, shadows, bloom: view.bloom };
        let Submitted { shown, .. } = self.device.draw(&frame, &passes)?;
        let meshes = (opaque.len() + blended.len()) as u32;
        self.drawn = DrawStats { meshes, shown, ..totals(&passes) };
        Ok(self.drawn)
    }

    fn drawn(&mut self) -> DrawStats {
        self.drawn
    }

    fn held(&self) -> HeldStats {
        let meshes = || self.meshes.iter().map(|(_, mesh)| mesh);
        let bytes: u64 = meshes().map(|mesh| mesh.size_bytes).sum();
        let commands = meshes().map(|mesh| mesh.commands.len() as u64).sum();
        let meshes = self.meshes.len();
        HeldStats { meshes, commands, used_bytes: bytes, reserved_bytes: bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{camera::Camera, soft::SoftDevice};

    /// A baseline with one call for each face direction would be unfairly slow.
    #[test]
    fn a_mesh_of_all_face_directions_is_one_draw_call() {
        let quads = Face::ALL.map(|face| Quad::new([1; 3], [2, 2], face, 0));
        let draw_data = DrawData { origin: [0, 0, -20], level: 0, extent: 4, sort_rank: 0 };
        let mesh = MeshData { quads: &quads, counts: [1; 6], draw_data, layer: Layer::Opaque };
        let mut renderer = NaiveRenderer::new(SoftDevice::new(40, 30).unwrap());
        renderer.set_palette(&[[90, 160, 60, 255]]).unwrap();
        renderer.insert(&mesh).unwrap();
        let drawn = renderer.draw(&View::new(Camera::default())).unwrap();
        assert_eq!((drawn.commands, drawn.quads), (1, 6));
        assert_eq!(renderer.held().commands, 1);
    }

    #[test]
    fn commands_of_a_mesh_cover_its_quads_within_the_index_pattern() {
        for quad_count in [0, 1, PATTERN_QUADS, PATTERN_QUADS + 1, 2 * PATTERN_QUADS + 7] {
            let commands = mesh_commands(quad_count);
            let mut end = 0;
            for command in &commands {
                assert_eq!(command.base_vertex as u32, end * VERTICES_PER_QUAD);
                assert!(command.index_count <= PATTERN_QUADS * INDICES_PER_QUAD);
                end += command.index_count / INDICES_PER_QUAD;
            }
            assert_eq!(
                (end, commands.len() as u32),
                (quad_count, quad_count.div_ceil(PATTERN_QUADS))
            );
        }
    }
}
