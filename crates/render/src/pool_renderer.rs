use drystone_mesh::Quad;
use drystone_pool::{
    CommandRun, Config, DrawCommand, DrawList, Grouping, ListConfig, MoveBudget, PartSet,
    VertexPool, sort_key,
};

use crate::{
    Batch, Device, DrawData, DrawStats, Frame, HeldStats, Image, Layer, MeshData, MeshId,
    PATTERN_QUADS, Passes, RenderError, Renderer, View, Visibility, renderer::Owner,
};

mod buffers;

use buffers::{Buffers, Upload};

/// Bytes of a buffer, at most: what every device that is known binds.
const MOST_BUFFER_BYTES: u64 = 128 << 20;
/// What is moved before a frame, at most, to keep meshes together: some hundredths of a
/// millisecond of a GPU's time.
const MOVES: MoveBudget = MoveBudget { bytes: 256 << 10, moves: 64 };

/// The renderer that the project is about: every mesh in a few buffers, one indirect call
/// a buffer for all opaque meshes, and for blended ones one wherever the buffer changes.
///
/// # Cost
/// A picture touches a few words a mesh to mask and order (nothing where neither view nor
/// meshes have changed), uploads 20 bytes a command, and makes two draw calls a buffer,
/// whatever the number of meshes.
pub struct PoolRenderer<D: Device> {
    device: D,
    buffers: Buffers<D::Geometry>,
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
    /// The pool's, which rises with every change of what there is.
    contents_revision: u64,
}

impl<D: Device> PoolRenderer<D> {
    /// A renderer with room for `quads` quads in `meshes` meshes, which takes more when it
    /// needs more.
    ///
    /// # Errors
    /// `Pool` when the device is out of memory.
    pub fn new(mut device: D, quads: u32, meshes: u32) -> Result<Self, RenderError> {
        let most = (MOST_BUFFER_BYTES / size_of::<Quad>() as u64) as u32;
        let config = Config {
            most_buffer_elements: device.max_quads().min(most),
            first_slots: meshes,
            pattern_elements: PATTERN_QUADS,
            ..Config::default()
        };
        let mut pool = VertexPool::new(config)?;
        let mut buffers = Buffers::default();
        pool.reserve(quads.into(), &mut Upload { device: &mut device, buffers: &mut buffers })?;
        let opaque = DrawList::with_config(ListConfig {
            grouping: Grouping::ByBuffer,
            ..ListConfig::default()
        });
        let blended = DrawList::new();
        Ok(Self { device, buffers, pool, opaque, blended, selected: None })
    }

    /// Tells the pool which frames are done, and lets it move a little.
    fn tidy(&mut self) {
        let completed = self.device.completed();
        let mut upload = Upload { device: &mut self.device, buffers: &mut self.buffers };
        self.pool.frames_completed(completed, &mut upload);
        self.pool.defragment(&MOVES, &mut upload);
    }

    /// Masks and orders both lists for what `view` sees on a picture of this size.
    fn select(&mut self, view: &View, size: [u32; 2]) {
        let contents_revision = self.pool.contents_revision();
        let selection = Selection { view: *view, size, contents_revision };
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
        if view.order {
            self.opaque.mask_and_order(&self.pool, |place| {
                (parts(place), sort_key(visibility.distance(place), 0))
            });
        } else {
            self.opaque.mask(&self.pool, parts);
        }
        self.blended.mask(&self.pool, parts);
        self.blended.order(&self.pool, |place| visibility.blend_key(place));
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
        let mut upload = Upload { device: &mut self.device, buffers: &mut self.buffers };
        let handle = self.pool.insert(mesh.quads, &mesh.counts, mesh.place, &mut upload)?;
        match mesh.layer {
            Layer::Opaque => self.opaque.insert(handle)?,
            Layer::Blended => self.blended.insert(handle)?,
        }
        Ok(MeshId(Owner::Pool(handle, mesh.layer)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, _)) = id else { return Err(RenderError::StaleMesh) };
        let mut upload = Upload { device: &mut self.device, buffers: &mut self.buffers };
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
        self.tidy();
        self.select(view, [width, height]);
        let frame = Frame::new(&view.camera, &view.atmosphere, width, height);
        let opaque = batches(&self.buffers, self.opaque.runs(&self.pool));
        let blended = batches(&self.buffers, self.blended.runs(&self.pool));
        let all = || opaque.iter().chain(&blended);
        let commands: usize = all().map(|batch| batch.commands.len()).sum();
        let quads = all().map(|batch| quad_count(batch.commands)).sum();
        let passes = Passes { opaque: &opaque, blended: &blended, indirect: true };
        self.device.draw(&frame, &passes)?;
        self.pool.frame_submitted(self.device.submitted());
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

/// The runs of a list, each with the buffer that it reads.
fn batches<'a, G>(
    buffers: &'a Buffers<G>,
    (runs, commands): (&[CommandRun], &'a [DrawCommand]),
) -> Vec<Batch<'a, G>> {
    let batch = |run: &CommandRun| {
        let geometry = buffers.get(run.buffer)?;
        Some(Batch { geometry, commands: &commands[run.commands.clone()] })
    };
    runs.iter().filter_map(batch).collect()
}

/// Quads that the commands draw.
pub(crate) fn quad_count(commands: &[DrawCommand]) -> u64 {
    let indices: u64 = commands.iter().map(|command| u64::from(command.index_count)).sum();
    indices / u64::from(drystone_mesh::INDICES_PER_QUAD)
}
