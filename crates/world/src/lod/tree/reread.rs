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
    pub(super) const fn is_recovering(&self) -> bool {
        self.is_broken && self.is_recovering
    }

    /// Whether something is being tried again.
    #[cfg(test)]
    pub(in crate::lod) fn is_rereading(&self) -> bool {
        self.swaps.iter().any(Swap::is_reread)
    }

    /// A mesh is shown.
    pub(super) fn note_broken(&mut self, mesh: &NodeMesh) {
        if !mesh.is_whole() && !self.is_broken {
            self.is_broken = true;
            self.reread_at = self.data.clock.now() + LodData::RETRY_AFTER;
        }
    }

    /// Has meshes made anew of which a part could not be read, if that was long enough ago. The
    /// old ones are shown until then.
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
        // By turns.
        let after = damaged.partition_point(|node| self.last_reread.is_some_and(|it| *node <= it));
        damaged.rotate_left(after);
        for &node in damaged.iter().take(NODES_AT_A_TIME) {
            self.last_reread = Some(node);
            if !self.swaps.iter().any(|swap| swap.has_any(&[node])) {
                self.swaps.push(Swap::rereading(node));
            }
        }
    }

    /// Some of what was tried again is shown. When any of it is whole the source is well again, and
    /// the next are tried at once; else they wait from now on, since that may have taken long.
    pub(super) fn note_reread(&mut self, is_whole: bool) {
        let now = self.data.clock.now();
        self.was_reread_whole |= is_whole;
        self.reread_at = if self.was_reread_whole { now } else { now + LodData::RETRY_AFTER };
    }
}
