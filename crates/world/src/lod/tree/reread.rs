use drystone_voxel::NodePos;

use super::LodTree;
use super::swap::Swap;
use crate::lod::{LodData, NodeMesh};

/// Number of nodes that are tried again at once. On a failing disk, each attempt may be slow.
const NODES_AT_A_TIME: usize = 16;

impl LodTree {
    /// Whether a shown node could not be read completely. Updates try again every
    /// [`RETRY_AFTER`](LodData::RETRY_AFTER).
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether the source can be read again, but some nodes are still damaged.
    pub(super) const fn is_recovering(&self) -> bool {
        self.is_broken && self.is_recovering
    }

    /// Whether damaged nodes are being read again.
    #[cfg(test)]
    pub(in crate::lod) fn is_rereading(&self) -> bool {
        self.swaps.iter().any(Swap::is_reread)
    }

    /// Records a mesh that is shown now.
    pub(super) fn note_broken(&mut self, mesh: &NodeMesh) {
        if !mesh.is_whole() && !self.is_broken {
            self.is_broken = true;
            self.reread_at = self.data.clock.now() + LodData::RETRY_AFTER;
        }
    }

    /// Requests new meshes for damaged nodes if the last attempt was long enough ago. The old
    /// meshes stay shown until then.
    pub(super) fn reread_damaged(&mut self) {
        let now = self.data.clock.now();
        let is_tried = || self.swaps.iter().any(Swap::is_reread);
        if !self.is_broken || now < self.reread_at || is_tried() {
            return;
        }
        self.reread_at = now + LodData::RETRY_AFTER;
        self.is_recovering = std::mem::take(&mut self.was_reread_whole);
        let damaged = self.shown.iter().filter(|(_, shown)| !shown.made.is_whole());
        let mut damaged: Vec<NodePos> = damaged.map(|(&node, _)| node).collect();
        self.is_broken = !damaged.is_empty();
        damaged.sort_unstable();
        // Continue after the last node that was tried.
        let after = damaged.partition_point(|node| self.last_reread.is_some_and(|it| *node <= it));
        damaged.rotate_left(after);
        for &node in damaged.iter().take(NODES_AT_A_TIME) {
            self.last_reread = Some(node);
            if !self.swaps.iter().any(|swap| swap.has_any(&[node])) {
                self.swaps.push(Swap::rereading(node));
            }
        }
    }

    /// Records the result of a new attempt. After a success, the next nodes are tried at once.
    /// After a failure they wait from now on, since the attempt itself may have been slow.
    pub(super) fn note_reread(&mut self, is_whole: bool) {
        let now = self.data.clock.now();
        self.was_reread_whole |= is_whole;
        self.reread_at = if self.was_reread_whole { now } else { now + LodData::RETRY_AFTER };
    }
}
