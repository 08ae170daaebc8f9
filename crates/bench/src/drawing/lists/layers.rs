//! A renderer of two layers, which stores and lists them in one of three ways.

use drystone_mesh::Quad;
use drystone_pool::{
    CommandRun, DrawCommand, DrawList, DrawView, Grouping, ListConfig, PartSet, PoolConfig,
    VertexPool, sort_key,
};
use drystone_render::{
    Batch, Device, DrawData, FlushedBuffers, Frame, Image, Layer, MeshData, PATTERN_QUADS, Passes,
    PoolGeometries, PoolUpload, RenderError, View, Visibility,
};

use crate::drawing::scene::Meshes;

/// Storage of the two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// One pool, and a list for each layer.
    Lists,
    /// One pool and one list, which is masked for each layer.
    MaskedTwice,
    /// A pool and a list for each layer.
    Pools,
}

/// Bit in the extent of blended meshes, by which a mask selects a layer.
const BLENDED_BIT: u32 = 1 << 31;

const LAYERS: [Layer; 2] = [Layer::Opaque, Layer::Blended];

/// A device with the meshes of both layers.
pub(super) struct Layers<D: Device> {
    device: D,
    plan: Plan,
    /// One pool for both layers, or one for each.
    stores: Vec<Store<D::Geometry>>,
    /// Lists by layer. If one list is masked twice, the first contains all meshes.
    lists: [DrawList; 2],
    /// The second view of the first list.
    blended: DrawView,
}

struct Store<G> {
    pool: VertexPool<Quad, DrawData>,
    buffers: PoolGeometries<G>,
}

impl<D: Device> Layers<D> {
    pub(super) fn new(mut device: D, plan: Plan, meshes: &Meshes) -> Result<Self, RenderError> {
        device.set_palette(&meshes.palette)?;
        let stores = match plan {
            Plan::Lists | Plan::MaskedTwice => vec![Store::new(&mut device, meshes, &LAYERS)?],
            Plan::Pools => vec![
                Store::new(&mut device, meshes, &[Layer::Opaque])?,
                Store::new(&mut device, meshes, &[Layer::Blended])?,
            ],
        };
        let by_buffer = ListConfig::default().with_grouping(Grouping::ByBuffer);
        let lists = [DrawList::with_config(by_buffer), DrawList::new()];
        let mut layers = Self { device, plan, stores, lists, blended: DrawView::new() };
        for mesh in &meshes.list {
            layers.insert(&mesh.data())?;
        }
        Ok(layers)
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let blended = usize::from(mesh.layer == Layer::Blended);
        let (store, list) = match self.plan {
            Plan::Lists => (0, blended),
            Plan::MaskedTwice => (0, 0),
            Plan::Pools => (blended, blended),
        };
        let mut draw_data = mesh.draw_data;
        draw_data.extent |= BLENDED_BIT * blended as u32;
        let Store { pool, buffers } = &mut self.stores[store];
        let mut upload = PoolUpload { device: &mut self.device, buffers };
        let handle = pool.insert(mesh.quads, &mesh.counts, draw_data, &mut upload)?;
        Ok(self.lists[list].insert(handle)?)
    }

    pub(super) fn describe(&self) -> String {
        self.device.describe()
    }

    pub(super) fn draw(&mut self, view: &View) -> Result<(), RenderError> {
        let [width, height] = self.device.info().size;
        let frame = Frame::new(&view.camera, &view.atmosphere, width, height);
        let visible = VisibleLayers {
            visibility: Visibility::new(&view.camera, width as f32 / height as f32),
        };
        let Self { device, plan, stores, lists: [first, second], blended } = self;
        let flushed = stores.iter_mut().map(|it| (&it.pool, it.buffers.flush(device)));
        let (pools, buffers): (Vec<_>, Vec<_>) = flushed.unzip();
        let last = pools.len() - 1;
        first.mask_and_sort(pools[0], |draw_data| visible.opaque(draw_data));
        let blended = match plan {
            Plan::Lists | Plan::Pools => {
                second.mask_and_sort(pools[last], |draw_data| visible.blended(draw_data));
                second.runs(pools[last])
            }
            Plan::MaskedTwice => {
                blended.mask_and_sort(first, pools[0], |draw_data| visible.blended(draw_data));
                blended.runs(first, pools[0])
            }
        };
        let blended = batches(buffers[last], blended);
        let opaque = batches(buffers[0], first.runs(pools[0]));
        let (opaque, blended) = (&opaque, &blended);
        let drawn = device.draw(&frame, &Passes { opaque, blended, ..Passes::default() })?;
        stores.iter_mut().for_each(|store| store.pool.frame_submitted(drawn.frame));
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), RenderError> {
        self.device.finish()
    }

    pub(super) fn picture(&mut self, view: &View) -> Result<Image, RenderError> {
        self.draw(view)?;
        self.device.read_image()
    }
}

impl<G> Store<G> {
    /// Creates a pool with capacity for the meshes of some layers.
    fn new<D: Device<Geometry = G>>(
        device: &mut D,
        meshes: &Meshes,
        layers: &[Layer],
    ) -> Result<Self, RenderError> {
        let of_layers = meshes.list.iter().map(|mesh| mesh.data());
        let of_layers: Vec<_> = of_layers.filter(|mesh| layers.contains(&mesh.layer)).collect();
        let quads: u64 = of_layers.iter().map(|mesh| mesh.quads.len() as u64).sum();
        let config = PoolConfig::default()
            .with_max_buffer_elements(
                device.info().max_quads.min(PoolConfig::default().max_buffer_elements),
            )
            .with_first_slots(of_layers.len() as u32)
            .with_pattern_elements(PATTERN_QUADS);
        let (mut pool, mut buffers) = (VertexPool::new(config)?, PoolGeometries::default());
        pool.reserve(quads, &mut PoolUpload { device, buffers: &mut buffers })?;
        Ok(Self { pool, buffers })
    }
}

/// Returns the runs of a list, each with the buffer that it reads.
fn batches<'a, G>(
    buffers: FlushedBuffers<'a, G>,
    (runs, commands): (&[CommandRun], &'a [DrawCommand]),
) -> Vec<Batch<'a, G>> {
    let batch = |run: &CommandRun| {
        let geometry = buffers.get(run.buffer)?;
        Some(Batch::new(geometry, &commands[run.commands.clone()]))
    };
    runs.iter().filter_map(batch).collect()
}

/// Visible set for a camera.
struct VisibleLayers {
    visibility: Visibility,
}

impl VisibleLayers {
    fn opaque(&self, draw_data: &DrawData) -> (PartSet, u64) {
        let (draw_data, is_blended) = layer_of(draw_data);
        let parts = if is_blended { PartSet::EMPTY } else { self.parts(&draw_data) };
        (parts, sort_key(self.visibility.distance(&draw_data), 0))
    }

    fn blended(&self, draw_data: &DrawData) -> (PartSet, u64) {
        let (draw_data, is_blended) = layer_of(draw_data);
        let parts = if is_blended { self.parts(&draw_data) } else { PartSet::EMPTY };
        (parts, self.visibility.blend_key(&draw_data))
    }

    fn parts(&self, draw_data: &DrawData) -> PartSet {
        if self.visibility.in_view(draw_data) {
            PartSet::from_bits(self.visibility.visible_faces(draw_data).bits())
        } else {
            PartSet::EMPTY
        }
    }
}

/// Splits an extent into the position without the bit, and whether the bit was set.
fn layer_of(draw_data: &DrawData) -> (DrawData, bool) {
    let extent = draw_data.extent & !BLENDED_BIT;
    (DrawData { extent, ..*draw_data }, extent != draw_data.extent)
}
