use std::{
    path::PathBuf,
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use winit::event_loop::EventLoopProxy;

use super::opening::Loaded;
use crate::{AppError, output};

/// What is asked of the viewer from outside of its window.
pub(super) enum Wish {
    /// To save and to end.
    End,
    /// To say this.
    Say(String),
    /// To show what a thread has read.
    Show(Box<Loaded>),
    /// To say why it could not.
    NotRead(String),
    /// To end, since there is nothing to show.
    Fail(AppError),
    /// To read this file.
    Read(PathBuf),
}

/// The exit code of who is interrupted while ending: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Has Ctrl+C in the terminal, and a system that ends programs, end the viewer as it ends by
/// itself; asked again, it ends at once. What is on disk by then is whole.
pub(super) fn listen(proxy: EventLoopProxy<Wish>) {
    let was_asked = AtomicBool::new(false);
    let asked = move || {
        let again = was_asked.swap(true, Ordering::Relaxed);
        if again || proxy.send_event(Wish::End).is_err() {
            process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(asked) {
        output::note(&format!("Ctrl+C will not save: {error}"));
    }
}
