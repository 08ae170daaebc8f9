use drystone_world::{CommitPolicy, EditHistory, LevelConfig};

/// One limit of memory, divided among all that grows while a world is shown at levels of
/// detail. What one share does not use, no other gets.
///
/// | share | holds | when it is full |
/// |---|---|---|
/// | 1/2 | quads that are shown, in the vertex memory of the renderer | voxels become larger |
/// | 1/4 | chunks that were used lately | what was used last is made again |
/// | 1/16 | meshes that are made and wait to be shown | no more are made |
/// | 1/8 | edits that can be taken back | the oldest cannot any more |
/// | 1/64, up to 8 times for a moment | edits that wait to be written | who edits waits for the disk |
/// | the rest | what follows from these: places and commands of meshes, walls, room that buffers have to spare | – |
///
/// # Limits
/// Beside it a process takes [`BASE_BYTES`](Self::BASE_BYTES): the program, its picture, what
/// each thread works with, and what a source keeps for itself. Edits that nothing keeps, or that
/// cannot be written, count nowhere: nothing may be thrown away of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// What is divided if nothing else is said.
    pub const DEFAULT_BYTES: u64 = 1 << 30;
    /// With less, no world is worth looking at.
    pub const LEAST_BYTES: u64 = 32 << 20;
    /// What a process takes beside its budget, drawing by itself with up to four threads.
    pub const BASE_BYTES: u64 = 64 << 20;

    /// Divides so many bytes, at least [`LEAST_BYTES`](Self::LEAST_BYTES).
    pub const fn new(bytes: u64) -> Self {
        Self { bytes: if bytes < Self::LEAST_BYTES { Self::LEAST_BYTES } else { bytes } }
    }

    /// All of it.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// For quads that are shown.
    pub const fn vertex_bytes(self) -> u64 {
        self.bytes / 2
    }

    /// For chunks that were used lately.
    pub fn cache_bytes(self) -> usize {
        to_usize(self.bytes / 4)
    }

    /// For meshes that wait to be shown.
    pub fn waiting_bytes(self) -> usize {
        to_usize(self.bytes / 16)
    }

    /// For edits that can be taken back.
    pub fn history_bytes(self) -> usize {
        to_usize(self.bytes / 8)
    }

    /// No edits yet, as many as there is room for later.
    pub fn history(self) -> EditHistory {
        EditHistory::new(self.history_bytes())
    }

    /// The policy, with no more edits waiting than there is room for.
    pub fn commit_policy(self, policy: CommitPolicy) -> CommitPolicy {
        CommitPolicy { max_bytes: policy.max_bytes.min(self.bytes / 64), ..policy }
    }

    /// How levels are shown by default, within this budget.
    pub fn level_config(self) -> LevelConfig {
        LevelConfig { waiting_bytes: self.waiting_bytes(), ..LevelConfig::default() }
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::LevelScene;

    #[test]
    fn shares_are_no_more_than_all_and_by_default_the_defaults() {
        for mib in [0, 1, 32, 33, 700, 1 << 20] {
            let budget = MemoryBudget::new(mib << 20);
            let shares = budget.cache_bytes() + budget.waiting_bytes() + budget.history_bytes();
            assert_eq!(budget.bytes(), (mib << 20).max(MemoryBudget::LEAST_BYTES));
            assert!((shares as u64 + budget.vertex_bytes()) * 16 <= budget.bytes() * 15);
            let vast = CommitPolicy { max_bytes: u64::MAX, ..CommitPolicy::default() };
            assert!(budget.commit_policy(vast).max_bytes * 64 <= budget.bytes());
        }
        let budget = MemoryBudget::default();
        assert_eq!(budget.vertex_bytes(), LevelScene::MOST_BYTES);
        assert_eq!(budget.level_config(), LevelConfig::default());
        assert_eq!(budget.history_bytes(), EditHistory::DEFAULT_BYTES);
        let policy = CommitPolicy::default();
        assert_eq!(budget.commit_policy(policy), policy);
    }
}
