//! CPU time of the current thread.

/// Returns the CPU time of this thread, in nanoseconds.
#[cfg(unix)]
pub(crate) fn thread_cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Returns wall-clock time in nanoseconds, on systems without CPU time per thread.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_ns() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    crate::rounds::elapsed_ns(*START)
}
