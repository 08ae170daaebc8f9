use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::error::SourceError;

/// Damage found by all threads, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<BTreeSet<String>>);

impl Faults {
    /// Maximum number of stored messages.
    pub(crate) const MAX: usize = 10_000;

    pub(crate) fn add(&self, faults: &[SourceError]) {
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

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
