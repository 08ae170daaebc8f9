//! Compares the CPU time of the thread that encodes and submits frames in `plain` and in `pooled`.
//!
//! ```text
//! cargo run --release -p drystone-wgpu --example compare -- [MESHES] [FRAMES]
//! ```
//! Frames of both programs alternate, and each is complete before the next begins. A few meshes
//! change in each frame, outside of the measured time. Other threads, such as those of a software
//! driver, do not count.
#![allow(
    clippy::duplicate_mod,
    reason = "each program is complete, with the module that both share"
)]

use std::time::Duration;

#[path = "../plain/main.rs"]
#[allow(dead_code)]
mod plain;
#[path = "../pooled/main.rs"]
#[allow(dead_code)]
mod pooled;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let meshes = numbers.next().unwrap_or(Ok(20_000))?;
    let frames = numbers.next().unwrap_or(Ok(60))?;
    let mut plain = plain::Program::open(meshes)?;
    let mut pooled = pooled::Program::open(meshes)?;
    let mut times = [Vec::new(), Vec::new()];
    for frame in 1..=frames {
        plain.update(frame)?;
        let start = cpu_time();
        plain.draw()?;
        times[0].push(cpu_time() - start);
        plain.screen.wait()?;

        pooled.update(frame)?;
        let start = cpu_time();
        pooled.draw()?;
        times[1].push(cpu_time() - start);
        pooled.screen.wait()?;
    }
    let [naive, pool] = times.map(median);
    let ratio = naive.as_secs_f64() / pool.as_secs_f64();
    println!("{meshes} meshes, median of {frames} frames: plain {naive:?}, pooled {pool:?}");
    println!("ratio {ratio:.1}");
    Ok(())
}

/// CPU time of this thread.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

/// Time since the first call.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
