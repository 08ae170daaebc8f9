//! Process of the case `global`: parses a document into a tree and frees it, several times, and
//! prints the time and the memory. Also process of the table `threads`, which has other work.
//!
//! Each binary consists of this module and a global allocator.

use std::{hint::black_box, process::ExitCode, time::Duration};

#[path = "../small/document.rs"]
mod document;
#[allow(unsafe_code)]
mod program;
pub(crate) mod threads;
#[allow(unsafe_code)]
#[path = "../small/tree.rs"]
mod tree;

use self::{
    document::Reader,
    program::Program,
    tree::{Contents, Tree},
};

/// Runs `FILE COUNT`: parses the file `COUNT` times and prints a line of JSON. With `threads WORK COUNT
/// STEPS`, a number of threads does some work.
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
    if std::env::args().nth(1).as_deref() == Some("threads") {
        return run_threads(&arguments.skip(1).collect::<Vec<_>>());
    }
    let (Some(file), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: FILE COUNT".to_owned());
    };
    let count: usize = count.parse().map_err(|_| format!("{count} is not a number"))?;
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    Reader::new(&text).try_for_each(|token| token.map(drop))?;
    let expected = Contents::of(Reader::new(&text).map_while(Result::ok));
    let mut times_ns = Vec::with_capacity(count);
    let mut resident = 0;
    for turn in 0..count {
        let mut reader = Reader::new(&text);
        let start = now();
        let tokens = reader.by_ref().map_while(Result::ok);
        let tree = black_box(Tree::build(&mut Program, tokens)).ok_or("out of memory")?;
        let parsed = now() - start;
        // Not measured: the memory of the first tree, and the tree beside the document.
        if turn == 0 {
            resident = bytes_of("smaps_rollup", "Anonymous:");
        }
        let found = tree.contents();
        if found != expected {
            return Err(format!("the tree has {found:?}, the document {expected:?}"));
        }
        let start = now();
        program::free(tree);
        times_ns.push((parsed + now() - start).as_nanos());
    }
    times_ns.sort_unstable();
    let ns = times_ns.get(count / 2).copied().unwrap_or(0);
    let objects = expected.objects;
    let peak = bytes_of("status", "VmHWM:");
    Ok(format!(
        "{{\"ns\": {ns}, \"objects\": {objects}, \"resident_bytes\": {resident}, \"peak_bytes\": {peak}}}"
    ))
}

/// Runs the work of threads, and prints a line of JSON: the CPU time of all threads, the time by the clock,
/// the number of steps, and the memory.
fn run_threads(arguments: &[String]) -> Result<String, String> {
    let [work, threads, steps] = arguments else {
        return Err("usage: threads WORK COUNT STEPS".to_owned());
    };
    let number = |text: &str| text.parse::<usize>().map_err(|_| format!("{text} is not a number"));
    let (start, cpu_start) = (std::time::Instant::now(), process_time());
    let done = threads::run(work, number(threads)?, number(steps)?)?;
    let (wall, cpu) = (start.elapsed().as_nanos(), (process_time() - cpu_start).as_nanos());
    let resident = bytes_of("smaps_rollup", "Anonymous:");
    let steps = done.check()?;
    Ok(format!(
        "{{\"ns\": {wall}, \"cpu_ns\": {cpu}, \"steps\": {steps}, \"resident_bytes\": {resident}}}"
    ))
}

/// Returns the CPU time of all threads of this process.
#[cfg(unix)]
fn process_time() -> Duration {
    time_of(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(not(unix))]
fn process_time() -> Duration {
    now()
}

/// Returns the CPU time of this thread, so that other load on the machine does not count.
#[cfg(unix)]
fn now() -> Duration {
    time_of(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(unix)]
fn time_of(clock: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// Returns the number of bytes in a line of a file about this process, or 0 if the system does not
/// report it.
fn bytes_of(file: &str, line: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    let value = text.lines().find_map(|it| it.strip_prefix(line));
    let kilobytes = value.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
