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

use drystone::MessageKind;
use winit::event_loop::EventLoopProxy;

use super::Opened;
use crate::{AppError, output};

/// Request to the viewer from another thread.
pub(super) enum WindowRequest {
    /// Save and end.
    End,
    /// Show a message.
    Message(MessageKind, String),
    /// Show what a thread has loaded.
    Show(Box<Opened>),
    /// Report why a file could not be read.
    NotRead(String),
    /// End with an error, since there is nothing to show.
    Fail(AppError),
    /// Read a file.
    Read(PathBuf),
    /// Report that the file with this name was changed by another program.
    FileChanged(String),
}

/// Sender of requests to the window's thread, for any thread.
#[derive(Clone)]
pub(super) struct WindowRequests(Arc<dyn Fn(WindowRequest) -> bool + Send + Sync>);

impl WindowRequests {
    /// Creates a sender; `send` returns whether the window's thread will receive the request.
    pub(super) fn new(send: impl Fn(WindowRequest) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(send))
    }

    /// Creates a sender to the event loop of `proxy`.
    pub(super) fn to(proxy: EventLoopProxy<WindowRequest>) -> Self {
        Self::new(move |request| proxy.send_event(request).is_ok())
    }

    /// Sends a request. Returns false, and drops the request, if the viewer has ended.
    pub(super) fn send(&self, request: WindowRequest) -> bool {
        (self.0)(request)
    }
}

/// Signal that everything is written to disk, for threads that wait for it.
#[derive(Clone, Default)]
pub(super) struct Ended(Arc<(Mutex<bool>, Condvar)>);

impl Ended {
    /// Signals that everything is written, or failed to be.
    pub(super) fn set(&self) {
        let (is_over, changed) = &*self.0;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Waits for the signal, at most `limit`. Returns whether it came.
    #[cfg(any(windows, test))]
    fn wait(&self, limit: Duration) -> bool {
        let (is_over, changed) = &*self.0;
        let is_over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(is_over, limit, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Ends the viewer and waits until it has saved, at most `limit`. Returns whether it has; at once
/// if no viewer runs.
#[cfg(any(windows, test))]
fn end_and_wait(requests: &WindowRequests, ended: &Ended, limit: Duration) -> bool {
    !requests.send(WindowRequest::End) || ended.wait(limit)
}

/// Time limit of Windows for ending programs, less a margin.
#[cfg(windows)]
const SAVE_TIMEOUT: Duration = Duration::from_millis(4_700);

/// Exit code after a second interrupt: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;

/// Ends the viewer, with its usual saving, on Ctrl+C in the terminal or a termination signal. A
/// second signal ends the process at once; files on disk are always consistent.
pub(super) fn listen(requests: WindowRequests, ended: Ended) {
    let closing = requests.clone();
    let was_interrupted = AtomicBool::new(false);
    let interrupt = move || {
        let again = was_interrupted.swap(true, Ordering::Relaxed);
        if again || !requests.send(WindowRequest::End) {
            process::exit(INTERRUPTED);
        }
    };
    if let Err(error) = ctrlc::set_handler(interrupt) {
        output::note(&format!(
            "Ctrl+C ends the viewer without saving edits: {error}; close the window instead"
        ));
    }
    #[cfg(windows)]
    if !super::console::before_closing(move || {
        end_and_wait(&closing, &ended, SAVE_TIMEOUT);
    }) {
        output::note(
            "closing the console ends the viewer without saving edits; close the window instead",
        );
    }
    #[cfg(not(windows))]
    drop((closing, ended));
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    /// Windows ends the process when its handler returns.
    #[test]
    fn ending_the_program_waits_until_everything_is_saved() {
        const MAX_WAIT: Duration = Duration::from_secs(60);
        let (sent, received) = mpsc::channel();
        let requests = WindowRequests::new(move |request| sent.send(request).is_ok());
        let ended = Ended::default();
        assert!(!end_and_wait(&requests, &ended, Duration::ZERO), "nothing is saved yet");
        assert!(matches!(received.recv().unwrap(), WindowRequest::End));
        let (returned, result) = mpsc::channel();
        let waiting = {
            let (requests, ended) = (requests.clone(), ended.clone());
            thread::spawn(move || returned.send(end_and_wait(&requests, &ended, MAX_WAIT)))
        };
        assert!(matches!(received.recv().unwrap(), WindowRequest::End));
        assert!(result.try_recv().is_err(), "it returned before anything was saved");
        ended.set();
        assert!(result.recv().unwrap());
        waiting.join().unwrap().unwrap();
        // A viewer that is gone has saved.
        drop(received);
        assert!(end_and_wait(&requests, &Ended::default(), MAX_WAIT));
    }
}
