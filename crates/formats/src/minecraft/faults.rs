use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::SourceError;
use crate::fault::Fault;

/// Damage found by all threads, without duplicates.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<BTreeSet<String>>);

impl Faults {
    /// Maximum number of stored messages.
    const MAX: usize = 10_000;

    pub(super) fn add(&self, faults: &[SourceError]) {
        if faults.is_empty() {
            return;
        }
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in faults {
            if held.len() < Self::MAX {
                held.insert(fault.to_string());
            }
        }
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// Data that is cut off or damaged.
pub(super) fn damaged(problem: impl Into<String>) -> Fault {
    let advice = "restore the file from a backup, or let the game generate the column again";
    Fault::new("column", problem, advice)
}

/// Data that only other programs write.
pub(super) fn unknown(problem: impl Into<String>) -> Fault {
    Fault::new("column", problem, "open the world with the game once and save it")
}

impl From<std::io::Error> for Fault {
    fn from(problem: std::io::Error) -> Self {
        damaged(format!("cannot be read: {problem}"))
    }
}
