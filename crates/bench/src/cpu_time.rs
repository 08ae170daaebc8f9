//! CPU time of the thread that asks.

/// Nanoseconds that this thread has run.
#[cfg(unix)]
pub(crate) fn thread_cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds of wall-clock time, where the thread's own are not to be had.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_ns() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    crate::rounds::elapsed_ns(*START)
}
