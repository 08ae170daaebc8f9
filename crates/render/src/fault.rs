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
        self.check_lost(during)?;
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.first.take() {
            Some(reason) => Err(RenderError::Device { during, reason: one_line(&reason) }),
            None => Ok(()),
        }
    }

    /// The loss of the device as the error of what was being done. Other faults stay, for
    /// whom they harm.
    pub(crate) fn check_lost(&self, during: &'static str) -> Result<(), RenderError> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &noted.first {
            Some(reason) if noted.lost => {
                Err(RenderError::Lost { during, reason: one_line(reason) })
            }
            _ => Ok(()),
        }
    }
}

/// Drivers speak in paragraphs; an error is one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
