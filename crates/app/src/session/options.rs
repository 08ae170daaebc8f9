use drystone_render::Cull;

use crate::ViewOptions;
use crate::keys::Host;
use crate::scene::RendererKind;

/// Options of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionOptions {
    /// Program that runs the session.
    pub host: Host,
    /// Initial view.
    pub view: ViewOptions,
    /// Renderer.
    pub renderer: RendererKind,
    /// Processor that culls.
    pub cull: Cull,
    /// Limit for unsaved edits and history together, in bytes.
    pub max_edit_bytes: usize,
}
