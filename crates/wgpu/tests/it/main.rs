//! The pool on a device of the caller, on whichever adapter there is.
#![allow(clippy::unwrap_used)]
mod culled;
mod dots;
mod examples;
mod faults;
mod indexed;
mod pooled;
mod quads;
mod screen;
mod transfers;
