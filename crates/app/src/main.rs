//! The command line and the viewer of drystone.
#![forbid(unsafe_code)]

mod allocator;
mod cli;
mod commands;
mod error;
mod output;
mod report;
mod viewer;

use std::process::ExitCode;

use error::AppError;

fn main() -> ExitCode {
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

fn finish(result: Result<(), AppError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
