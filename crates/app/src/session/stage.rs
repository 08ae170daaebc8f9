use std::time::Duration;

use drystone_render::{Cull, Destination, DrawStats, Image, Overlay, RenderError, Renderer, View};
use drystone_world::{LodData, VoxelRay};
use glam::DVec3;
use web_time::Instant;

use crate::scene::{Capacity, Meshing, OpenDevice, RendererKind, Size, VoxelScene};
use crate::{Content, LodLimits, Pace, Shown};

/// A scene on a device, and the scene that replaces it.
pub struct Stage {
    scene: Shown,
    /// Scene of the same voxels that replaces the current one once it is complete.
    next: Option<Next>,
    /// Device that the renderers share.
    device: OpenDevice,
    /// Whether the next scene waits: a large edit is applied in parts, to the current scene only.
    is_held: bool,
}

/// Scene that is being prepared, with its renderer.
struct Next {
    scene: Shown,
    kind: RendererKind,
    begun: Instant,
}

/// While the camera moves, levels of detail never settle. After this time, a scene with a mesh for
/// every part is shown.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);

impl Stage {
    pub(super) fn new(scene: Shown, device: OpenDevice) -> Self {
        Self { scene, next: None, device, is_held: false }
    }

    pub(super) fn into_content(self) -> Content {
        self.scene.into_content()
    }

    /// Begins to show the same voxels with other limits; [`follow`](Self::follow) continues.
    pub(super) fn change_limits(
        &mut self,
        limits: fn(LodLimits) -> LodLimits,
        kind: RendererKind,
    ) -> Result<(), RenderError> {
        match self.scene.limits() {
            Some(now) => self.prepare_next(limits(now), kind),
            None => Ok(()),
        }
    }

    /// Begins a change of renderer, with the options of the mesher that it supports;
    /// [`follow`](Self::follow) continues.
    pub(super) fn change_renderer(
        &mut self,
        kind: RendererKind,
        meshing: Meshing,
    ) -> Result<(), RenderError> {
        match self.scene.limits() {
            Some(limits) => {
                let config = limits.config.with_meshing(meshing);
                self.prepare_next(LodLimits { config, ..limits }, kind)
            }
            None => {
                let renderer = self.device.renderer(kind, Capacity::default())?;
                self.scene.change_model_renderer(renderer);
                Ok(())
            }
        }
    }

    /// Begins to prepare a scene of the same voxels in a new renderer.
    fn prepare_next(&mut self, limits: LodLimits, kind: RendererKind) -> Result<(), RenderError> {
        self.drop_next();
        let Some(content) = self.scene.content(limits) else { return Ok(()) };
        let renderer = self.device.renderer(kind, content.capacity())?;
        let scene = Shown::new(content, limits.config.meshing, renderer, Pace::Frames)?;
        self.next = Some(Next { scene, kind, begun: Instant::now() });
        Ok(())
    }

    fn drop_next(&mut self) {
        if self.next.take().is_some() {
            self.scene.limit_cache();
        }
    }

    /// Begins to mesh a world again; [`follow`](Self::follow) continues.
    pub(super) fn change_meshing(&mut self, meshing: Meshing) {
        self.scene.change_meshing(meshing);
    }

    /// Cancels all changes.
    pub(super) fn stop_change(&mut self) {
        self.scene.stop_change();
        self.drop_next();
    }

    /// Prepares the next scene again after an edit, which goes to the current scene only.
    pub(super) fn edited(&mut self) -> Result<(), RenderError> {
        match self.next.as_ref().map(|next| (next.scene.limits(), next.kind)) {
            Some((Some(limits), kind)) => self.prepare_next(limits, kind),
            _ => Ok(()),
        }
    }

    /// Holds or releases the next scene while an edit is applied in parts.
    pub(super) const fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Sets where culling runs. Returns the error of a renderer that cannot cull there.
    pub(super) fn set_cull(&mut self, cull: Cull) -> Result<Option<RenderError>, RenderError> {
        set_cull(self.renderer(), cull)
    }

    /// Updates the meshes for `view` in a picture of this size, and continues a change for about
    /// `time`. Returns the finished fraction of the change, or `None` if there is none.
    ///
    /// # Errors
    /// If a device failed, or if the next renderer refuses the meshes, which ends the change.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        let part = match self.scene.follow(view, size, time) {
            // The scene that is replaced may have no memory for all of its meshes.
            Err(error) if self.next.is_none() || matches!(error, RenderError::Lost { .. }) => {
                return Err(error);
            }
            followed => followed.unwrap_or_default(),
        };
        let Some(mut next) = self.next.take() else { return Ok(part) };
        next.scene.follow(view, size, time).inspect_err(|_| self.scene.limit_cache())?;
        if !self.is_held && self.can_show(&next) {
            self.scene = next.scene;
            return Ok(None);
        }
        let part = next.scene.part_of(&mut self.scene);
        self.next = Some(next);
        Ok(Some(part))
    }

    /// Whether the next scene has all meshes. A moving camera makes it late: then it needs a mesh
    /// for every part, at any level.
    fn can_show(&self, next: &Next) -> bool {
        let is_moving = self.scene.lags() || self.scene.limits() != next.scene.limits();
        let is_late = is_moving && next.begun.elapsed() > MAX_CHANGE_TIME;
        next.scene.is_whole() && (is_late || !next.scene.lags())
    }

    /// Moves voxels that change by themselves to their next frame, once the meshes of the last one are
    /// shown and no change is in progress.
    pub(super) fn advance(&mut self) -> Result<(), RenderError> {
        if self.lags() || self.is_held { Ok(()) } else { self.scene.advance().map(drop) }
    }

    pub(super) fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.scene.draw(view)
    }

    pub(super) fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.scene.picture(view)
    }

    /// Draws a picture without panels, which have to be set again afterwards. The window keeps its
    /// picture.
    pub(super) fn still(&mut self, view: &View) -> Result<Image, RenderError> {
        let renderer = self.renderer();
        renderer.output().set_overlay(&Overlay::default())?;
        renderer.output().set_destination(Destination::Kept)?;
        let picture = self.scene.picture(view);
        self.renderer().output().set_destination(Destination::Window)?;
        picture.map(|(picture, _)| picture)
    }

    /// Returns the renderer that draws.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.scene.renderer()
    }

    /// Returns the scene of the voxels; `None` for models.
    pub fn voxel_scene(&mut self) -> Option<&mut VoxelScene> {
        self.scene.voxel_scene()
    }

    /// Returns the distance, in voxels, at which a ray hits the content.
    pub(super) fn hit(&self, ray: &VoxelRay) -> Option<f64> {
        self.scene.hit(ray)
    }

    /// Returns about how far the nearest surface is from `at`, in voxels. `None` if that is unknown.
    pub(super) fn clearance(&self, at: DVec3, ahead: DVec3) -> Option<f64> {
        self.scene.clearance(at, ahead)
    }

    /// Returns the voxels; `None` for models.
    pub fn data(&self) -> Option<&LodData> {
        self.scene.data()
    }

    /// Whether voxels are shown at levels of detail, or will be when a change is complete.
    pub fn has_levels(&self) -> bool {
        self.next.as_ref().map_or(&self.scene, |next| &next.scene).has_levels()
    }

    /// Whether the meshes lag behind the camera, or those of another scene are missing.
    pub fn lags(&self) -> bool {
        self.scene.lags() || self.next.is_some()
    }

    /// Whether the next frame differs without input: voxels change by themselves, or more meshes come.
    /// `has_said_end`: whether it was said that nothing more is received.
    pub(super) fn is_active(&self, has_said_end: bool) -> bool {
        let is_cut_off = has_said_end && self.scene.is_cut_off() && self.next.is_none();
        self.is_moving() || (self.lags() && !is_cut_off)
    }

    /// Whether the voxels change by themselves.
    fn is_moving(&self) -> bool {
        self.data().is_some_and(|data| data.source().motion().is_some())
    }

    /// Whether a part could not be read and is retried by drawing.
    pub fn is_broken(&self) -> bool {
        self.scene.is_broken()
    }

    /// Whether the renderer has no memory for full detail.
    pub(super) fn is_full(&self) -> bool {
        self.scene.is_full()
    }

    /// Whether a polygon model is shown.
    pub fn is_model(&self) -> bool {
        self.scene.data().is_none()
    }
}

/// Renderer on a device, for [`Session::attach`](super::Session::attach).
pub struct Prepared {
    pub(super) device: OpenDevice,
    pub(super) renderer: Box<dyn Renderer>,
}

impl Prepared {
    pub(super) fn new(
        device: OpenDevice,
        kind: RendererKind,
        content: Option<&Content>,
    ) -> Result<Self, RenderError> {
        let capacity = content.map_or(Capacity::default(), Content::capacity);
        let renderer = device.renderer(kind, capacity)?;
        Ok(Self { device, renderer })
    }

    /// Shows content, which is lost with the device if this fails.
    pub(super) fn show(self, content: Content, meshing: Meshing) -> Result<Stage, RenderError> {
        let scene = Shown::new(content, meshing, self.renderer, Pace::Frames)?;
        Ok(Stage::new(scene, self.device))
    }
}

/// Sets where culling runs. Returns the error of a renderer that cannot cull there.
fn set_cull(renderer: &mut dyn Renderer, cull: Cull) -> Result<Option<RenderError>, RenderError> {
    match renderer.set_cull(cull) {
        Err(error @ RenderError::NoCulling { .. }) => Ok(Some(error)),
        done => done.map(|()| None),
    }
}

#[cfg(test)]
mod tests;
