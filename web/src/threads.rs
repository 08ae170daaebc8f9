//! Threads of the program: those of rayon's pool, each in a worker of its own.
//!
//! Browsers start threads as workers, from scripts: `page/worker.js` starts them. All share the program's
//! memory, so the page has to be isolated from others, and the program built for threads.

use std::sync::{Condvar, Mutex, PoisonError};

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use wasm_bindgen::prelude::*;

/// Threads of the pool that no worker runs yet.
static WAITING: Mutex<Vec<ThreadBuilder>> = Mutex::new(Vec::new());
static IS_ADDED: Condvar = Condvar::new();

/// Builds rayon's pool with this number of threads. As many workers have to call [`run_thread`]. Call it before
/// anything uses the pool, which has a single thread otherwise.
///
/// # Errors
/// Throws a message if the pool is already built.
#[wasm_bindgen]
pub fn start_threads(count: usize) -> Result<(), String> {
    let pool = ThreadPoolBuilder::new().num_threads(count).spawn_handler(|thread| {
        WAITING.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        IS_ADDED.notify_one();
        Ok(())
    });
    pool.build_global().map_err(|error| error.to_string())
}

/// Runs a thread of the pool in the calling worker. Does not return: the worker is ended with the page.
#[wasm_bindgen]
pub fn run_thread() {
    let waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = IS_ADDED.wait_while(waiting, |waiting| waiting.is_empty());
    let thread = waiting.unwrap_or_else(PoisonError::into_inner).pop();
    if let Some(thread) = thread {
        thread.run();
    }
}

/// Number of threads that can make meshes. One of the pool is left to draw pictures.
pub(crate) fn for_meshes() -> usize {
    rayon::current_num_threads() - 1
}
