use std::{
    path::PathBuf,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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

/// Sends wishes to the window's thread, from any thread.
#[derive(Clone)]
pub(super) struct Wishes(Arc<dyn Fn(Wish) -> bool + Send + Sync>);

impl Wishes {
    /// Sends through `send`, which returns whether the window's thread will receive the wish.
    pub(super) fn new(send: impl Fn(Wish) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends to the event loop of `proxy`.
    pub(super) fn to(proxy: EventLoopProxy<Wish>) -> Self {
        Self::new(move |wish| proxy.send_event(wish).is_ok())
    }

    /// Sends a wish. Returns whether the viewer still runs; after its end, the wish is dropped.
    pub(super) fn send(&self, wish: Wish) -> bool {
        (self.0)(wish)
    }
}

/// The exit code of who is interrupted while ending: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Has Ctrl+C in the terminal, and a system that ends programs, end the viewer as it ends by
/// itself; asked again, it ends at once. What is on disk by then is whole.
pub(super) fn listen(wishes: Wishes) {
    let was_asked = AtomicBool::new(false);
    let asked = move || {
        let again = was_asked.swap(true, Ordering::Relaxed);
        if again || !wishes.send(Wish::End) {
            process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(asked) {
        output::note(&format!("Ctrl+C will not save: {error}"));
    }
}
