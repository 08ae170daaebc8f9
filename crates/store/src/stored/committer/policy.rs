use std::time::Duration;

use crate::stored::database::CACHE_BYTES;

/// Limits for pending edits; exceeding one commits them to disk. Edits are grouped because every
/// commit waits some milliseconds for the disk, however small it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitPolicy {
    /// Longest time that an edit stays pending. Default: 1 s.
    pub max_delay: Duration,
    /// Memory of pending chunks, in bytes, that triggers a commit at once. Default: 8 MiB. When
    /// four times as much is pending, [`StoredWorld::put`](crate::StoredWorld::put) blocks on the
    /// disk. The page cache of the file has the same size of four times this value, clamped to 1 to
    /// 32 MiB.
    pub max_bytes: u64,
}

impl CommitPolicy {
    /// Size of the page cache, in bytes.
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
