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
    /// Scene of the same voxels that replaces the current one once it is complete.
    next: Option<Next>,
    /// Device that the renderers share.
    device: OpenDevice,
    /// Whether the change waits: a large edit is applied in parts, to the current scene only.
    is_held: bool,
}

/// Scene that is being prepared.
struct Next {
    scene: Shown,
    begun: Instant,
    /// The limits of the voxels, and how they are drawn.
    limits: fn(LodLimits) -> LodLimits,
    how: Drawing,
}

/// Meshing, renderer and culling of a scene.
pub(super) type Drawing = (Meshing, RendererKind, Cull);

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

    /// Shows the same voxels with other limits, once their meshes are complete. Returns the error of
    /// a renderer that cannot cull as requested.
    pub(super) fn change_limits(
        &mut self,
        limits: fn(LodLimits) -> LodLimits,
        how: Drawing,
    ) -> Result<Option<RenderError>, RenderError> {
        let (meshing, kind, cull) = how;
        self.next = None;
        let Some(content) = self.scene.with_limits(limits) else { return Ok(None) };
        let mut renderer = self.device.renderer(kind, content.capacity())?;
        let refused = set_cull(renderer.as_mut(), cull)?;
        let scene = Shown::new(content, meshing, renderer, Pace::Frames)?;
        self.next = Some(Next { scene, begun: Instant::now(), limits, how });
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
        self.next = None;
    }

    /// Restarts a change of the renderer or of the limits after an edit, which goes to the current
    /// scene only.
    pub(super) fn edited(&mut self) -> Result<(), RenderError> {
        if let Some(Next { limits, how, .. }) = self.next.take() {
            self.change_limits(limits, how)?;
        }
        self.scene.edited(&self.device)
    }

    /// Holds or releases a change of renderer while an edit is applied in parts.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
        self.scene.hold(is_held);
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
        if let Some(Next { scene, begun, .. }) = &mut self.next {
            if let Err(error) = scene.follow(view, size, time) {
                self.next = None;
                return Err(error);
            }
            let is_complete =
                !scene.lags() || scene.is_whole() && begun.elapsed() > MAX_CHANGE_TIME;
            if is_complete
                && !self.is_held
                && let Some(Next { scene, .. }) = self.next.take()
            {
                self.scene = scene;
            }
        }
        match self.scene.follow(view, size, time) {
            // The scene that is replaced may have no memory for all of its meshes.
            Err(error) if self.next.is_some() && !matches!(error, RenderError::Lost { .. }) => {
                Ok(None)
            }
            followed => followed,
        }
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

    /// Whether a part could not be read and is retried by drawing.
    pub fn is_broken(&self) -> bool {
        self.scene.is_broken()
    }

    /// Whether the renderer has no memory for full detail.
    pub(super) fn is_full(&self) -> bool {
        self.scene.is_full()
    }

    /// Whether another scene is being prepared.
    pub(super) const fn has_next(&self) -> bool {
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
