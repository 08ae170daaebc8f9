use super::LevelTree;
use super::swap::Swap;
use crate::NodePos;
use crate::levels::{LevelData, NodeMesh};

/// So many nodes are tried again at a time: where a whole disk fails, each may take its time.
const NODES_AT_A_TIME: usize = 16;

impl LevelTree {
    /// Whether something is shown of which a part could not be read: updates try it again,
    /// every [`RETRY_AFTER`](LevelData::RETRY_AFTER).
    pub const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// A mesh is shown.
    pub(super) fn note_broken(&mut self, mesh: &NodeMesh) {
        if !mesh.is_whole() && !self.is_broken {
            self.is_broken = true;
            self.heals_at = self.data.clock.now() + LevelData::RETRY_AFTER;
        }
    }

    /// Has meshes made anew of which a part could not be read, if that was long enough ago. The
    /// old ones are shown until then.
    pub(super) fn heal(&mut self) {
        let now = self.data.clock.now();
        if !self.is_broken || now < self.heals_at {
            return;
        }
        self.heals_at = now + LevelData::RETRY_AFTER;
        let broken = self.shown.iter().filter(|(_, shown)| !shown.mesh.is_whole());
        let mut broken: Vec<NodePos> = broken.map(|(&node, _)| node).collect();
        self.is_broken = !broken.is_empty();
        broken.sort_unstable();
        // By turns.
        let after = broken.partition_point(|node| self.healed_last.is_some_and(|it| *node <= it));
        broken.rotate_left(after);
        for &node in broken.iter().take(NODES_AT_A_TIME) {
            self.healed_last = Some(node);
            if !self.swaps.iter().any(|swap| swap.has_any(&[node])) {
                self.swaps.push(Swap::alone(node));
            }
        }
    }
}
