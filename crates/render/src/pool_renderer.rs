use drystone_mesh::Quad;
use drystone_pool::{
    CommandRun, Config, DrawCommand, DrawList, Hidden, ListConfig, MoveBudget, Oversize, Placement,
    PoolRange, PoolStats, VertexPool,
};

use crate::{
    Batch, Cull, CullFrame, Culled, Device, DrawStats, Frame, HeldStats, Image, Layer, MeshData,
    MeshId, Overlay, PATTERN_QUADS, Passes, RenderError, Renderer, TriangleMesh, TrianglesId, View,
    Visibility, renderer::Owner,
};

mod buffers;
mod opaque;
mod selection;
mod triangles;

pub use buffers::{FlushedBuffers, PoolBuffers, PoolUpload};
pub(crate) use opaque::visible_parts;
use opaque::{Opaque, Pool};
use selection::Selection;
use triangles::{TriangleBatches, Triangles};

/// Quads of the first buffer where nothing is known of the scene, and of any other at
/// least: 512 KiB.
const LEAST_BUFFER_QUADS: u32 = 1 << 16;
/// The same for the smallest scenes.
const LEAST_SCENE_QUADS: u32 = 1 << 12;
/// Of what a scene needs, so much more is kept for meshes that change: each is placed anew
/// before it is given up.
const SPARE_DIVISOR: u64 = 32;
/// What is moved before a frame, at most, to keep meshes together: some hundredths of a
/// millisecond of a GPU's time.
const MOVES: MoveBudget = MoveBudget { bytes: 256 << 10, moves: 64 };

/// The renderer that the project is about: every mesh in a few buffers, one indirect call
/// a buffer for all opaque meshes, and for blended ones one wherever the buffer changes.
///
/// # Cost
/// A picture touches a few words a mesh to mask and order (nothing for the same view as
/// before, and few new meshes), uploads 20 bytes a command, and makes two draw calls a buffer,
/// whatever the number of meshes. Where the [GPU culls](Renderer::set_cull), opaque meshes
/// cost the CPU nothing but 52 bytes for each that has changed or moved, which go up in
/// blocks of 64, and a buffer takes two draw calls for them.
///
/// # Limits
/// The pool is not told what the GPU leaves out: the least recently drawn meshes that it
/// names when it is full are then those inserted or replaced longest ago.
pub struct PoolRenderer<D: Device> {
    device: D,
    buffers: PoolBuffers<D::Geometry>,
    pool: Pool,
    opaque: Opaque,
    blended: DrawList,
    /// Of polygon models, once there is one.
    triangles: Option<Box<Triangles<D::Geometry>>>,
    /// Bytes of a buffer, at most.
    max_buffer_bytes: u64,
    /// What becomes of the commands of what the lists hide.
    hidden: Hidden,
    /// What the lists were last masked and ordered for; while little changes they stay.
    selected: Option<Selection>,
    /// Whether a blended mesh came since, whose place in the order matters.
    is_blend_stale: bool,
    /// Meshes that came since, and are drawn last and whole.
    unmasked: u32,
    /// What the last picture drew of lists.
    listed: DrawStats,
    /// Why the GPU stopped culling, until it is taken.
    culling_error: Option<RenderError>,
}

/// Choices of a [`PoolRenderer`]. The default is right for any scene; the others are there
/// to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRendererConfig {
    /// How places are handed out. Default: ranges.
    pub placement: Placement,
    /// What becomes of a mesh that is larger than any place. Default: it is refused.
    pub oversize: Oversize,
    /// What becomes of the commands of what is hidden. Default: there are none.
    pub hidden: Hidden,
    /// Bytes of a buffer, at most. Default 128 MiB: what every device that is known binds.
    pub max_buffer_bytes: u64,
}

impl Default for PoolRendererConfig {
    fn default() -> Self {
        Self {
            placement: Placement::default(),
            oversize: Oversize::default(),
            hidden: Hidden::default(),
            max_buffer_bytes: 128 << 20,
        }
    }
}

impl<D: Device> PoolRenderer<D> {
    /// A renderer with room for `quads` quads in `meshes` meshes and a little more, in as
    /// few buffers as there can be. It takes more when it needs more, in steps of a
    /// sixteenth, and gives back what it no longer needs.
    ///
    /// # Errors
    /// `Pool` when the device is out of memory, or `Lost`.
    pub fn new(device: D, quads: u64, meshes: u32) -> Result<Self, RenderError> {
        Self::with_config(device, quads, meshes, PoolRendererConfig::default())
    }

    /// The same with choices.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_config(
        mut device: D,
        quads: u64,
        meshes: u32,
        choices: PoolRendererConfig,
    ) -> Result<Self, RenderError> {
        let PoolRendererConfig { placement, oversize, hidden, max_buffer_bytes } = choices;
        let most = u32::try_from(max_buffer_bytes / size_of::<Quad>() as u64);
        let wanted = room_for(quads);
        let max_quads = device.max_quads().min(most.unwrap_or(u32::MAX));
        let config = Config {
            placement,
            oversize,
            min_buffer_elements: least_buffer_quads(wanted),
            max_buffer_elements: max_quads,
            first_slots: meshes,
            pattern_elements: PATTERN_QUADS,
            ..Config::default()
        };
        let mut pool = VertexPool::new(config)?;
        let mut buffers = PoolBuffers::default();
        let mut upload = PoolUpload { device: &mut device, buffers: &mut buffers };
        let reserved = pool.reserve(wanted, &mut upload);
        reserved.map_err(|error| buffers.explain(error))?;
        Ok(Self {
            device,
            buffers,
            pool,
            opaque: Opaque::new(Cull::Cpu, hidden),
            blended: DrawList::with_config(ListConfig { hidden, ..ListConfig::default() }),
            triangles: None,
            max_buffer_bytes: u64::from(max_quads) * size_of::<Quad>() as u64,
            hidden,
            selected: None,
            is_blend_stale: false,
            unmasked: 0,
            listed: DrawStats::default(),
            culling_error: None,
        })
    }

    /// Tells the pool which frames are done.
    fn release(&mut self) {
        let completed = self.device.completed();
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        self.pool.frames_completed(completed, &mut upload);
        if let Some(triangles) = &mut self.triangles {
            triangles.release(&mut self.device, completed);
        }
    }

    /// Tells the pool which frames are done, and lets it move a little.
    fn tidy(&mut self) {
        self.release();
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        self.pool.defragment(&MOVES, &mut upload);
        self.opaque.moved(&self.pool);
        if let Some(triangles) = &mut self.triangles {
            triangles.defragment(&mut self.device);
        }
    }

    /// Has the device draw what was selected, and what it decides about itself.
    fn submit(
        &mut self,
        view: &View,
        visibility: &Visibility,
        frame: &Frame,
    ) -> Result<DrawStats, RenderError> {
        let Self { device, buffers, pool, opaque, blended, triangles, .. } = self;
        let buffers = buffers.flush(device);
        let of_models = triangles.as_mut().map(|it| it.batches(device, view, visibility));
        let TriangleBatches { opaque: solid, blended: clear, meshes: models } =
            of_models.unwrap_or_default();
        let mut blended_batches = batches(buffers, blended.runs(pool));
        blended_batches.extend(clear);
        let drawn = match opaque {
            Opaque::Listed(list) => {
                let mut opaque_batches = batches(buffers, list.runs(pool));
                opaque_batches.extend(solid);
                let passes = passes(&opaque_batches, &blended_batches);
                device.draw(frame, &passes)?;
                totals(&passes)
            }
            Opaque::Culled(table) => {
                let passes = passes(&solid, &blended_batches);
                let geometries = buffers.all();
                let cull_frame = CullFrame::new(view, visibility, frame);
                let culled = Culled { table, geometries: &geometries, frame: cull_frame };
                device.draw_culled(frame, &passes, &culled)?;
                totals(&passes)
            }
        };
        let meshes = (opaque.drawn() + blended.drawn() + models) as u32;
        Ok(DrawStats { meshes, shown: device.shown(), ..drawn })
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
        mesh.check_place()?;
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        let inserted = self.pool.insert(mesh.quads, &mesh.counts, mesh.draw_data, &mut upload);
        let handle = inserted.map_err(|error| self.buffers.explain(error))?;
        match mesh.layer {
            Layer::Opaque => {
                self.opaque.insert(&self.pool, handle)?;
                self.unmasked += 1;
            }
            Layer::Blended => {
                self.blended.insert(handle)?;
                self.is_blend_stale = true;
            }
        }
        Ok(MeshId(Owner::Pool(handle, mesh.layer)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, layer)) = id else { return Err(RenderError::StaleMesh) };
        mesh.check_place()?;
        if self.pool.data(handle) != Some(&mesh.draw_data) {
            self.selected = None;
        }
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        let replaced =
            self.pool.replace(handle, mesh.quads, &mesh.counts, mesh.draw_data, &mut upload);
        replaced.map_err(|error| self.buffers.explain(error))?;
        if layer == Layer::Opaque {
            self.opaque.replaced(&self.pool, handle);
        }
        Ok(())
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, layer)) = id else { return Err(RenderError::StaleMesh) };
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)?;
        if layer == Layer::Opaque {
            self.opaque.removed(handle);
        }
        Ok(())
    }

    fn max_triangle_bytes(&self) -> u64 {
        self.max_buffer_bytes
    }

    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        self.insert_into_pool(mesh)
    }

    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        self.replace_in_pool(id, mesh)
    }

    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        self.remove_from_pool(id)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        self.device.resize(width, height)
    }

    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        let can = match cull {
            Cull::Cpu => Ok(()),
            Cull::Gpu => self.device.culls(),
        };
        self.cull_by(if can.is_ok() { cull } else { Cull::Cpu })?;
        let backend = || self.device.describe();
        can.map_err(|reason| RenderError::NoCulling { backend: backend(), reason: reason.into() })
    }

    fn cull(&self) -> Cull {
        self.opaque.cull()
    }

    fn take_culling_error(&mut self) -> Option<RenderError> {
        self.culling_error.take()
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        self.device.set_overlay(overlay)
    }

    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        self.device.set_readable(readable)
    }

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let [width, height] = self.device.size();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let frame = view.frame(width, height);
        self.tidy();
        self.select(view, &visibility);
        let mut drawn = self.submit(view, &visibility, &frame);
        if let Err(error @ RenderError::NoCulling { .. }) = drawn {
            self.cull_by(Cull::Cpu)?;
            self.culling_error = Some(error);
            self.select(view, &visibility);
            drawn = self.submit(view, &visibility, &frame);
        }
        self.listed = drawn?;
        let frame = self.device.submitted();
        self.pool.frame_submitted(frame);
        self.triangles.iter_mut().for_each(|triangles| triangles.submitted(frame));
        Ok(self.drawn())
    }

    fn drawn(&mut self) -> DrawStats {
        let DrawStats { commands, quads, meshes, .. } = self.listed;
        let counts = match self.opaque {
            Opaque::Listed(_) => None,
            Opaque::Culled(_) => self.device.cull_counts(),
        };
        let culled = counts.unwrap_or_default();
        DrawStats {
            commands: commands + culled.commands,
            quads: quads + culled.quads,
            meshes: meshes + culled.meshes,
            ..self.listed
        }
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.device.finish()?;
        // What waited for these frames is free for the meshes that come before the next.
        self.release();
        Ok(())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.device.read_image()
    }

    fn held(&self) -> HeldStats {
        let stats = self.pool.stats();
        let mut held = HeldStats {
            meshes: stats.meshes,
            commands: self.pool.command_count(),
            used_bytes: stats.used_bytes,
            reserved_bytes: stats.capacity_bytes,
        };
        self.triangles.iter().for_each(|triangles| triangles.add_to(&mut held));
        held
    }

    fn pool_stats(&self) -> Option<PoolStats> {
        Some(self.pool.stats())
    }

    fn pool_ranges(&self) -> Vec<PoolRange> {
        self.pool.ranges()
    }
}

/// Quads that a pool renderer makes room for at first, for a scene of so many.
pub const fn room_for(quads: u64) -> u64 {
    quads.saturating_add(quads / SPARE_DIVISOR)
}

/// The least buffer of a scene that needs so many quads: a small one shall not take many
/// times as much.
fn least_buffer_quads(wanted: u64) -> u32 {
    match u32::try_from(wanted) {
        Ok(0) | Err(_) => LEAST_BUFFER_QUADS,
        Ok(wanted) => wanted.clamp(LEAST_SCENE_QUADS, LEAST_BUFFER_QUADS),
    }
}

/// The runs of a list, each with the buffer that it reads.
fn batches<'a, G>(
    buffers: FlushedBuffers<'a, G>,
    (runs, commands): (&[CommandRun], &'a [DrawCommand]),
) -> Vec<Batch<'a, G>> {
    let batch = |run: &CommandRun| {
        let geometry = buffers.get(run.buffer)?;
        Some(Batch::new(geometry, &commands[run.commands.clone()]).trusted())
    };
    runs.iter().filter_map(batch).collect()
}

/// All passes, each batch as one indirect call.
const fn passes<'a, G>(opaque: &'a [Batch<'a, G>], blended: &'a [Batch<'a, G>]) -> Passes<'a, G> {
    Passes { opaque, blended, indirect: true }
}

/// Commands, quads and triangles of all batches.
pub(crate) fn totals<G>(passes: &Passes<'_, G>) -> DrawStats {
    let mut drawn = DrawStats::default();
    for batch in passes.batches() {
        drawn.commands += batch.commands.len() as u32;
        match batch.indices {
            None => drawn.quads += quad_count(batch.commands),
            Some(_) => drawn.triangles += triangle_count(batch.commands),
        }
    }
    drawn
}

/// Triangles that commands with indices of their own draw.
fn triangle_count(commands: &[DrawCommand]) -> u64 {
    commands.iter().map(|command| u64::from(command.index_count / 3)).sum()
}

/// Quads that the commands draw.
pub(crate) fn quad_count(commands: &[DrawCommand]) -> u64 {
    let indices: u64 = commands.iter().map(|command| u64::from(command.index_count)).sum();
    indices / u64::from(drystone_mesh::INDICES_PER_QUAD)
}

#[cfg(test)]
mod tests;
