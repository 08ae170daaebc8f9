use core::cell::UnsafeCell;
use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

/// Number of polls before the thread yields, if the system supports it: the holder of the lock may
/// be preempted and waiting for a processor.
const POLLS_BEFORE_YIELD: u32 = 64;

/// Lock without system calls, for critical sections of a few dozen instructions.
///
/// A mutex of the standard library may allocate on first use, so an allocator cannot depend on it.
pub(super) struct SpinLock<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time access to the value, which is `Send`.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { is_locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for the lock, then calls `action` with the value. `action` must not take the same
    /// lock.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        self.wait();
        let _unlock = Unlock(&self.is_locked);
        // SAFETY: we hold the lock until `_unlock` is dropped, and access requires the lock.
        action(unsafe { &mut *self.value.get() })
    }

    fn wait(&self) {
        while self.is_locked.swap(true, Ordering::Acquire) {
            for _ in 0..POLLS_BEFORE_YIELD {
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

/// Releases the lock on drop, also while a panic unwinds.
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
    fn only_one_thread_at_a_time_is_inside() {
        let counter = SpinLock::new(0u32);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| counter.with(|count| *count += 1)));
            }
        });
        assert_eq!(counter.with(|count| *count), 4000);
    }

    #[test]
    fn a_panic_inside_releases_the_lock() {
        let lock = SpinLock::new(1);
        let inside = || lock.with(|_| panic!("inside"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(inside)).is_err());
        assert_eq!(lock.with(|value| *value), 1);
    }
}
