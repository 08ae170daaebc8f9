//! What a process of the case `global` does: it parses a document into a tree and frees it, a
//! few times over, and says how long that took and how much memory it had at most.
//!
//! Each binary is this and a global allocator, and nothing else.

use std::{hint::black_box, process::ExitCode, time::Duration};

#[path = "../small/document.rs"]
#[allow(dead_code)]
mod document;
mod tree;

use tree::Tree;

/// `FILE COUNT`: parses the file so often, and prints a line of JSON.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: FILE COUNT".to_owned());
    };
    let count: usize = count.parse().map_err(|_| format!("{count} is no number"))?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let mut times_ns = Vec::with_capacity(count);
    let mut objects = 0;
    for _ in 0..count {
        let start = now();
        let tree = black_box(Tree::read(&text)?);
        let parsed = now() - start;
        // Not measured: whether the tree is what the document says.
        objects = tree.objects_if_right(&text)?;
        let start = now();
        tree.free();
        times_ns.push((parsed + now() - start).as_nanos());
    }
    times_ns.sort_unstable();
    let ns = times_ns.get(count / 2).copied().unwrap_or(0);
    Ok(format!("{{\"ns\": {ns}, \"objects\": {objects}, \"peak_bytes\": {}}}", peak_bytes()))
}

/// Time that the processor has spent on this thread: what else the machine does is not the
/// allocator's.
#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// The most memory that the process had; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
