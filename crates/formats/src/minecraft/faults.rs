use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::SourceError;

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
