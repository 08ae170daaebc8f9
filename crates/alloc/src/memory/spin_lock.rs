use core::cell::UnsafeCell;
use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

/// Rounds of waiting before the thread gives its turn away, where it can: the holder may be
/// one that was interrupted, and is not back before somebody makes room.
const ROUNDS_BEFORE_YIELD: u32 = 64;

/// A lock that needs no system, for what is held for some tens of instructions.
///
/// A mutex of the standard library may allocate when it is first used, so that an allocator
/// could not be built on one.
pub(super) struct SpinLock<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time reach the value, which may be sent to it.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { is_locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until nobody else is inside, then calls `action`. It must not come back here.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        self.wait();
        let _unlock = Unlock(&self.is_locked);
        // SAFETY: we hold the lock until `_unlock` goes, and nobody has the value without it.
        action(unsafe { &mut *self.value.get() })
    }

    fn wait(&self) {
        while self.is_locked.swap(true, Ordering::Acquire) {
            for _ in 0..ROUNDS_BEFORE_YIELD {
                if !self.is_locked.load(Ordering::Relaxed) {
                    break;
                }
                hint::spin_loop();
            }
            #[cfg(feature = "std")]
            if self.is_locked.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        }
    }
}

/// Opens the lock when it goes, also while a panic unwinds.
struct Unlock<'a>(&'a AtomicBool);

impl Drop for Unlock<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let counter = SpinLock::new(0u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| counter.with(|count| *count += 1)));
            }
        });
        assert_eq!(counter.with(|count| *count), 4000);
    }

    #[test]
    fn a_panic_inside_opens_it() {
        let lock = SpinLock::new(1);
        let inside = || lock.with(|_| panic!("inside"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(inside)).is_err());
        assert_eq!(lock.with(|value| *value), 1);
    }
}
