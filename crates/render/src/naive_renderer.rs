use drystone_alloc::{Handle, Slots};
use drystone_mesh::{Face, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::{DrawCommand, PoolError, VertexPool};

use crate::{
    buffers::{BufferData, BufferKind, DrawSlots, PATTERN_QUADS},
    cull::Cull,
    device::{Device, DeviceInfo, Output, Submitted},
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, MeshData, MeshId, NaiveMark, Owner, next_renderer},
    passes::{Batch, Passes},
    pool_renderer::totals,
    renderer::{DrawStats, HeldStats, Renderer},
    triangle_mesh::{TriangleMesh, TrianglesId},
    view::View,
    visibility::Visibility,
};

mod triangles;

use triangles::NaiveTriangles;

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
    /// Polygon models, one entry for each part.
    triangles: Slots<NaiveTriangles<D::Geometry>>,
    /// Counts of the last picture.
    drawn: DrawStats,
}

struct NaiveMesh<G> {
    geometry: G,
    commands: Vec<DrawCommand>,
    draw_data: DrawData,
    layer: Layer,
    quad_count: u32,
}

impl<D: Device> NaiveRenderer<D> {
    /// Creates a renderer without meshes.
    pub fn new(device: D) -> Self {
        let id = next_renderer();
        Self {
            device,
            id,
            meshes: Slots::new(),
            triangles: Slots::new(),
            drawn: DrawStats::default(),
        }
    }

    fn upload(&mut self, mesh: &MeshData<'_>) -> Result<NaiveMesh<D::Geometry>, RenderError> {
        mesh.check_draw_data()?;
        let counted: u64 = mesh.counts.iter().map(|&count| u64::from(count)).sum();
        if counted != mesh.quads.len() as u64 {
            let (elements, parts) = (mesh.quads.len(), Face::COUNT);
            return Err(PoolError::PartsMismatch { elements, counted, parts }.into());
        }
        let quad_count = mesh.quads.len() as u32;
        let slots = DrawSlots::New(1);
        let mut geometry = self.device.create(BufferKind::Quads, quad_count, slots)?;
        self.device.write(&mut geometry, 0, BufferData::Quads(mesh.quads));
        self.device.write(&mut geometry, 0, BufferData::DrawData(&[mesh.draw_data]));
        let commands = mesh_commands(quad_count);
        Ok(NaiveMesh {
            geometry,
            commands,
            draw_data: mesh.draw_data,
            layer: mesh.layer,
            quad_count,
        })
    }

    fn own(&self, id: MeshId) -> Result<Handle<NaiveMesh<D::Geometry>>, RenderError> {
        match id {
            MeshId(Owner::Naive(renderer, handle)) if renderer == self.id => Ok(handle.cast()),
            MeshId(_) => Err(RenderError::StaleMesh),
        }
    }
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

impl<D: Device> Renderer for NaiveRenderer<D> {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn output(&mut self) -> &mut dyn Output {
        &mut self.device
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        let mesh = self.upload(mesh)?;
        let full = |_| PoolError::SlotsFull { capacity: u32::MAX };
        let handle: Handle<NaiveMark> = self.meshes.insert(mesh).map_err(full)?.cast();
        Ok(MeshId(Owner::Naive(self.id, handle)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let handle = self.own(id)?;
        let layer = self.meshes.get(handle).ok_or(RenderError::StaleMesh)?.layer;
        let new = self.upload(&MeshData { layer, ..*mesh })?;
        if let Some(old) = self.meshes.get_mut(handle) {
            *old = new;
        }
        Ok(())
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        let handle = self.own(id)?;
        self.meshes.remove(handle).map(|_| ()).ok_or(RenderError::StaleMesh)
    }

    fn max_triangle_bytes(&self) -> u64 {
        u64::from(self.device.info().max_quads) * size_of::<Quad>() as u64
    }

    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        self.insert_naive_triangles(mesh)
    }

    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        self.replace_naive_triangles(id, mesh)
    }

    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        self.remove_naive_triangles(id)
    }

    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        match cull {
            Cull::Cpu => Ok(()),
            Cull::Gpu => {
                let reason = "it draws each mesh with its own call".into();
                Err(RenderError::NoCulling { backend: "the naive renderer".into(), reason })
            }
        }
    }

    fn cull(&self) -> Cull {
        Cull::Cpu
    }

    fn take_culling_error(&mut self) -> Option<RenderError> {
        None
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let DeviceInfo { size: [width, height], .. } = self.device.info();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let frame = view.frame(width, height);
        let mut opaque = Vec::new();
        let mut blended = Vec::new();
        for (_, mesh) in &self.meshes {
            if view.cull_frustum && !visibility.in_view(&mesh.draw_data) {
                continue;
            }
            let batch = Batch::new(&mesh.geometry, &mesh.commands).trusted();
            match mesh.layer {
                Layer::Opaque => opaque.push(batch),
                Layer::Blended => blended.push((visibility.blend_key(&mesh.draw_data), batch)),
            }
        }
        let models = self.triangles.iter().map(|(_, mesh)| mesh);
        let models = models.filter(|it| !view.cull_frustum || visibility.in_view(&it.bounds));
        let mut clear = Vec::new();
        for mesh in models {
            match mesh.layer {
                Layer::Opaque => opaque.push(mesh.batch()),
                Layer::Blended => clear.push((visibility.blend_key(&mesh.bounds), mesh.batch())),
            }
        }
        blended.sort_by_key(|(key, _)| *key);
        clear.sort_by_key(|(key, _)| *key);
        blended.extend(clear);
        let blended: Vec<_> = blended.into_iter().map(|(_, batch)| batch).collect();
        let (opaque, blended) = (&opaque, &blended);
        let passes = Passes { opaque, blended, indirect: false, culled: None };
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
        let quads: u64 = meshes().map(|mesh| u64::from(mesh.quad_count)).sum();
        let triangles = self.triangles.iter().map(|(_, mesh)| mesh.bytes()).sum::<u64>();
        let bytes = quads * size_of::<Quad>() as u64 + triangles;
        let commands = meshes().map(|mesh| mesh.commands.len() as u64).sum::<u64>();
        HeldStats {
            meshes: self.meshes.len() + self.triangles.len(),
            commands: commands + u64::from(self.triangles.len()),
            used_bytes: bytes,
            reserved_bytes: bytes,
        }
    }

    fn pool(&self) -> Option<&VertexPool<Quad, DrawData>> {
        None
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
        let draw_data = DrawData { origin: [0, 0, -20], level: 0, extent: 4 };
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
