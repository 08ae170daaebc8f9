use std::time::Duration;

use crate::stored::database::CACHE_BYTES;

/// When edits are written to disk, in groups: a commit waits for the disk, some milliseconds
/// however small it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitPolicy {
    /// The longest that an edit waits. Default 1 s.
    pub max_delay: Duration,
    /// The memory of edited chunks, in bytes, from which on nothing is waited for. At four
    /// times as much, who edits waits for the disk; and that is what the file's pages that are
    /// read again take, from 1 to 32 MiB. Default 8 MiB.
    pub max_bytes: u64,
}

impl CommitPolicy {
    /// The memory, in bytes, for what of the file is read again.
    pub(crate) fn cache_bytes(self) -> usize {
        let bytes = usize::try_from(self.max_bytes.saturating_mul(4)).unwrap_or(CACHE_BYTES);
        bytes.clamp(1 << 20, CACHE_BYTES)
    }
}

impl Default for CommitPolicy {
    fn default() -> Self {
        Self { max_delay: Duration::from_secs(1), max_bytes: 8 << 20 }
    }
}
