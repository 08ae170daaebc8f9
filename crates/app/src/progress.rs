use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// How far something is that takes long: threads count, and the window tells.
#[derive(Debug)]
pub(crate) struct Progress {
    what: Mutex<String>,
    done: AtomicU64,
    /// 0 while that is not known.
    all: AtomicU64,
}

impl Default for Progress {
    /// Of which nobody is told.
    fn default() -> Self {
        Self::new("")
    }
}

impl Progress {
    /// Something of which it is not yet known how much there is to do.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: Mutex::new(what.into()), done: AtomicU64::new(0), all: AtomicU64::new(0) }
    }

    /// From now on something else is done, so many times.
    pub(crate) fn begin(&self, what: impl Into<String>, all: u64) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
        // Between the two nothing is known, rather than something wrong.
        self.all.store(0, Relaxed);
        self.done.store(0, Relaxed);
        self.all.store(all, Relaxed);
    }

    /// Once more it was done.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// This part of it is done.
    pub(crate) fn set_part(&self, part: f32) {
        const FINE: f32 = 1e6;
        self.done.store((part * FINE) as u64, Relaxed);
        self.all.store(FINE as u64, Relaxed);
    }

    /// What is done.
    pub(crate) fn what(&self) -> String {
        self.what.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Which part of it, if that is known.
    pub(crate) fn part(&self) -> Option<f32> {
        let (all, done) = (self.all.load(Relaxed), self.done.load(Relaxed));
        (all > 0).then(|| (done as f32 / all as f32).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_of_what_is_done_now() {
        let progress = Progress::new("reading");
        assert_eq!((progress.what().as_str(), progress.part()), ("reading", None));
        progress.begin("meshing", 4);
        progress.step();
        assert_eq!((progress.what().as_str(), progress.part()), ("meshing", Some(0.25)));
        (0..9).for_each(|_| progress.step());
        assert_eq!(progress.part(), Some(1.0));
        progress.begin("nothing", 0);
        assert_eq!(progress.part(), None);
        progress.set_part(0.5);
        assert_eq!(progress.part(), Some(0.5));
    }
}
