//! Saving when a Windows console is closed. The system ends the process as soon as its handler
//! returns, or after five seconds. The handler of the `ctrlc` crate returns at once.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// First event that ends the process: closing the console, logging off, shutting down. Lower ones
/// are Ctrl+C and Ctrl+Break, which go to the previous handler.
const CTRL_CLOSE_EVENT: u32 = 2;

/// Values of `BOOL`: not handled, handled.
const NO: i32 = 0;
const YES: i32 = 1;

// SAFETY: the declaration is that of `consoleapi.h`: `BOOL SetConsoleCtrlHandler(PHANDLER_ROUTINE,
// BOOL)`, where a handler is `BOOL WINAPI(DWORD)`. The system calls the handler, which is a function
// and so is never freed, on a thread of its own; it may be called from safe code.
#[link(name = "kernel32")]
unsafe extern "system" {
    safe fn SetConsoleCtrlHandler(
        handler: Option<extern "system" fn(event: u32) -> i32>,
        adds: i32,
    ) -> i32;
}

/// Saves; returns when done or after a timeout.
static SAVE: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

extern "system" fn handle(event: u32) -> i32 {
    match SAVE.get() {
        Some(save) if event >= CTRL_CLOSE_EVENT => {
            save();
            YES
        }
        _ => NO,
    }
}

/// Registers `save` to run before the system ends the process. Returns whether that succeeded.
pub(super) fn before_closing(save: impl Fn() + Send + Sync + 'static) -> bool {
    SAVE.set(Box::new(save)).is_ok() && SetConsoleCtrlHandler(Some(handle), YES) != NO
}
