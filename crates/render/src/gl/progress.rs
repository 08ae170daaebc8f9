//! Numbers of the submitted and the completed frames.

use std::{collections::VecDeque, rc::Rc};

use super::{
    bindings::{self as gl, types::*},
    context::Context,
};
use crate::error::RenderError;

/// Counts frames, with a fence after each frame that is not known to be complete.
pub(super) struct Fences {
    context: Rc<Context>,
    submitted: u64,
    fences: VecDeque<Fence>,
}

/// Signalled by the GPU when all earlier commands are complete.
struct Fence {
    context: Rc<Context>,
    sync: GLsync,
}

impl Fences {
    pub(super) fn new(context: &Rc<Context>) -> Self {
        Self { context: Rc::clone(context), submitted: 0, fences: VecDeque::new() }
    }

    /// Counts a frame that was just submitted: inserts a fence after it, and flushes.
    pub(super) fn count(&mut self) -> Result<(), RenderError> {
        let gl = self.context.current()?;
        // SAFETY: the context is current.
        let sync = unsafe { gl.FenceSync(gl::SYNC_GPU_COMMANDS_COMPLETE, 0) };
        // SAFETY: the context is current. Without a flush, a fence that is only polled and never
        // waited for might never be reached.
        unsafe { gl.Flush() };
        if sync.is_null() {
            self.context.check("submitting a frame")?;
            let reason = "the driver gave no fence".to_owned();
            return Err(RenderError::Device { during: "submitting a frame", reason });
        }
        self.submitted += 1;
        self.fences.push_back(Fence { context: Rc::clone(&self.context), sync });
        Ok(())
    }

    pub(super) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The last complete frame. Polls the GPU, never waits for it.
    pub(super) fn completed(&mut self) -> u64 {
        while self.fences.front().is_some_and(Fence::is_passed) {
            self.fences.pop_front();
        }
        self.submitted - self.fences.len() as u64
    }

    /// Waits until all frames are complete.
    pub(super) fn finish(&mut self) -> Result<(), RenderError> {
        let gl = self.context.current()?;
        // SAFETY: the context is current.
        unsafe { gl.Finish() };
        self.context.check("waiting for the GPU")?;
        self.fences.clear();
        Ok(())
    }
}

impl Fence {
    fn is_passed(&self) -> bool {
        // An unreachable context completes nothing more; drawing reports the error.
        let Ok(gl) = self.context.current() else { return false };
        // SAFETY: the context is current and `sync` is one of its fences.
        match unsafe { gl.ClientWaitSync(self.sync, 0, 0) } {
            gl::ALREADY_SIGNALED | gl::CONDITION_SATISFIED => true,
            gl::TIMEOUT_EXPIRED => false,
            _ => {
                self.context.fault.note("a fence failed".to_owned(), true);
                false
            }
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and `sync` is ours.
            unsafe { gl.DeleteSync(self.sync) };
        }
    }
}
