#[cfg(any(windows, test))]
use std::time::Duration;
use std::{
    path::PathBuf,
    process,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use winit::event_loop::EventLoopProxy;

use super::opening::Loaded;
use crate::{AppError, output};

/// What is asked of the viewer from outside of its window.
pub(super) enum WindowRequest {
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
pub(super) struct WindowRequests(Arc<dyn Fn(WindowRequest) -> bool + Send + Sync>);

impl WindowRequests {
    /// Sends through `send`, which returns whether the window's thread will receive the wish.
    pub(super) fn new(send: impl Fn(WindowRequest) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Sends to the event loop of `proxy`.
    pub(super) fn to(proxy: EventLoopProxy<WindowRequest>) -> Self {
        Self::new(move |wish| proxy.send_event(wish).is_ok())
    }

    /// Sends a wish. Returns whether the viewer still runs; after its end, the wish is dropped.
    pub(super) fn send(&self, wish: WindowRequest) -> bool {
        (self.0)(wish)
    }
}

/// Whether all that outlives the program was written, for threads that wait for that.
#[derive(Clone, Default)]
pub(super) struct Ended(Arc<(Mutex<bool>, Condvar)>);

impl Ended {
    /// All was written, or could not be.
    pub(super) fn set(&self) {
        let (is_over, changed) = &*self.0;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Waits until then, and no longer than `limit`. Whether it is so.
    #[cfg(any(windows, test))]
    fn wait(&self, limit: Duration) -> bool {
        let (is_over, changed) = &*self.0;
        let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(is_over, limit, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Has the viewer save and end, and waits until it has saved, no longer than `limit`. Whether it
/// has: at once where no viewer runs any more.
#[cfg(any(windows, test))]
fn end_and_wait(wishes: &WindowRequests, ended: &Ended, limit: Duration) -> bool {
    !wishes.send(WindowRequest::End) || ended.wait(limit)
}

/// How long Windows lets a program that it ends take, less a little.
#[cfg(windows)]
const LAST_MOMENT: Duration = Duration::from_millis(4_700);

/// The exit code of who is interrupted while ending: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// Has Ctrl+C in the terminal, and a system that ends programs, end the viewer as it ends by
/// itself; asked again, it ends at once. What is on disk by then is whole.
pub(super) fn listen(wishes: WindowRequests, ended: Ended) {
    let closing = wishes.clone();
    let was_asked = AtomicBool::new(false);
    let asked = move || {
        let again = was_asked.swap(true, Ordering::Relaxed);
        if again || !wishes.send(WindowRequest::End) {
            process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(asked) {
        output::note(&format!("Ctrl+C will not save: {error}"));
    }
    #[cfg(windows)]
    if !super::console::before_closing(move || {
        end_and_wait(&closing, &ended, LAST_MOMENT);
    }) {
        output::note("closing the console will not save");
    }
    #[cfg(not(windows))]
    drop((closing, ended));
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    /// Windows ends the program when its handler returns.
    #[test]
    fn who_ends_the_program_waits_until_it_has_saved() {
        const PATIENCE: Duration = Duration::from_secs(60);
        let (sent, asked) = mpsc::channel();
        let wishes = WindowRequests::new(move |wish| sent.send(wish).is_ok());
        let ended = Ended::default();
        assert!(!end_and_wait(&wishes, &ended, Duration::ZERO), "nobody has saved");
        assert!(matches!(asked.recv().unwrap(), WindowRequest::End));
        let (returned, result) = mpsc::channel();
        let waiting = {
            let (wishes, ended) = (wishes.clone(), ended.clone());
            thread::spawn(move || returned.send(end_and_wait(&wishes, &ended, PATIENCE)))
        };
        assert!(matches!(asked.recv().unwrap(), WindowRequest::End));
        assert!(result.try_recv().is_err(), "it returned before anything was saved");
        ended.set();
        assert!(result.recv().unwrap());
        waiting.join().unwrap().unwrap();
        // A viewer that is gone has saved.
        drop(asked);
        assert!(end_and_wait(&wishes, &Ended::default(), PATIENCE));
    }
}
