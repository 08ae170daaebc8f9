//! What a user sees: pictures that agree, the command line, the window.

mod bad_input;
mod command_line;
mod picture_cases;
mod pictures;
mod program;
mod window;
