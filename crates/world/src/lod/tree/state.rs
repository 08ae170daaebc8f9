use drystone_voxel::NodePos;

use super::LodTree;
use super::shown_nodes::LodCount;

/// Queries of shown and missing nodes.
impl LodTree {
    /// Whether the last update left nothing to do and nothing to wait for.
    pub fn is_settled(&self) -> bool {
        // Unreadable data is not waited for, unless the source can be read again.
        self.plan.requests.is_settled()
            && self.progress.is_settled()
            && self.shown.is_settled()
            && !self.rereads.is_recovering()
            && !self.edits.is_waiting()
    }

    /// Whether the last update requested meshes that are not finished. [`wait`](Self::wait) waits
    /// for one.
    pub fn is_waiting(&self) -> bool {
        !self.plan.requests.is_empty()
    }

    /// Whether every missing mesh needs data that never comes, because its source has failed for good,
    /// and nothing else is in progress. Then updates for the same camera change nothing.
    pub fn is_cut_off(&self) -> bool {
        let Some(state) = self.data.arrival_state() else { return false };
        state.failure.is_some_and(|failure| failure.is_final)
            && state.waiting_requests == 0
            && state.received_bytes == self.progress.received_bytes
            && self.is_waiting()
            && self.workers.is_idle()
            && self.progress.is_settled()
            && !self.shown.has_pending()
            && !self.edits.is_waiting()
    }

    /// Whether shown nodes cover the whole world.
    pub fn is_whole(&self) -> bool {
        self.nodes.is_whole()
    }

    /// Number of shown nodes whose meshes still have to be made with the current
    /// [meshing](Self::set_meshing).
    pub fn outdated_count(&self) -> usize {
        self.shown.outdated.len()
    }

    /// Whether a shown node could not be read completely. Updates try again every
    /// [`RETRY_AFTER`](crate::LodData::RETRY_AFTER).
    pub const fn is_broken(&self) -> bool {
        self.rereads.is_broken
    }

    /// Returns all shown nodes, in no particular order.
    pub fn shown(&self) -> impl Iterator<Item = NodePos> {
        self.shown.nodes.keys().copied()
    }

    /// Returns the shown nodes that are not all air, in no particular order.
    pub fn shown_solid(&self) -> impl Iterator<Item = NodePos> {
        self.shown.solid()
    }

    /// Returns what is shown by level, finest level first. Levels without shown nodes are omitted.
    pub fn counts(&self) -> Vec<LodCount> {
        self.shown.counts(self.nodes.grid.top_level)
    }

    /// Size of the finished meshes that are not shown yet, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting.size_bytes + self.edits.size_bytes()
    }
}
