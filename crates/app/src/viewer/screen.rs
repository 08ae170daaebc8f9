use std::{
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::scene::{
    self, BackendKind, ChunkQuads, EditScene, Meshing, OpenDevice, RendererKind, Size,
};
use drystone_render::{
    Cull, Destination, DrawStats, HeldStats, Image, Overlay, RenderError, Renderer, View,
    WindowHandle, WindowTarget,
};
use drystone_voxel::MaterialTable;
use drystone_world::LodData;
use winit::{
    dpi::PhysicalSize,
    event_loop::{ActiveEventLoop, OwnedDisplayHandle},
    window::Window,
};

use crate::{
    AppError, commands,
    content::{Content, Shown},
    progress::Progress,
};

/// Scene with its path to the window.
pub(super) struct Screen {
    scene: Shown,
    /// Scene that replaces the current one once it is complete, and its start. Edits already go to
    /// it.
    next: Option<(Shown, Instant)>,
    /// Device that the renderers share.
    device: OpenDevice,
    /// Software surface, if the GPU does not draw to the window.
    surface: Option<SoftSurface>,
}

/// While the camera moves, levels of detail never settle. After this time, a scene with a mesh for
/// every part is shown.
const MAX_CHANGE_TIME: Duration = Duration::from_secs(4);

type SoftSurface = softbuffer::Surface<OwnedDisplayHandle, Arc<Window>>;

impl Screen {
    /// Shows the content in `window` with the requested backend; `Auto` falls back to the software
    /// rasteriser. `quads` of the content are reused if given. If the backend cannot be opened,
    /// `content` stays filled.
    pub(super) fn open(
        event_loop: &ActiveEventLoop,
        window: &Arc<Window>,
        renderer: RendererKind,
        backend: BackendKind,
        (content, quads): (&mut Option<Content>, Option<Vec<ChunkQuads>>),
        meshing: Meshing,
    ) -> Result<Option<Self>, AppError> {
        let PhysicalSize { width, height } = window.inner_size();
        let size = Size { width: width.max(1), height: height.max(1) };
        let Some(shown) = content.as_ref() else { return Ok(None) };
        let quads = &quads.unwrap_or_else(|| shown.quads(meshing, &Progress::default()));
        let capacity = shown.capacity(quads);
        let mut put = |renderer, device, surface| {
            let Some(content) = content.take() else { return Ok(None) };
            let scene = Shown::new(content, quads, meshing, renderer)?;
            Ok(Some(Self { scene, next: None, device, surface }))
        };
        let display = event_loop.owned_display_handle();
        let open = |device: OpenDevice| Ok((device.renderer(renderer, capacity)?, device));
        if backend != BackendKind::Soft {
            let target = || WindowTarget {
                window: Arc::clone(window) as Arc<dyn WindowHandle>,
                display: Box::new(display.clone()),
                vsync: true,
            };
            match scene::open_window(backend, target, size).and_then(open) {
                Ok((renderer, device)) => return put(renderer, device, None),
                Err(error) if backend != BackendKind::Auto => return Err(error.into()),
                Err(_) => {}
            }
        }
        let surface = Some(soft_surface(display, window)?);
        let (renderer, device) = scene::open_soft(size).and_then(open)?;
        put(renderer, device, surface)
    }

    /// Whether pictures are drawn without a GPU and copied to the window.
    pub(super) const fn is_soft(&self) -> bool {
        self.surface.is_some()
    }

    /// Replaces the scene, with the same camera, once the new one is complete.
    pub(super) fn show_instead(
        &mut self,
        content: Content,
        quads: &[ChunkQuads],
        (meshing, kind, cull): (Meshing, RendererKind, Cull),
    ) -> Result<(), RenderError> {
        let mut renderer = self.device.renderer(kind, content.capacity(quads))?;
        commands::set_cull(renderer.as_mut(), cull)?;
        let next = Shown::new(content, quads, meshing, renderer)?;
        self.next = Some((next, Instant::now()));
        Ok(())
    }

    pub(super) fn backend(&mut self) -> String {
        self.renderer().output().describe()
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

    /// Sets where culling runs.
    pub(super) fn set_cull(&mut self, cull: Cull) -> Result<(), RenderError> {
        commands::set_cull(self.renderer(), cull)
    }

    /// Returns where culling runs.
    pub(super) fn cull(&mut self) -> Cull {
        self.renderer().cull()
    }

    pub(super) fn held(&mut self) -> HeldStats {
        self.renderer().held()
    }

    pub(super) fn into_content(self) -> Content {
        self.next.map_or(self.scene, |(next, _)| next).into_content()
    }

    pub(super) fn resize(&mut self, size: PhysicalSize<u32>) -> Result<(), RenderError> {
        self.renderer().resize(size.width, size.height)
    }

    /// Returns the data of a world at levels of detail, and whether its meshes lag behind the
    /// camera.
    pub(super) fn levels(&self) -> Option<(&LodData, bool)> {
        self.next.as_ref().map_or(&self.scene, |(next, _)| next).levels()
    }

    /// Whether a part could not be read and is retried by drawing.
    pub(super) fn is_broken(&self) -> bool {
        matches!(&self.scene, Shown::Levels(levels) if levels.is_broken())
    }

    /// Whether another scene is being prepared.
    pub(super) const fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// Holds or releases a change of renderer while an edit is applied in parts.
    pub(super) fn hold(&mut self, is_held: bool) {
        let next = self.next.as_mut().map(|(next, _)| next);
        for shown in [Some(&mut self.scene), next].into_iter().flatten() {
            if let Shown::Levels(levels) = shown {
                levels.is_held = is_held;
            }
        }
    }

    /// Whether a polygon model is shown.
    pub(super) const fn is_model(&self) -> bool {
        matches!(self.scene, Shown::Model(_))
    }

    /// Returns the renderer.
    pub(super) fn renderer(&mut self) -> &mut dyn Renderer {
        self.scene.renderer()
    }

    /// Returns the voxels for editing; `None` for models.
    pub(super) fn edit_scene(&mut self) -> Option<&mut dyn EditScene> {
        self.next.as_mut().map_or(&mut self.scene, |(next, _)| next).edit_scene()
    }

    /// Returns the materials of the voxels.
    pub(super) fn materials(&mut self) -> Option<&MaterialTable> {
        self.edit_scene().map(|scene| scene.materials())
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
            let lags = next.levels().is_some_and(|(_, lags)| lags);
            if (!lags || next.is_whole() && begun.elapsed() > MAX_CHANGE_TIME)
                && let Some((next, _)) = self.next.take()
            {
                self.scene = next;
            }
            return Ok(None);
        }
        self.scene.follow(view, size, time)
    }

    /// Draws a picture and shows it.
    pub(super) fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        let Some(surface) = &mut self.surface else {
            let drawn = self.scene.draw(view)?;
            commands::culled_by(self.scene.renderer());
            return Ok(drawn);
        };
        let (picture, drawn) = self.scene.picture(view)?;
        show(surface, &picture).map_err(|error| RenderError::Device {
            during: "showing the picture",
            reason: error.to_string(),
        })?;
        Ok(drawn)
    }
}

fn soft_surface(
    display: OwnedDisplayHandle,
    window: &Arc<Window>,
) -> Result<SoftSurface, AppError> {
    let failed = |error: softbuffer::SoftBufferError| AppError::Window(error.to_string());
    let context = softbuffer::Context::new(display).map_err(failed)?;
    softbuffer::Surface::new(&context, Arc::clone(window)).map_err(failed)
}

/// Copies a picture into the window, whose pixels are `0RGB` words.
fn show(surface: &mut SoftSurface, picture: &Image) -> Result<(), softbuffer::SoftBufferError> {
    let sides = (NonZeroU32::new(picture.width()), NonZeroU32::new(picture.height()));
    let (Some(width), Some(height)) = sides else { return Ok(()) };
    surface.resize(width, height)?;
    let mut buffer = surface.buffer_mut()?;
    for (word, pixel) in buffer.iter_mut().zip(picture.rgba().chunks_exact(4)) {
        *word = u32::from_be_bytes([0, pixel[0], pixel[1], pixel[2]]);
    }
    buffer.present()
}
