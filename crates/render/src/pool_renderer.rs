use drystone_mesh::Quad;
use drystone_pool::{Backend, Config, DrawCommand, DrawList, PartSet, VertexPool, sort_key};

use crate::{
    Batch, Device, DrawData, DrawStats, Frame, HeldStats, Image, Layer, MeshData, MeshId,
    PATTERN_QUADS, Passes, RenderError, Renderer, View, Visibility, renderer::Owner,
};

/// The renderer that the project is about: every mesh in one buffer, one indirect call for
/// all opaque meshes and one for all blended ones.
///
/// # Cost
/// A picture touches a few words a mesh to mask and order (nothing where neither view nor
/// meshes have changed), uploads 20 bytes a command, and makes two draw calls, whatever
/// the number of meshes.
pub struct PoolRenderer<D: Device> {
    device: D,
    geometry: D::Geometry,
    pool: VertexPool<Quad, DrawData>,
    opaque: DrawList,
    blended: DrawList,
    /// What the lists were last masked and ordered for; while nothing changes they stay.
    selected: Option<Selection>,
}

/// All that masking and ordering depend on.
#[derive(Clone, Copy, PartialEq)]
struct Selection {
    view: View,
    size: [u32; 2],
    /// The pool's, which rises with every change.
    revision: u64,
}

impl<D: Device> PoolRenderer<D> {
    /// A renderer with room for `quads` quads in `meshes` meshes.
    ///
    /// # Errors
    /// `TooLarge` beyond the device's limits, `Device` when it is out of memory.
    pub fn new(mut device: D, quads: u32, meshes: u32) -> Result<Self, RenderError> {
        let config = Config {
            capacity: quads,
            slot_capacity: meshes,
            pattern_elements: PATTERN_QUADS,
            ..Config::default()
        };
        let pool = VertexPool::new(config)?;
        let geometry = device.create_geometry(quads, meshes)?;
        let (opaque, blended) = (DrawList::new(), DrawList::new());
        Ok(Self { device, geometry, pool, opaque, blended, selected: None })
    }

    /// Masks and orders both lists for what `view` sees on a picture of this size.
    fn select(&mut self, view: &View, size: [u32; 2]) {
        let selection = Selection { view: *view, size, revision: self.pool.revision() };
        if self.selected == Some(selection) {
            return;
        }
        self.selected = Some(selection);
        let [width, height] = size;
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let parts = |place: &DrawData| {
            if view.cull_frustum && !visibility.in_view(place) {
                PartSet::EMPTY
            } else if view.mask_facings {
                PartSet::from_bits(visibility.facings(place).bits())
            } else {
                PartSet::ALL
            }
        };
        self.opaque.mask(&self.pool, parts);
        if view.order {
            self.opaque.order(&self.pool, |place| sort_key(visibility.distance(place), 0));
        }
        self.blended.mask(&self.pool, parts);
        self.blended.order(&self.pool, |place| visibility.blend_key(place));
    }
}

/// The pool's way to the device.
struct Upload<'a, D: Device> {
    device: &'a mut D,
    geometry: &'a mut D::Geometry,
}

impl<D: Device> Backend for Upload<'_, D> {
    fn write_elements(&mut self, offset_bytes: u64, bytes: &[u8]) {
        let first = offset_bytes / size_of::<Quad>() as u64;
        self.device.write_quads(self.geometry, first as u32, bytemuck::cast_slice(bytes));
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        self.device.write_draw_data(self.geometry, slot, &bytemuck::pod_read_unaligned(bytes));
    }
}

impl<D: Device> Renderer for PoolRenderer<D> {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn backend(&self) -> String {
        self.device.describe()
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        self.device.set_palette(colors)
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        let mut upload = Upload { device: &mut self.device, geometry: &mut self.geometry };
        let handle = self.pool.insert(mesh.quads, &mesh.counts, mesh.place, &mut upload)?;
        match mesh.layer {
            Layer::Opaque => self.opaque.insert(handle),
            Layer::Blended => self.blended.insert(handle),
        }
        Ok(MeshId(Owner::Pool(handle, mesh.layer)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, _)) = id else { return Err(RenderError::StaleMesh) };
        let mut upload = Upload { device: &mut self.device, geometry: &mut self.geometry };
        Ok(self.pool.replace(handle, mesh.quads, &mesh.counts, mesh.place, &mut upload)?)
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, _)) = id else { return Err(RenderError::StaleMesh) };
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.device.resize(width, height)
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let [width, height] = self.device.size();
        self.select(view, [width, height]);
        let frame = Frame::new(&view.camera, &view.atmosphere, width, height);
        let opaque = Batch { geometry: &self.geometry, commands: self.opaque.commands(&self.pool) };
        let blended =
            Batch { geometry: &self.geometry, commands: self.blended.commands(&self.pool) };
        let commands = opaque.commands.len() + blended.commands.len();
        let quads = quad_count(opaque.commands) + quad_count(blended.commands);
        let has_blended = !blended.commands.is_empty();
        let blended = [blended];
        let passes = Passes {
            opaque: &[opaque],
            blended: if has_blended { &blended } else { &[] },
            indirect: true,
        };
        self.device.draw(&frame, &passes)?;
        let meshes = (self.opaque.visible() + self.blended.visible()) as u32;
        let shown = self.device.shown();
        Ok(DrawStats { commands: commands as u32, quads, meshes, shown })
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.device.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.device.read_image()
    }

    fn held(&self) -> HeldStats {
        let stats = self.pool.stats();
        HeldStats {
            meshes: stats.meshes,
            used_bytes: stats.used_bytes,
            reserved_bytes: stats.capacity_bytes,
        }
    }
}

/// Quads that the commands draw.
pub(crate) fn quad_count(commands: &[DrawCommand]) -> u64 {
    let indices: u64 = commands.iter().map(|command| u64::from(command.index_count)).sum();
    indices / u64::from(drystone_mesh::INDICES_PER_QUAD)
}
