//! Integration tests of the public interface: stored worlds and edits that survive kills and damage.
#![allow(clippy::unwrap_used)]

mod edited_kill;
mod edits_of_files;
mod packed_hostile;
mod packed_kill;
mod programs;
#[cfg(feature = "remote")]
mod remote_http;
mod stored_child;
mod stored_counts;
mod stored_damage;
mod stored_hostile;
mod stored_kill;
mod stored_later;
mod stored_memory;
