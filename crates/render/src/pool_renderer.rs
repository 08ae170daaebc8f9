use drystone_mesh::Quad;
use drystone_pool::{DrawList, HiddenCommands, ListConfig, MoveBudget, VertexPool};

use crate::{
    cull::{Cull, CullCounts},
    device::{Device, DeviceInfo, Output, Submitted, sealed::Sealed},
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, MeshData, MeshId, Owner},
    passes::{Passes, quad_count, triangle_count},
    renderer::{DrawStats, HeldStats, Renderer},
    shadows::ShadowPlan,
    triangle_mesh::{TriangleMesh, TrianglesId},
    view::View,
    visibility::Visibility,
};

mod buffers;
mod casters;
mod config;
mod opaque;
mod sorted_meshes;
mod triangles;

#[cfg(feature = "wgpu")]
use crate::cull::{Culled, cull_view};
pub use buffers::{FlushedBuffers, PoolGeometries, PoolUpload};
use casters::Casters;
pub use config::{PoolRendererConfig, capacity_for};
pub(crate) use opaque::visible_parts;
use opaque::{Opaque, Pool};
pub(crate) use sorted_meshes::{SortedMeshes, Unsorted};
use triangles::{TriangleBatches, Triangles};

/// Limit for moves before a frame that defragment the pool: some hundredths of a millisecond of GPU
/// time.
const MOVES: MoveBudget = MoveBudget::DEFAULT.with_bytes(256 << 10).with_moves(64);

/// Number of opaque meshes that may be inserted before the lists are masked again for the same
/// view. An edit inserts few meshes; they are drawn last, without masking.
const MAX_UNMASKED: u32 = 64;

/// Stores all meshes in a few buffers. Draws all opaque meshes with one indirect call for each
/// buffer, and blended ones with one call wherever the buffer changes.
///
/// # Cost
/// A picture reads a few words of each mesh to mask and sort it; nothing if the view is the same
/// and few meshes are new. It uploads 20 bytes for each command, and makes two draw calls for each
/// buffer, for any number of meshes. If the [GPU culls](Renderer::set_cull), an opaque mesh costs
/// the CPU 76 bytes of upload when it changes or moves (more after thousands of changes), and a buffer
/// takes two draw calls. A blended mesh whose quads hide each other is written again when the camera crosses
/// a plane between them.
///
/// # Limits
/// The pool does not learn which meshes the GPU culls. When it is full, the least recently drawn
/// meshes that it names are those inserted or replaced longest ago.
pub struct PoolRenderer<D: Device> {
    device: D,
    buffers: PoolGeometries<D::Geometry>,
    pool: Pool,
    opaque: Opaque,
    blended: SortedMeshes,
    casters: Casters,
    /// Polygon models; `None` until the first is inserted.
    triangles: Option<Box<Triangles<D::Geometry>>>,
    /// Maximum size of a buffer, in bytes.
    max_buffer_bytes: u64,
    /// Treatment of hidden draw commands.
    hidden: HiddenCommands,
    selection: Selection,
    /// Counts of the last picture, without meshes culled by the GPU.
    listed: DrawStats,
    /// Why the GPU stopped culling, until the error is taken.
    culling_error: Option<RenderError>,
}

impl<D: Device> PoolRenderer<D> {
    /// The device.
    #[cfg(feature = "wgpu")]
    pub(crate) const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }
}

/// View that the lists were last masked and sorted for. They are reused while little changes.
#[derive(Default)]
struct Selection {
    /// The view and the size of its picture, if the lists may be reused.
    of: Option<(View, [u32; 2])>,
    /// Whether a blended mesh was inserted since, or needs another mask, so that their list must be
    /// masked and sorted again.
    is_blend_stale: bool,
    /// Number of meshes inserted since, which are drawn last with all face directions.
    unmasked: u32,
}

impl<D: Device> PoolRenderer<D> {
    /// Creates a renderer with a capacity of `quads` quads in `meshes` meshes, and a small reserve,
    /// in as few buffers as possible. It grows in steps of a sixteenth as needed, and frees buffers
    /// that have been empty for 8 frames.
    ///
    /// # Errors
    /// `Pool` when the device is out of memory, or `Lost`.
    pub fn new(device: D, quads: u64, meshes: u32) -> Result<Self, RenderError> {
        Self::with_config(device, quads, meshes, PoolRendererConfig::default())
    }

    /// Creates a renderer with a capacity of `quads` quads in `meshes` meshes and this
    /// configuration.
    ///
    /// # Errors
    /// `Pool` when the device is out of memory, or `Lost`.
    pub fn with_config(
        mut device: D,
        quads: u64,
        meshes: u32,
        choices: PoolRendererConfig,
    ) -> Result<Self, RenderError> {
        let (capacity, hidden) = (capacity_for(quads), choices.hidden);
        let config = choices.pool_config(capacity, meshes, device.info().max_quads);
        let max_buffer_bytes = u64::from(config.max_buffer_elements) * size_of::<Quad>() as u64;
        let mut pool = VertexPool::new(config)?;
        let mut buffers = PoolGeometries::default();
        let mut upload = PoolUpload { device: &mut device, buffers: &mut buffers };
        let reserved = pool.reserve(capacity, &mut upload);
        reserved.map_err(|error| buffers.explain(error))?;
        let blended = DrawList::with_config(ListConfig::default().with_hidden(hidden));
        Ok(Self {
            device,
            buffers,
            opaque: Opaque::new(Cull::Cpu, hidden, &pool),
            pool,
            blended: SortedMeshes::new(blended),
            casters: Casters::default(),
            triangles: None,
            max_buffer_bytes,
            hidden,
            selection: Selection::default(),
            listed: DrawStats::default(),
            culling_error: None,
        })
    }

    /// Reports completed frames to the pool, which then frees their ranges.
    fn release(&mut self) {
        let completed = self.device.progress().completed;
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        self.pool.frames_completed(completed, &mut upload);
        if let Some(triangles) = &mut self.triangles {
            triangles.release(&mut self.device, completed);
        }
    }

    /// Reports completed frames to the pool. Defragments it within its budget if no picture of the
    /// caller can still read the old ranges.
    fn maintain(&mut self) {
        self.release();
        if !self.device.can_move() {
            return;
        }
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        self.pool.defragment(&MOVES, &mut upload);
        self.opaque.moved(&self.pool);
        if let Some(triangles) = &mut self.triangles {
            triangles.defragment(&mut self.device);
        }
    }

    /// Selects where meshes are culled from the next picture on.
    fn cull_by(&mut self, cull: Cull) -> Result<(), RenderError> {
        if cull == self.opaque.cull() {
            return Ok(());
        }
        let mut opaque = Opaque::new(cull, self.hidden, &self.pool);
        for (mesh, _) in self.pool.iter().filter(|(mesh, _)| !self.blended.list.contains(*mesh)) {
            opaque.insert(&self.pool, mesh)?;
        }
        self.opaque = opaque;
        self.selection.of = None;
        Ok(())
    }

    /// Masks and sorts the lists for `view`, and the quads of blended meshes.
    fn select(&mut self, view: &View, visibility: &Visibility) -> Result<(), RenderError> {
        let of = Some((*view, self.device.info().size));
        let selection = &mut self.selection;
        // If sorting fails halfway, the lists are for no view.
        let is_same = selection.of.take() == of && selection.unmasked <= MAX_UNMASKED;
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        let which = if is_same { Unsorted::Written } else { Unsorted::All };
        self.blended.sort(&mut self.pool, &mut upload, (view, visibility), which)?;
        selection.of = of;
        if !is_same {
            selection.unmasked = 0;
            self.opaque.select(&self.pool, view, visibility);
        }
        if !is_same || selection.is_blend_stale {
            selection.is_blend_stale = false;
            self.blended.mask(&self.pool, view, visibility);
            self.blended.list.sort(&self.pool, |data| visibility.blend_key(data));
        }
        Ok(())
    }

    /// Submits the selected meshes, and the cull table if the GPU culls.
    fn submit(
        &mut self,
        view: &View,
        visibility: &Visibility,
        plan: Option<&ShadowPlan>,
    ) -> Result<DrawStats, RenderError> {
        let Self { device, buffers, pool, opaque, blended, casters, triangles, .. } = self;
        let blended = &mut blended.list;
        let DeviceInfo { size: [width, height], .. } = device.info();
        let (frame, bloom) = (&view.frame(width, height), view.bloom);
        let buffers = buffers.flush(device);
        let redrawn = plan.map_or(&[][..], |plan| &plan.redrawn);
        let of_models =
            triangles.as_mut().map(|it| it.batches(device, (view, visibility), redrawn));
        let TriangleBatches { opaque: solid, blended: clear, casters: models, meshes } =
            of_models.unwrap_or_default();
        let shadows = match plan {
            Some(plan) => Some(casters.pass(plan, (opaque, blended, pool), (buffers, models))?),
            None => None,
        };
        let shadows = shadows.as_ref();
        let mut blended_batches = buffers.batches(blended.runs(pool));
        blended_batches.extend(clear);
        let (submitted, drawn) = match opaque {
            Opaque::Listed(list) => {
                let mut opaque_batches = buffers.batches(list.runs(pool));
                opaque_batches.extend(solid);
                let (opaque, blended) = (&opaque_batches, &blended_batches);
                let passes = Passes { opaque, blended, shadows, bloom, ..Passes::default() };
                (device.draw(frame, &passes)?, totals(&passes))
            }
            #[cfg(feature = "wgpu")]
            Opaque::Culled(table) => {
                let geometries = buffers.all();
                let view = cull_view(view, visibility, frame);
                let culled = Culled { table, pool, geometries: &geometries, view };
                let (opaque, blended, culled) = (&solid, &blended_batches, Some(&culled));
                let passes =
                    Passes { opaque, blended, culled, shadows, bloom, ..Passes::default() };
                (device.draw(frame, &passes)?, totals(&passes))
            }
        };
        let meshes = (opaque.drawn() + blended.drawn() + meshes) as u32;
        let Submitted { frame, shown } = submitted;
        pool.frame_submitted(frame);
        triangles.iter_mut().for_each(|triangles| triangles.submitted(frame));
        Ok(DrawStats { meshes, shown, ..drawn })
    }
}

impl<D: Device> Sealed for PoolRenderer<D> {}

impl<D: Device> Renderer for PoolRenderer<D> {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn output(&mut self) -> &mut dyn Output {
        &mut self.device
    }

    fn insert(&mut self, mesh: &MeshData<'_>) -> Result<MeshId, RenderError> {
        mesh.check_draw_data()?;
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        let inserted = self.blended.insert(&mut self.pool, mesh, &mut upload);
        let handle = inserted.map_err(|error| self.buffers.explain(error))?;
        match mesh.layer {
            Layer::Opaque => {
                self.opaque.insert(&self.pool, handle)?;
                self.casters.insert(handle, &mesh.draw_data)?;
                self.selection.unmasked += 1;
            }
            Layer::Blended => {
                self.blended.list.insert(handle)?;
                self.selection.is_blend_stale = true;
            }
        }
        Ok(MeshId(Owner::Pool(handle, mesh.layer)))
    }

    fn replace(&mut self, id: MeshId, mesh: &MeshData<'_>) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, layer)) = id else { return Err(RenderError::StaleMesh) };
        if layer == Layer::Opaque {
            self.opaque.preload(handle);
        }
        mesh.check_draw_data()?;
        let old = self.pool.data(handle).copied();
        if old != Some(mesh.draw_data) {
            self.selection.of = None;
        }
        let mut upload = PoolUpload { device: &mut self.device, buffers: &mut self.buffers };
        let new = (handle, &MeshData { layer, ..*mesh });
        let replaced = self.blended.replace(&mut self.pool, new, &mut upload);
        // A blended mesh may mix its face directions now, or no longer.
        self.selection.is_blend_stale |= replaced.map_err(|error| self.buffers.explain(error))?;
        if layer == Layer::Opaque {
            self.opaque.replaced(&self.pool, handle);
            old.iter().chain([&mesh.draw_data]).for_each(|data| self.casters.cache.changed(data));
        }
        Ok(())
    }

    fn remove(&mut self, id: MeshId) -> Result<(), RenderError> {
        let MeshId(Owner::Pool(handle, layer)) = id else { return Err(RenderError::StaleMesh) };
        let old = self.pool.data(handle).copied();
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)?;
        self.blended.removed(handle);
        if layer == Layer::Opaque {
            self.opaque.removed(handle);
            old.iter().for_each(|data| self.casters.cache.changed(data));
        }
        Ok(())
    }

    fn max_triangle_bytes(&self) -> u64 {
        self.max_buffer_bytes
    }

    fn insert_triangles(&mut self, mesh: &TriangleMesh<'_>) -> Result<TrianglesId, RenderError> {
        let bounds = mesh.bounds()?;
        let triangles = match &mut self.triangles {
            Some(triangles) => triangles,
            none => none.insert(Box::new(Triangles::new(self.max_buffer_bytes)?)),
        };
        self.casters.cache.changed(&bounds);
        triangles.insert(&mut self.device, mesh, bounds)
    }

    fn replace_triangles(
        &mut self,
        id: TrianglesId,
        mesh: &TriangleMesh<'_>,
    ) -> Result<(), RenderError> {
        let bounds = mesh.bounds()?;
        let (triangles, handle) = triangles::own(&mut self.triangles, id)?;
        let old = triangles.bounds(handle);
        old.iter().chain([&bounds]).for_each(|bounds| self.casters.cache.changed(bounds));
        triangles.replace(&mut self.device, (handle, mesh), bounds)
    }

    fn remove_triangles(&mut self, id: TrianglesId) -> Result<(), RenderError> {
        let (triangles, handle) = triangles::own(&mut self.triangles, id)?;
        triangles.bounds(handle).iter().for_each(|bounds| self.casters.cache.changed(bounds));
        triangles.remove(handle)
    }

    fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        let can = match cull {
            Cull::Cpu => Ok(()),
            Cull::Gpu => self.device.info().culling,
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

    fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let DeviceInfo { size: [width, height], .. } = self.device.info();
        let visibility = Visibility::new(&view.camera, width as f32 / height.max(1) as f32);
        let kept = self.device.kept_shadows();
        let plan = self.casters.cache.plan(view, [width, height], kept);
        self.maintain();
        self.select(view, &visibility)?;
        let mut drawn = self.submit(view, &visibility, plan.as_ref());
        if let Err(error @ RenderError::NoCulling { .. }) = drawn {
            self.cull_by(Cull::Cpu)?;
            self.culling_error = Some(error);
            self.select(view, &visibility)?;
            drawn = self.submit(view, &visibility, plan.as_ref());
        }
        self.listed = drawn.inspect_err(|_| self.casters.cache.clear())?;
        Ok(self.drawn())
    }

    fn drawn(&mut self) -> DrawStats {
        let DrawStats { commands, quads, meshes, .. } = self.listed;
        let counts: Option<CullCounts> = match self.opaque {
            Opaque::Listed(_) => None,
            #[cfg(feature = "wgpu")]
            Opaque::Culled(_) => self.device.progress().culled,
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
        // Ranges that waited for these frames are free for meshes inserted before the next frame.
        self.release();
        Ok(())
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

    fn pool(&self) -> Option<&VertexPool<Quad, DrawData>> {
        Some(&self.pool)
    }
}

/// Sums commands, quads and triangles of all batches of a picture.
pub(crate) fn totals<G>(passes: &Passes<'_, G>) -> DrawStats {
    let shadow_maps = passes.shadows.map_or(0, |it| it.redrawn.len()) as u32;
    let mut drawn = DrawStats { shadow_maps, ..DrawStats::default() };
    for batch in passes.scene_batches() {
        drawn.commands += batch.commands.len() as u32;
        match batch.indices {
            None => drawn.quads += quad_count(batch.commands),
            Some(_) => drawn.triangles += triangle_count(batch.commands),
        }
    }
    drawn
}

#[cfg(test)]
mod tests;
