//! What goes wrong behind our back.

use std::sync::{Arc, Mutex, PoisonError};

use crate::RenderError;

/// The first thing that went wrong behind our back: graphics APIs report lost devices and
/// refused calls through callbacks, or when asked. A lost device stays lost.
#[derive(Clone, Default)]
pub(crate) struct Fault(Arc<Mutex<Noted>>);

#[derive(Default)]
struct Noted {
    first: Option<String>,
    lost: bool,
}

impl Fault {
    pub(crate) fn note(&self, what: String, lost: bool) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        noted.first.get_or_insert(what);
        noted.lost |= lost;
    }

    /// The fault as the error of what was being done. It is reported once, but for a lost
    /// device, which fails all that follows.
    pub(crate) fn check(&self, during: &'static str) -> Result<(), RenderError> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = if noted.lost { noted.first.clone() } else { noted.first.take() };
        match reason {
            Some(reason) => Err(RenderError::Device { during, reason: one_line(&reason) }),
            None => Ok(()),
        }
    }
}

/// Drivers speak in paragraphs; an error is one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
