//! A console that is closed, on Windows: the system ends the program as soon as its handler
//! returns, or after five seconds. The handler of the `ctrlc` crate returns at once.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Events from this one on end the program: closing the console, logging off, shutting down.
/// Those below are Ctrl+C and Ctrl+Break, which are for the handler that was there before.
const CTRL_CLOSE_EVENT: u32 = 2;

/// What a `BOOL` is: not handled, handled.
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

/// Saves, and returns when that is done or has taken too long.
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

/// Has `save` run before the system ends the program. Whether the system will do so.
pub(super) fn before_closing(save: impl Fn() + Send + Sync + 'static) -> bool {
    SAVE.set(Box::new(save)).is_ok() && SetConsoleCtrlHandler(Some(handle), YES) != NO
}
