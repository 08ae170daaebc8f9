//! The command line and the viewer of drystone.
#![deny(unsafe_code)]
#![cfg_attr(not(feature = "window"), allow(dead_code, reason = "only the window uses it"))]

mod address;
mod allocator;
mod cli;
mod commands;
mod error;
mod folders;
mod output;
mod report;
mod samples;
mod settings;
mod source;
#[cfg(feature = "window")]
mod viewer;

use std::{panic, process::ExitCode};

use error::AppError;

fn main() -> ExitCode {
    silence_caught_panics();
    let options = match cli::parse(std::env::args_os()) {
        Ok(options) => options,
        Err(cli::Stop::Text(text)) => return finish(output::print(&text)),
        Err(cli::Stop::Usage(line)) => {
            output::note(&format!("{line} (see drystone --help)"));
            return ExitCode::from(2);
        }
    };
    let memory = options.memory().clone();
    let chosen = allocator::choose(memory.allocator).map_err(AppError::from);
    let code = finish(chosen.and_then(|()| commands::run(options)));
    match finish(allocator::report_record(memory.record_svg.as_deref())) {
        ExitCode::SUCCESS => code,
        failure => failure,
    }
}

/// Silences the messages of panics that are caught and reported as errors: redb panics on some
/// damaged pages, and the window library panics when a system library is missing.
fn silence_caught_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|location| is_caught(location.file())) {
            print(info);
        }
    }));
}

/// Whether panics in this source file are caught and reported as errors.
fn is_caught(file: &str) -> bool {
    const PACKAGES: [&str; 2] = ["redb", "xkbcommon-dl"];
    let folders = || file.split(['/', '\\']);
    folders().zip(folders().skip(1)).filter(|(_, inner)| *inner == "src").any(|(folder, _)| {
        // A folder of vendored sources may have no version after its name.
        let version = PACKAGES.iter().find_map(|name| folder.strip_prefix(name));
        version.is_some_and(|version| version.is_empty() || version.starts_with('-'))
    })
}

fn finish(result: Result<(), AppError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caught_panics_are_recognized_by_the_package_folder_of_their_source_file() {
        let caught = [
            "/home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/redb-4.1.0/src/db.rs",
            r"C:\Users\a\.cargo\registry\src\index.crates.io-1949\redb-4.1.0\src\tree_store\page.rs",
            "/build/vendor/redb/src/db.rs",
            "vendor/xkbcommon-dl/src/x11.rs",
        ];
        assert_eq!(caught.map(is_caught), [true; 4]);
        let own = ["crates/app/src/viewer.rs", "/home/redb/drystone/crates/world/src/stored.rs"];
        let others = ["/registry/src/index/redbull-1.0.0/src/lib.rs", r"C:\redb-4\main.rs", ""];
        assert!(!own.into_iter().chain(others).any(is_caught));
    }
}
