use super::LodTree;
use super::swap::Swap;
use crate::NodePos;
use crate::lod::{LodData, NodeMesh};

/// So many nodes are tried again at a time: where a whole disk fails, each may take its time.
const NODES_AT_A_TIME: usize = 16;

impl LodTree {
    /// Whether something is shown of which a part could not be read: updates try it again,
    /// every [`RETRY_AFTER`](LodData::RETRY_AFTER).
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Whether the source is well again and not all is mended.
    pub(super) const fn is_healing(&self) -> bool {
        self.is_broken && self.is_healing
    }

    /// Whether something is being tried again.
    #[cfg(test)]
    pub(in crate::lod) fn is_mending(&self) -> bool {
        self.swaps.iter().any(Swap::mends)
    }

    /// A mesh is shown.
    pub(super) fn note_broken(&mut self, mesh: &NodeMesh) {
        if !mesh.is_whole() && !self.is_broken {
            self.is_broken = true;
            self.heals_at = self.data.clock.now() + LodData::RETRY_AFTER;
        }
    }

    /// Has meshes made anew of which a part could not be read, if that was long enough ago. The
    /// old ones are shown until then.
    pub(super) fn heal(&mut self) {
        let now = self.data.clock.now();
        let is_tried = || self.swaps.iter().any(Swap::mends);
        if !self.is_broken || now < self.heals_at || is_tried() {
            return;
        }
        self.heals_at = now + LodData::RETRY_AFTER;
        self.is_healing = std::mem::take(&mut self.was_mended);
        let broken = self.shown.iter().filter(|(_, shown)| !shown.made.is_whole());
        let mut broken: Vec<NodePos> = broken.map(|(&node, _)| node).collect();
        self.is_broken = !broken.is_empty();
        broken.sort_unstable();
        // By turns.
        let after = broken.partition_point(|node| self.healed_last.is_some_and(|it| *node <= it));
        broken.rotate_left(after);
        for &node in broken.iter().take(NODES_AT_A_TIME) {
            self.healed_last = Some(node);
            if !self.swaps.iter().any(|swap| swap.has_any(&[node])) {
                self.swaps.push(Swap::mending(node));
            }
        }
    }

    /// Some of what was tried again is shown. When any of it is whole the source is well again, and
    /// the next are tried at once; else they wait from now on, since that may have taken long.
    pub(super) fn note_mended(&mut self, is_whole: bool) {
        let now = self.data.clock.now();
        self.was_mended |= is_whole;
        self.heals_at = if self.was_mended { now } else { now + LodData::RETRY_AFTER };
    }
}
