//! The viewer as a page: a world in a canvas, drawn by WebGPU, with the viewer's keys, a mouse or
//! fingers.
//!
//! ```text
//!  page/main.js: events, files ─► Page ─► Shown: Scene or LodScene ─► wgpu ─► canvas
//!        ▲  requestAnimationFrame ──┘
//!        └── words to show
//! ```
//! The script beside the page (`page/main.js`) listens and shows words; what they mean is decided
//! here. A browser gives no threads: the meshes of a large world are made within the frames, a few
//! milliseconds each.
//!
//! # Limits
//! Browsers with WebGPU. Edits wait in memory until they are saved or many: then a file of edits has
//! them, in memory too; who saves has its bytes written to a file, or the browser keep them. Of a Minecraft world one region file at a time. A
//! panic stops the program; so stored worlds, whose database may panic at damage, are read by a worker
//! first (`page/check.js`), which may stop.

mod check;
mod content;
mod editing;
mod keys;
mod opening;
mod page;
mod saving;

pub use check::check;
pub use page::{Edits, Page};
