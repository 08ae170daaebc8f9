//! The viewer as a web page: draws a world to a canvas with WebGPU, or on the CPU. Keyboard, mouse and
//! touch control it as in the desktop viewer.
//!
//! ```text
//!  page/main.js: events, files ─┬► Page ─► Session ─► wgpu ─► canvas
//!        ▲                      └► page/remote.js ─► page/worker.js: Page ─► Session ─┐
//!        └── status text, pictures ◄────────── messages ◄───────── software rasteriser
//! ```
//! The script of the page (`page/main.js`) forwards events and shows text. The `Session` decides what
//! the events do, as in the window; this crate has the bindings. Meshes of a large world are made during
//! the frames, a few milliseconds each.
//!
//! A WebGPU device draws on the page's thread. If the CPU draws, the program runs in a worker, so that events
//! never wait for a picture. `page/remote.js` has the methods of [`Page`], which send messages: the script
//! does not depend on where a page is. Each answer has a picture, and everything that the page shows.
//!
//! # Limits
//! - Without WebGPU, or with WebGPU in software, the software rasteriser draws. Moving pictures have a
//!   lower resolution then, so that there are about 20 a second. While meshes are made, frames alternate
//!   between meshes and pictures.
//! - It draws on the page's thread, and events wait for pictures, if the browser starts no worker, or if a
//!   WebGPU device is lost for good: the world and its edits are in the memory of the page's program.
//! - Threads need a page that is isolated from others (two headers of the server), and a worker: a WebGPU
//!   device draws with one thread. They also need a standard library with atomics, which `scripts/web.sh`
//!   builds where its source is installed.
//! - Edits stay in memory until they are saved. Many edits are first written to a file of edits,
//!   which is in memory too. Saving writes its bytes to a file, or downloads them.
//! - Opens one region file of a Minecraft world at a time.
//! - A panic stops the program. The database of a stored world may panic at damage, so a worker
//!   reads such files first (`page/check.js`).

mod check;
mod model;
mod network;
mod opening;
mod page;
mod threads;

pub use check::check;
pub use model::NamedFiles;
pub use network::{RemoteWorld, Requests, front_needed};
pub use page::{Edits, Page, cost_method, handles_key, key_list, module, script_keys};
pub use threads::{run_thread, start_threads};
