use std::time::Duration;

use drystone_voxel::NodePos;

use crate::lod::data::LodData;

/// Number of nodes that are tried again at once. On a failing disk, each attempt may be slow.
const NODES_AT_A_TIME: usize = 16;

/// New attempts to read shown nodes that could not be read completely.
#[derive(Default)]
pub(super) struct Rereads {
    /// Whether a shown node could not be read completely.
    pub(super) is_broken: bool,
    /// Time of the next attempt.
    at: Duration,
    /// Last node that was tried.
    last: Option<NodePos>,
    /// Whether this round of attempts has read a complete node.
    was_whole: bool,
    /// Whether the previous round of attempts read a complete node.
    is_recovering: bool,
}

impl Rereads {
    /// Records that a damaged node is shown.
    pub(super) fn note_damaged(&mut self, now: Duration) {
        if !self.is_broken {
            self.is_broken = true;
            self.at = now + LodData::RETRY_AFTER;
        }
    }

    /// Begins a round of attempts if the last one was long enough ago. Returns the nodes to read
    /// again. `damaged` returns all damaged nodes, sorted.
    pub(super) fn due(
        &mut self,
        now: Duration,
        damaged: impl FnOnce() -> Vec<NodePos>,
    ) -> Vec<NodePos> {
        if !self.is_broken || now < self.at {
            return Vec::new();
        }
        self.at = now + LodData::RETRY_AFTER;
        self.is_recovering = std::mem::take(&mut self.was_whole);
        let mut damaged = damaged();
        self.is_broken = !damaged.is_empty();
        // Continue after the last node that was tried.
        let after = damaged.partition_point(|node| self.last.is_some_and(|it| *node <= it));
        damaged.rotate_left(after);
        damaged.truncate(NODES_AT_A_TIME);
        self.last = damaged.last().copied().or(self.last);
        damaged
    }

    /// Records the result of an attempt. After a success, the next nodes are tried at once. After a
    /// failure they wait from now on, since the attempt itself may have been slow.
    pub(super) fn finish(&mut self, is_whole: bool, now: Duration) {
        self.was_whole |= is_whole;
        self.at = if self.was_whole { now } else { now + LodData::RETRY_AFTER };
    }

    /// Whether the source can be read again, but some nodes are still damaged.
    pub(super) const fn is_recovering(&self) -> bool {
        self.is_broken && self.is_recovering
    }
}
