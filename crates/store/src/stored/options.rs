use std::time::Duration;

/// Options for [`StoredWorld::open`](crate::StoredWorld::open).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreOptions {
    /// Whether the world is opened for writing. Default: yes.
    pub access: StoreAccess,
    /// Limits for pending edits.
    pub policy: CommitPolicy,
    /// Number of threads that compress chunks; 0 means one per core. A file in memory uses none.
    /// Default: 0.
    pub threads: usize,
}

impl StoreOptions {
    /// Replaces [`access`](Self::access).
    #[must_use]
    pub fn with_access(mut self, access: StoreAccess) -> Self {
        self.access = access;
        self
    }

    /// Replaces [`policy`](Self::policy).
    #[must_use]
    pub fn with_policy(mut self, policy: CommitPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Replaces [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

impl StoreOptions {
    /// Options for a world that is only read, otherwise the default ones.
    pub fn read_only() -> Self {
        Self { access: StoreAccess::Read, ..Self::default() }
    }
}

impl From<CommitPolicy> for StoreOptions {
    fn from(policy: CommitPolicy) -> Self {
        Self { policy, ..Self::default() }
    }
}

/// Access to a stored world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreAccess {
    /// Reading, as of the last commit. Any number of readers and one writer may have the file open.
    /// Later commits do not change what this reader sees, so the file can grow meanwhile.
    Read,
    /// Reading and writing. Recovers a world that was not closed because its process was killed.
    #[default]
    Write,
}

/// Limits for pending edits; exceeding one commits them to disk. Edits are grouped because every
/// commit waits some milliseconds for the disk, however small it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitPolicy {
    /// Longest time that an edit stays pending. Default: 1 s.
    pub max_delay: Duration,
    /// Memory of pending chunks, in bytes, that triggers a commit at once. Default: 8 MiB. When
    /// four times as much is pending, [`StoredWorld::put`](crate::StoredWorld::put) blocks on the
    /// disk. The page cache of the file has the same size of four times this value, clamped to 1 to
    /// 32 MiB.
    pub max_bytes: u64,
}

/// Default size of the page cache, in bytes.
pub(super) const CACHE_BYTES: usize = 32 << 20;

impl CommitPolicy {
    /// The default policy, for constants.
    pub const DEFAULT: Self = Self { max_delay: Duration::from_secs(1), max_bytes: 8 << 20 };

    /// Replaces [`max_delay`](Self::max_delay).
    #[must_use]
    pub const fn with_max_delay(mut self, max_delay: Duration) -> Self {
        self.max_delay = max_delay;
        self
    }

    /// Replaces [`max_bytes`](Self::max_bytes).
    #[must_use]
    pub const fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Size of the page cache, in bytes.
    pub(crate) fn cache_bytes(self) -> usize {
        let bytes = usize::try_from(self.max_bytes.saturating_mul(4)).unwrap_or(CACHE_BYTES);
        bytes.clamp(1 << 20, CACHE_BYTES)
    }
}

impl Default for CommitPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
