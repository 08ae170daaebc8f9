use drystone_world::{CommitPolicy, EditHistory, LodConfig};

const SIXTEENTHS: u64 = 16;
const VERTICES: u64 = 8;
const CACHE: u64 = 3;
const WAITING: u64 = 1;
const EDITS: u64 = 2;
const WRITING: u64 = 1;
/// What has no limit of its own.
const REST: u64 = 1;
const _: () = assert!(VERTICES + CACHE + WAITING + EDITS + WRITING + REST == SIXTEENTHS);
/// While a batch is written, four times as much as it should be may wait, and as much be written.
const BATCHES: u64 = 8;

/// One limit of memory, divided among all that grows while a world is shown at levels of
/// detail. What one share does not use, no other gets.
///
/// | share | holds | when it is full |
/// |---|---|---|
/// | 8/16 | quads that are shown, in the vertex memory of the renderer | voxels become larger |
/// | 3/16 | chunks that were used lately | what was used last is made again |
/// | 1/16 | meshes that are made and wait to be shown; of a sixteenth of that, those that were edited lately | no more are made |
/// | 2/16 | edits: those that no file keeps, and what can be taken back | the oldest cannot be taken back any more; then no more is edited |
/// | 1/16 | edits that wait to be written, eight batches of them | who edits waits for the disk |
/// | 1/16 | what follows from these: places and commands of meshes, walls, room that buffers have to spare | – |
///
/// # Limits
/// Beside it a process takes [`BASE_BYTES`](Self::BASE_BYTES): the program, its picture, what
/// each thread works with, and what a source keeps for itself.
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

    /// So many sixteenths, or fewer bytes.
    const fn share(self, sixteenths: u64) -> u64 {
        self.bytes / SIXTEENTHS * sixteenths
    }

    /// For quads that are shown.
    pub const fn vertex_bytes(self) -> u64 {
        self.share(VERTICES)
    }

    /// For chunks that were used lately.
    pub fn cache_bytes(self) -> usize {
        to_usize(self.share(CACHE))
    }

    /// For meshes that wait to be shown.
    pub fn waiting_bytes(self) -> usize {
        to_usize(self.share(WAITING))
    }

    /// For edits that no file keeps and those that can be taken back, together.
    pub fn edit_bytes(self) -> usize {
        to_usize(self.share(EDITS))
    }

    /// No edits yet, as many as there is room for later.
    pub fn history(self) -> EditHistory {
        EditHistory::new(self.edit_bytes())
    }

    /// The policy, with no more edits waiting than there is room for.
    pub fn commit_policy(self, policy: CommitPolicy) -> CommitPolicy {
        let most = self.share(WRITING) / BATCHES;
        CommitPolicy { max_bytes: policy.max_bytes.min(most), ..policy }
    }

    /// How levels are shown by default, within this budget.
    pub fn level_config(self) -> LodConfig {
        LodConfig { waiting_bytes: self.waiting_bytes(), ..LodConfig::default() }
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
    use crate::scene::LodScene;

    #[test]
    fn shares_are_all_and_by_default_the_defaults() {
        let vast = CommitPolicy { max_bytes: u64::MAX, ..CommitPolicy::default() };
        for mib in [0, 1, 32, 33, 700, 1 << 20] {
            let budget = MemoryBudget::new(mib << 20);
            assert_eq!(budget.bytes(), (mib << 20).max(MemoryBudget::LEAST_BYTES));
            let held = budget.cache_bytes() + budget.waiting_bytes() + budget.edit_bytes();
            let writing = 8 * budget.commit_policy(vast).max_bytes;
            // The rest is a sixteenth.
            let all = budget.vertex_bytes() + held as u64 + writing;
            assert_eq!(all, budget.bytes() / 16 * 15, "of {mib} MiB");
        }
        let budget = MemoryBudget::default();
        assert_eq!(budget.vertex_bytes(), LodScene::MAX_BYTES);
        assert_eq!(budget.level_config(), LodConfig::default());
        assert_eq!(budget.edit_bytes(), EditHistory::DEFAULT_BYTES);
        let policy = CommitPolicy::default();
        assert_eq!(budget.commit_policy(policy), policy);
    }
}
