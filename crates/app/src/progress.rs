use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Progress of a long operation: threads count steps, the window shows the fraction.
#[derive(Debug)]
pub struct Progress {
    /// Name of the current operation.
    name: Mutex<String>,
    done: AtomicU64,
    /// 0 while the number of steps is not known.
    total: AtomicU64,
}

impl Default for Progress {
    /// Creates progress that is not shown.
    fn default() -> Self {
        Self::new("")
    }
}

impl Progress {
    /// Creates progress of an operation with an unknown number of steps.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Mutex::new(name.into()), done: AtomicU64::new(0), total: AtomicU64::new(0) }
    }

    /// Starts another operation of `total` steps.
    pub fn begin(&self, name: impl Into<String>, total: u64) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name.into();
        // Readers in between see an unknown total, never a wrong fraction.
        self.total.store(0, Relaxed);
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Counts one finished step.
    pub fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// Sets the finished fraction, 0 to 1.
    pub fn set_fraction(&self, fraction: f32) {
        const PRECISION: f32 = 1e6;
        self.done.store((fraction * PRECISION) as u64, Relaxed);
        self.total.store(PRECISION as u64, Relaxed);
    }

    /// Returns the name of the current operation.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the finished fraction, 0 to 1, or `None` while the total is unknown.
    pub fn fraction(&self) -> Option<f32> {
        let (total, done) = (self.total.load(Relaxed), self.done.load(Relaxed));
        (total > 0).then(|| (done as f32 / total as f32).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_of_the_current_operation() {
        let progress = Progress::new("reading");
        assert_eq!((progress.name().as_str(), progress.fraction()), ("reading", None));
        progress.begin("meshing", 4);
        progress.step();
        assert_eq!((progress.name().as_str(), progress.fraction()), ("meshing", Some(0.25)));
        (0..9).for_each(|_| progress.step());
        assert_eq!(progress.fraction(), Some(1.0));
        progress.begin("nothing", 0);
        assert_eq!(progress.fraction(), None);
        progress.set_fraction(0.5);
        assert_eq!(progress.fraction(), Some(0.5));
    }
}
