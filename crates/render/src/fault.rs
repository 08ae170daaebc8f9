//! Errors that graphics APIs report asynchronously.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::RenderError;

/// The first asynchronous error of a device. Graphics APIs report lost devices and refused calls
/// through callbacks, or on request. A lost device stays lost.
#[derive(Clone, Default)]
pub(crate) struct Fault(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    first: Option<String>,
    lost: bool,
}

impl Fault {
    pub(crate) fn note(&self, what: String, lost: bool) {
        let mut noted = self.noted();
        noted.first.get_or_insert(what);
        noted.lost |= lost;
    }

    /// Returns the fault as an error of the operation `during`. Each fault is reported once, but
    /// the loss of the device is reported by every later call.
    pub(crate) fn check(&self, during: &'static str) -> Result<(), RenderError> {
        self.check_lost(during)?;
        let mut noted = self.noted();
        match noted.first.take() {
            Some(reason) => Err(RenderError::Device { during, reason: one_line(&reason) }),
            None => Ok(()),
        }
    }

    /// Runs `work` and reports the faults that it causes. Earlier faults remain stored: they fail
    /// the next frame, and do not become the error of `work`.
    pub(crate) fn scope<T>(
        &self,
        during: &'static str,
        work: impl FnOnce() -> T,
    ) -> Result<T, RenderError> {
        self.check_lost(during)?;
        let earlier = self.noted().first.take();
        let done = work();
        let checked = self.check(during);
        let mut noted = self.noted();
        noted.first = noted.first.take().or(earlier);
        checked.map(|()| done)
    }

    /// Returns the loss of the device as an error of the operation `during`. Other faults remain
    /// stored for the next frame.
    pub(crate) fn check_lost(&self, during: &'static str) -> Result<(), RenderError> {
        let noted = self.noted();
        match &noted.first {
            Some(reason) if noted.lost => {
                Err(RenderError::Lost { during, reason: one_line(reason) })
            }
            _ => Ok(()),
        }
    }

    /// Number of clones.
    #[cfg(all(test, feature = "gl"))]
    pub(crate) fn clones(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Joins a driver's message into one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
