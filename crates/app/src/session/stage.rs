use std::time::Duration;

use drystone_render::{Cull, Destination, DrawStats, Image, Overlay, RenderError, Renderer, View};
use drystone_world::LodData;
use web_time::Instant;

use super::Session;
use crate::scene::{Capacity, Meshing, OpenDevice, RendererKind, Size, VoxelScene};
use crate::{Content, LodLimits, Pace, Shown};

/// A scene on a device, and the scene that replaces it.
pub struct Stage {
    scene: Shown,
    /// Scene that replaces the current one once it is complete, and its start. Edits already go to
    /// it.
    next: Option<(Shown, Instant)>,
    /// Device that the renderers share.
    device: OpenDevice,
}

/// While the camera moves, levels of detail never settle. After this time, a scene with a mesh for
/// every part is shown.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);

impl Stage {
    pub(super) fn new(scene: Shown, device: OpenDevice) -> Self {
        Self { scene, next: None, device }
    }

    pub(super) fn into_content(self) -> Content {
        self.next.map_or(self.scene, |(next, _)| next).into_content()
    }

    /// Shows the same voxels with other limits, once their meshes are complete. Returns the error of
    /// a renderer that cannot cull as requested.
    pub(super) fn change_limits(
        &mut self,
        limits: fn(LodLimits) -> LodLimits,
        (meshing, kind, cull): (Meshing, RendererKind, Cull),
    ) -> Result<Option<RenderError>, RenderError> {
        let Some(content) = self.scene.with_limits(limits) else { return Ok(None) };
        let mut renderer = self.device.renderer(kind, content.capacity())?;
        let refused = set_cull(renderer.as_mut(), cull)?;
        let next = Shown::new(content, meshing, renderer, Pace::Frames)?;
        self.next = Some((next, Instant::now()));
        Ok(refused)
    }

    /// Begins to mesh a world again; [`follow`](Self::follow) continues.
    pub(super) fn change_meshing(&mut self, meshing: Meshing) {
        self.scene.change_meshing(meshing);
    }

    /// Begins a change of renderer; [`follow`](Self::follow) continues.
    pub(super) fn change_renderer(&mut self, kind: RendererKind) -> Result<(), RenderError> {
        self.scene.change_renderer(&self.device, kind)
    }

    /// Cancels a change of renderer or meshing.
    pub(super) fn stop_change(&mut self) {
        self.scene.stop_change();
    }

    /// Handles edited voxels.
    pub(super) fn edited(&mut self) -> Result<(), RenderError> {
        self.scene.edited(&self.device)
    }

    /// Holds or releases a change of renderer while an edit is applied in parts.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.scene.hold(is_held);
        if let Some((next, _)) = &mut self.next {
            next.hold(is_held);
        }
    }

    /// Sets where culling runs. Returns the error of a renderer that cannot cull there.
    pub(super) fn set_cull(&mut self, cull: Cull) -> Result<Option<RenderError>, RenderError> {
        set_cull(self.renderer(), cull)
    }

    /// Updates the meshes for `view` in a picture of this size, and continues a change for about
    /// `time`. Returns the finished fraction of the change, or `None` if there is none.
    pub(super) fn follow(
        &mut self,
        view: &View,
        size: Size,
        time: Duration,
    ) -> Result<Option<f32>, RenderError> {
        if let Some((next, begun)) = &mut self.next {
            next.follow(view, size, time)?;
            if (!next.lags() || next.is_whole() && begun.elapsed() > MAX_CHANGE_TIME)
                && let Some((next, _)) = self.next.take()
            {
                self.scene = next;
            }
            return Ok(None);
        }
        self.scene.follow(view, size, time)
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

    /// Returns the scene that edits go to; `None` for models.
    pub fn voxel_scene(&mut self) -> Option<&mut VoxelScene> {
        self.next.as_mut().map_or(&mut self.scene, |(next, _)| next).voxel_scene()
    }

    /// Returns the scene that replaces the current one, or else the current one.
    fn newest(&self) -> &Shown {
        self.next.as_ref().map_or(&self.scene, |(next, _)| next)
    }

    /// Returns the voxels; `None` for models.
    pub fn data(&self) -> Option<&LodData> {
        self.newest().data()
    }

    /// Whether voxels are shown at levels of detail.
    pub fn has_levels(&self) -> bool {
        self.newest().has_levels()
    }

    /// Whether the meshes lag behind the camera.
    pub fn lags(&self) -> bool {
        self.newest().lags()
    }

    /// Whether a part could not be read and is retried by drawing.
    pub fn is_broken(&self) -> bool {
        self.scene.is_broken()
    }

    /// Whether another scene is being prepared.
    pub const fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// Whether a polygon model is shown.
    pub const fn is_model(&self) -> bool {
        matches!(self.scene, Shown::Model(_))
    }
}

/// Renderer on a device, for [`Session::attach`].
pub struct Prepared {
    device: OpenDevice,
    renderer: Box<dyn Renderer>,
}

/// Scenes on devices.
impl Session {
    /// Creates a renderer on a device, for the content that waits for one.
    ///
    /// # Errors
    /// If the device is out of memory, or lost.
    pub fn prepare(&self, device: OpenDevice) -> Result<Prepared, RenderError> {
        let capacity = self.waiting.as_ref().map_or(Capacity::default(), Content::capacity);
        let renderer = device.renderer(self.renderer, capacity)?;
        Ok(Prepared { device, renderer })
    }

    /// Shows the waiting content on a device. Ends a change of renderer or meshing.
    ///
    /// # Errors
    /// If the device fails. Then [`has_content`](Self::has_content) tells whether the content still
    /// waits or is lost with the device.
    pub fn attach(&mut self, prepared: Prepared) -> Result<(), RenderError> {
        let Some(content) = self.waiting.take() else { return Ok(()) };
        let Prepared { device, renderer } = prepared;
        let scene = Shown::new(content, self.meshing(), renderer, Pace::Frames)?;
        let mut stage = Stage::new(scene, device);
        match stage.set_cull(self.cull) {
            Ok(refused) => self.note(refused),
            Err(error) => {
                self.waiting = Some(stage.into_content());
                return Err(error);
            }
        }
        (self.stage, self.change) = (Some(stage), None);
        self.camera.view.atmosphere.ambient_occlusion = self.camera.look().strength();
        self.pace.last = Instant::now();
        Ok(())
    }

    /// Closes the device; the content waits for another. Edits in progress are finished first: they
    /// need no device and must not be left half done.
    pub fn detach(&mut self) {
        self.finish_editing();
        if let Some(stage) = self.stage.take() {
            self.waiting = Some(stage.into_content());
        }
    }
}

/// Sets where culling runs. Returns the error of a renderer that cannot cull there.
fn set_cull(renderer: &mut dyn Renderer, cull: Cull) -> Result<Option<RenderError>, RenderError> {
    match renderer.set_cull(cull) {
        Err(error @ RenderError::NoCulling { .. }) => Ok(Some(error)),
        done => done.map(|()| None),
    }
}
