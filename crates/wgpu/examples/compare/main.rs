//! Compares the CPU time of encoding and submitting a frame of the examples `plain` and `pooled`.
//!
//! ```text
//! cargo run --release -p drystone-wgpu --example compare -- [MESHES] [FRAMES]
//! ```
//! Frames of both programs alternate, and each is complete before the next begins. A few meshes
//! change in each frame, outside of the measured time.
#![allow(
    clippy::duplicate_mod,
    reason = "each program is complete, with the module that both share"
)]

use std::time::{Duration, Instant};

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
        let start = Instant::now();
        plain.draw()?;
        times[0].push(start.elapsed());
        plain.screen.wait()?;

        pooled.update(frame)?;
        let start = Instant::now();
        pooled.draw()?;
        times[1].push(start.elapsed());
        pooled.screen.wait()?;
    }
    let [naive, pool] = times.map(median);
    let ratio = naive.as_secs_f64() / pool.as_secs_f64();
    println!("{meshes} meshes: encode and submit, median of {frames} frames");
    println!("plain {naive:?}, pooled {pool:?}, ratio {ratio:.1}");
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
