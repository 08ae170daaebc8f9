use drystone_store::CommitPolicy;
use drystone_world::{EditHistory, LodConfig};

const SIXTEENTHS: u64 = 16;
const VERTICES: u64 = 8;
const CACHE: u64 = 3;
const WAITING: u64 = 1;
const EDITS: u64 = 2;
const WRITING: u64 = 1;
/// Reserve without a limit of its own.
const REST: u64 = 1;
const _: () = assert!(VERTICES + CACHE + WAITING + EDITS + WRITING + REST == SIXTEENTHS);
/// Memory of the source, in addition to the budget.
const SOURCE: u64 = 1;
const MIN_SOURCE_BYTES: usize = 16 << 20;
/// While a batch is written, up to four more may wait and as many be written.
const BATCHES: u64 = 8;

/// Memory limit for a voxel world, divided into fixed shares. Memory that one share does not use is
/// not given to others.
///
/// In full detail, visible quads and voxels have no limit, and the first two shares do not apply.
///
/// | share | content | when it is full |
/// |---|---|---|
/// | 8/16 | visible quads at levels of detail, in the renderer's vertex memory | voxels become larger |
/// | 3/16 | recently used chunks at levels of detail | the least recently used are dropped and read again later |
/// | 1/16 | finished meshes that are not shown yet; a sixteenth of it caches recently edited ones | no more are built |
/// | 2/16 | unsaved edits and the undo history | the oldest history is dropped; then edits are refused |
/// | 1/16 | edits that wait to be written, eight batches | edits wait for the disk |
/// | 1/16 | derived data: ranges and commands of meshes, skirts, spare capacity of buffers | – |
///
/// # Limits
/// A process takes [`BASE_BYTES`](Self::BASE_BYTES) in addition: the program, its picture, working
/// memory of threads, and memory of the source, which is at most a further sixteenth or 16 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// Default limit in bytes.
    pub const DEFAULT_BYTES: u64 = 1 << 30;
    /// Smallest supported limit in bytes.
    pub const MIN_BYTES: u64 = 32 << 20;
    /// Bytes that a process takes in addition to its budget, with the software rasteriser and up to
    /// four threads.
    pub const BASE_BYTES: u64 = 64 << 20;

    /// Bytes that a process takes in addition for a world at an address: the network client and its requests.
    pub const NETWORK_BYTES: u64 = 16 << 20;

    /// Creates a budget of this many bytes, at least [`MIN_BYTES`](Self::MIN_BYTES).
    pub const fn new(bytes: u64) -> Self {
        Self { bytes: if bytes < Self::MIN_BYTES { Self::MIN_BYTES } else { bytes } }
    }

    /// Returns the whole budget in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Returns a number of sixteenths, in bytes.
    const fn share(self, sixteenths: u64) -> u64 {
        self.bytes / SIXTEENTHS * sixteenths
    }

    /// Returns the bytes for visible quads.
    pub const fn vertex_bytes(self) -> u64 {
        self.share(VERTICES)
    }

    /// Returns the bytes for recently used chunks.
    pub fn cache_bytes(self) -> usize {
        to_usize(self.share(CACHE))
    }

    /// Returns the bytes for what a source keeps because it was read recently.
    pub fn source_bytes(self) -> usize {
        to_usize(self.share(SOURCE)).max(MIN_SOURCE_BYTES)
    }

    /// Returns the bytes for meshes that are not shown yet.
    pub fn waiting_bytes(self) -> usize {
        to_usize(self.share(WAITING))
    }

    /// Returns the bytes for unsaved edits and history together.
    pub fn edit_bytes(self) -> usize {
        to_usize(self.share(EDITS))
    }

    /// Returns an empty history with its limit.
    pub fn history(self) -> EditHistory {
        EditHistory::new(self.edit_bytes())
    }

    /// Returns the policy, with the waiting edits limited to their share.
    pub fn commit_policy(self, policy: CommitPolicy) -> CommitPolicy {
        let max_bytes = self.share(WRITING) / BATCHES;
        policy.with_max_bytes(policy.max_bytes.min(max_bytes))
    }

    /// Returns the default level configuration within this budget.
    pub fn level_config(self) -> LodConfig {
        LodConfig::default().with_waiting_bytes(self.waiting_bytes())
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
    use crate::scene::VoxelScene;

    #[test]
    fn shares_add_up_and_match_the_defaults() {
        let vast = CommitPolicy::default().with_max_bytes(u64::MAX);
        for mib in [0, 1, 32, 33, 700, 1 << 20] {
            let budget = MemoryBudget::new(mib << 20);
            assert_eq!(budget.bytes(), (mib << 20).max(MemoryBudget::MIN_BYTES));
            let held = budget.cache_bytes() + budget.waiting_bytes() + budget.edit_bytes();
            let writing = 8 * budget.commit_policy(vast).max_bytes;
            // The rest is a sixteenth.
            let all = budget.vertex_bytes() + held as u64 + writing;
            assert_eq!(all, budget.bytes() / 16 * 15, "of {mib} MiB");
        }
        let budget = MemoryBudget::default();
        assert_eq!(budget.vertex_bytes(), VoxelScene::MAX_BYTES);
        assert_eq!(budget.level_config(), LodConfig::default());
        assert_eq!(budget.edit_bytes(), EditHistory::DEFAULT_BYTES);
        let policy = CommitPolicy::default();
        assert_eq!(budget.commit_policy(policy), policy);
    }
}
