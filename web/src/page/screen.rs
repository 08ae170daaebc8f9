//! Canvas of a page: WebGPU draws to it, or it receives pictures of the software rasteriser.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use drystone::{
    Resolution, Session,
    scene::{OpenDevice, Size, open_soft, open_window_async},
};
use drystone_render::{Camera, RenderError, WindowTarget};
use wasm_bindgen::{Clamped, prelude::*};
use web_sys::HtmlCanvasElement;
use web_time::Instant;

/// Time for meshes after which the CPU draws its picture in the next frame. The two together would keep the
/// page from answering for twice as long.
const LONG_WORK: Duration = Duration::from_millis(10);

/// Path of pictures to the page.
#[derive(Default)]
pub(crate) struct Screen {
    /// The WebGPU device that is being opened.
    opening: Option<Opening>,
    /// `None` if WebGPU draws to the canvas itself.
    cpu: Option<CpuScreen>,
}

type Opening = Pin<Box<dyn Future<Output = Result<OpenDevice, RenderError>>>>;

#[wasm_bindgen]
extern "C" {
    /// Canvas of the script for pictures of the CPU.
    pub type PictureCanvas;

    /// Whether the canvas is of another thread, which handles events.
    #[wasm_bindgen(method, getter, js_name = isRemote)]
    fn is_remote(this: &PictureCanvas) -> bool;

    /// Shows a picture, given as RGBA. The bytes are valid only during the call.
    #[wasm_bindgen(method, catch)]
    fn show(
        this: &PictureCanvas,
        rgba: Clamped<&[u8]>,
        width: u32,
        height: u32,
    ) -> Result<(), JsValue>;
}

/// A canvas for pictures of the CPU.
struct CpuScreen {
    canvas: PictureCanvas,
    resolution: Resolution,
    /// Camera of the last picture.
    camera: Option<Camera>,
    /// Size of the last picture.
    size: Size,
    /// Whether the last frame made meshes, and drew no picture.
    has_waited: bool,
}

impl Screen {
    /// Begins to open a WebGPU device for the canvas.
    pub(super) fn open_gpu(&mut self, size: Size, canvas: HtmlCanvasElement) {
        self.cpu = None;
        let target = WindowTarget { window: canvas, vsync: true };
        self.opening = Some(Box::pin(open_window_async(target, size)));
    }

    /// Whether the WebGPU device is still being opened. Shows the session on it once it is open.
    ///
    /// The executor of `wasm-bindgen-futures` is not used: in a program built for threads it requires a shared
    /// memory, which pages that are not isolated do not have.
    pub(super) fn is_opening(&mut self, session: &mut Session) -> Result<bool, RenderError> {
        let Some(opening) = &mut self.opening else { return Ok(false) };
        let Poll::Ready(device) = opening.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            return Ok(true);
        };
        self.opening = None;
        show(session, device?)?;
        Ok(false)
    }

    /// Opens the software rasteriser, and shows the session on it.
    pub(super) fn open_cpu(
        &mut self,
        session: &mut Session,
        canvas: PictureCanvas,
    ) -> Result<(), RenderError> {
        let size = session.camera().size();
        let resolution = Resolution::default();
        self.opening = None;
        self.cpu = Some(CpuScreen { canvas, resolution, camera: None, size, has_waited: false });
        show(session, open_soft(size)?)
    }

    /// Sets the size of pictures in pixels of the screen, if it is another.
    pub(super) fn resize(&self, session: &mut Session, size: Size) -> Result<(), RenderError> {
        match &self.cpu {
            _ if session.camera().size() == size => Ok(()),
            None => session.resize(size),
            // The next picture resizes the device.
            Some(_) => {
                session.set_size(size);
                Ok(())
            }
        }
    }

    /// Whether the pictures are for another thread, which handles events.
    pub(super) fn is_remote(&self) -> bool {
        self.cpu.as_ref().is_some_and(|screen| screen.canvas.is_remote())
    }

    /// Whether the picture of the last frame waits for this frame.
    pub(super) fn has_waited(&self) -> bool {
        self.cpu.as_ref().is_some_and(|screen| screen.has_waited)
    }

    /// Whether the picture of this frame has to wait for the next frame, because the CPU has made meshes
    /// for this time. Pictures never wait twice in a row.
    pub(super) fn waits(&mut self, worked: Duration) -> bool {
        let Some(screen) = &mut self.cpu else { return false };
        screen.has_waited = !screen.has_waited && worked > LONG_WORK;
        screen.has_waited
    }

    /// Draws a picture. Returns false if another has to follow: none was shown, or one of a lower
    /// resolution.
    pub(super) fn draw(&mut self, session: &mut Session) -> Result<bool, RenderError> {
        match &mut self.cpu {
            Some(screen) => screen.draw(session),
            None => session.draw().map(|drawn| drawn.shown),
        }
    }

    /// Describes the size of the last picture of the CPU.
    pub(super) fn words(&self) -> String {
        let size = self.cpu.as_ref().map(|screen| screen.size);
        size.map_or_else(String::new, |size| format!(", {}×{} pixels", size.width, size.height))
    }
}

/// Shows the session on a device.
///
/// # Errors
/// If the device fails, or another one failed while the content was uploaded to it, which lost it.
fn show(session: &mut Session, device: OpenDevice) -> Result<(), RenderError> {
    if !session.has_content() {
        return Err(RenderError::Device {
            during: "showing the world again",
            reason: "it was lost with the last device; open it again".into(),
        });
    }
    let prepared = session.prepare(device)?;
    session.attach(prepared)
}

impl CpuScreen {
    fn draw(&mut self, session: &mut Session) -> Result<bool, RenderError> {
        let begun = Instant::now();
        let camera = session.camera().view().camera;
        let is_active = session.is_active() && !session.is_measuring();
        let moves = self.camera.replace(camera) != Some(camera) || is_active;
        let full = session.camera().size();
        let size = match moves {
            true => Some(self.resolution.moving(full, begun)),
            // Rounds of a measurement are compared.
            false if session.is_measuring() => Some(full),
            false => self.resolution.still(full, begun),
        };
        let Some(size) = size else { return Ok(false) };
        let Some(stage) = session.stage() else { return Ok(true) };
        stage.renderer().resize(size.width, size.height)?;
        self.size = size;
        if let Some((picture, _)) = session.picture()? {
            let rgba = Clamped(picture.rgba());
            self.canvas.show(rgba, picture.width(), picture.height()).map_err(|error| {
                RenderError::Device { during: "showing the picture", reason: format!("{error:?}") }
            })?;
        }
        self.resolution.drawn(begun.elapsed());
        Ok(!self.resolution.is_reduced())
    }
}
