//! The command line and the viewer of drystone.
#![forbid(unsafe_code)]

mod allocator;
mod cli;
mod commands;
mod content;
mod error;
mod output;
mod progress;
mod report;
mod settings;
mod viewer;

use std::{panic, process::ExitCode};

use error::AppError;

fn main() -> ExitCode {
    silence_database();
    let options = match cli::parse(std::env::args_os()) {
        Ok(options) => options,
        Err(cli::Stop::Text(text)) => return finish(output::print(&text)),
        Err(cli::Stop::Usage(line)) => {
            output::note(&format!("{line} (see drystone --help)"));
            return ExitCode::from(2);
        }
    };
    let chosen = allocator::choose(options.allocator()).map_err(AppError::from);
    finish(chosen.and_then(|()| commands::run(options)))
}

/// Stored worlds are read by a crate that panics at some damaged pages. That is caught and told
/// as the error that it is, so the panic's own words would only hide it.
fn silence_database() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|place| place.file().contains("/redb-")) {
            print(info);
        }
    }));
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
