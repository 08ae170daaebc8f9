//! The command line and the viewer of drystone.
#![forbid(unsafe_code)]

mod cli;
mod commands;
mod error;
mod report;
mod viewer;

use std::process::ExitCode;

use error::AppError;

fn main() -> ExitCode {
    let options = match cli::parse(std::env::args_os()) {
        Ok(options) => options,
        Err(cli::Stop::Text(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(cli::Stop::Usage(line)) => {
            eprintln!("drystone: {line} (see drystone --help)");
            return ExitCode::from(2);
        }
    };
    match commands::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("drystone: {error}");
            ExitCode::FAILURE
        }
    }
}
