//! Windows that devices draw to.

#[cfg(not(target_arch = "wasm32"))]
use std::{fmt::Debug, sync::Arc};

#[cfg(not(target_arch = "wasm32"))]
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

/// A window that can be shared between threads. Implemented for every type with raw handles, such
/// as winit's `Window`.
#[cfg(not(target_arch = "wasm32"))]
pub trait WindowHandle: HasWindowHandle + HasDisplayHandle + Send + Sync {}

#[cfg(not(target_arch = "wasm32"))]
impl<T: HasWindowHandle + HasDisplayHandle + Send + Sync + ?Sized> WindowHandle for T {}

/// A display that can be shared between threads. Implemented for every type with a raw handle, such
/// as winit's `OwnedDisplayHandle`.
#[cfg(not(target_arch = "wasm32"))]
pub trait DisplayHandle: HasDisplayHandle + Debug + Send + Sync {}

#[cfg(not(target_arch = "wasm32"))]
impl<T: HasDisplayHandle + Debug + Send + Sync + ?Sized> DisplayHandle for T {}

/// A window to draw to, or a canvas in a browser.
pub struct WindowTarget {
    /// The window. The device holds it, so that a lost surface can be created again.
    #[cfg(not(target_arch = "wasm32"))]
    pub window: Arc<dyn WindowHandle>,
    /// The canvas.
    #[cfg(target_arch = "wasm32")]
    pub window: web_sys::HtmlCanvasElement,
    /// The display of the window.
    #[cfg(not(target_arch = "wasm32"))]
    pub display: Box<dyn DisplayHandle>,
    /// Whether frames wait for the refresh of the screen.
    pub vsync: bool,
}
