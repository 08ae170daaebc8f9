use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use drystone_formats::{Saving, SourceError};
use drystone_voxel::{Chunk, ChunkPos, NodePos};
use rayon::{ThreadPool, ThreadPoolBuilder};
use web_time::Instant;

use super::batch::{self, Batch, Committed};
use super::database::Store;
use super::options::CommitPolicy;
use crate::epochs::Epochs;

/// Pending state of a LOD node.
pub(super) enum PendingLevel {
    /// A chunk that is not on disk yet.
    Chunk(Chunk),
    /// The chunk on disk is outdated.
    Stale,
    /// No pending change: the chunk on disk is current.
    Unchanged,
}

/// Treatment of a new LOD chunk while too much is pending.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfFull {
    /// The chunk waits for the disk.
    Wait,
    /// The chunk is dropped, since it can be made again.
    Drop,
}

/// Which thread commits.
pub(super) enum CommitMode {
    /// A background thread, which compresses on `packers` more threads; 0 means one per core.
    Background { packers: usize },
    /// The thread that calls `flush`, or `put` when too much is pending. For targets without
    /// threads.
    OnCaller,
}

/// Collects changes and commits them in groups.
pub(super) struct Committer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Signals every change of `state`.
    changed: Condvar,
    policy: CommitPolicy,
    store: Arc<Store>,
    committed: Arc<RwLock<Committed>>,
    /// Threads that compress. Separate from the global pool, whose threads may all wait in `put` or
    /// `flush`. `None` if they could not be started.
    pool: Option<ThreadPool>,
    /// Whether the waiting thread commits: [`CommitMode::OnCaller`].
    commits_on_caller: bool,
}

#[derive(Default)]
struct State {
    pending: Batch,
    pending_bytes: u64,
    /// Time of the oldest change in `pending`.
    since: Option<Instant>,
    /// Batch that is being written; newer than what is on disk.
    writing: Arc<Batch>,
    /// Number of changes below each node.
    epochs: Epochs,
    /// Number of batches: received, committed (always the oldest), and requested by `flush`.
    put_count: u64,
    committed_count: u64,
    urgent_count: u64,
    is_closing: bool,
    /// Why the last commit failed. Its changes are pending again.
    failure: Option<Failure>,
}

/// Reason why a commit failed.
enum Failure {
    /// The file was changed by another program. Permanent.
    ChangedElsewhere,
    Other(String),
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::ChangedElsewhere { .. } => Self::ChangedElsewhere,
            SourceError::Unreadable { problem, .. } => Self::Other(problem.to_string()),
            error => Self::Other(error.to_string()),
        }
    }
}

impl Committer {
    pub(super) fn new(
        store: Arc<Store>,
        committed: Arc<RwLock<Committed>>,
        policy: CommitPolicy,
        mode: CommitMode,
    ) -> Result<Self, SourceError> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let CommitMode::Background { packers } = mode else {
            let (pool, commits_on_caller) = (None, true);
            let shared =
                Shared { state, changed, policy, store, committed, pool, commits_on_caller };
            return Ok(Self { shared: Arc::new(shared), thread: None });
        };
        let pool = ThreadPoolBuilder::new().num_threads(packers);
        let pool = pool.thread_name(|n| format!("compress {n}")).build().ok();
        let commits_on_caller = false;
        let shared = Shared { state, changed, policy, store, committed, pool, commits_on_caller };
        let shared = Arc::new(shared);
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("committer".into())
            .spawn(move || worker.run())
            .map_err(|problem| SourceError::Unreadable {
                path: shared.store.path().into(),
                problem,
            })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The pending content of a chunk; `None` if the content on disk is current.
    pub(super) fn get(&self, position: ChunkPos) -> Option<Chunk> {
        let state = self.shared.lock();
        let newest = state.pending.chunks.get(&position);
        newest.or_else(|| state.writing.chunks.get(&position)).cloned()
    }

    /// Whether the pending chunks below `node` may hold voxels; `None` if there are none.
    pub(super) fn may_hold(&self, node: NodePos) -> Option<bool> {
        if node.level == 0 {
            return self.get(node.chunk).map(|chunk| !chunk.is_empty());
        }
        let state = self.shared.lock();
        let waits = state.pending.stale.contains(&node) || state.writing.stale.contains(&node);
        waits.then_some(true)
    }

    /// The pending state of a LOD node. Does not read the disk.
    pub(super) fn level(&self, node: NodePos) -> PendingLevel {
        let state = self.shared.lock();
        for batch in [&state.pending, &*state.writing] {
            match batch.levels.get(&node) {
                Some(chunk) => return PendingLevel::Chunk(chunk.clone()),
                None if batch.stale.contains(&node) => return PendingLevel::Stale,
                None => {}
            }
        }
        PendingLevel::Unchanged
    }

    /// Positions of pending chunks, and whether each holds voxels.
    pub(super) fn waiting(&self) -> Vec<(ChunkPos, bool)> {
        let state = self.shared.lock();
        let both = [&state.writing.chunks, &state.pending.chunks].into_iter().flatten();
        both.map(|(&position, chunk)| (position, !chunk.is_empty())).collect()
    }

    /// Pending chunks in their newest state.
    pub(super) fn waiting_chunks(&self) -> Vec<(ChunkPos, Chunk)> {
        let state = self.shared.lock();
        let mut chunks = state.writing.chunks.clone();
        chunks.extend(state.pending.chunks.iter().map(|(&at, chunk)| (at, chunk.clone())));
        chunks.into_iter().collect()
    }

    /// Saving progress: number of pending chunks and the last failure.
    pub(super) fn saving(&self) -> Saving {
        let state = self.shared.lock();
        let both = [&state.writing.chunks, &state.pending.chunks];
        let waiting_chunks = both.map(|chunks| chunks.len() as u64).iter().sum();
        // The message includes the path: the caller may show several files.
        let failure = state.failure.as_ref().map(|it| self.shared.error_of(it).to_string());
        Saving { waiting_chunks, failure }
    }

    /// Adds a batch, which is committed as a whole.
    pub(super) fn put(&self, batch: Batch) -> Result<(), SourceError> {
        let mut state = self.shared.lock_with_capacity();
        if let Some(failure) = &state.failure {
            return Err(self.shared.error_of(failure));
        }
        batch.stale.iter().for_each(|&node| state.epochs.begin(node));
        self.shared.enqueue(&mut state, batch);
        Ok(())
    }

    /// Number of changes below a node.
    pub(super) fn epoch(&self, node: NodePos) -> u64 {
        self.shared.lock().epochs.of(node)
    }

    /// Adds a LOD chunk that was made from the chunks below in `epoch`. Drops it if the chunks
    /// changed since then or the last commit failed: it can be made again.
    pub(super) fn put_level(&self, node: NodePos, chunk: &Chunk, epoch: u64, if_full: IfFull) {
        let mut state = match if_full {
            IfFull::Wait => self.shared.lock_with_capacity(),
            IfFull::Drop => self.shared.lock(),
        };
        if self.shared.has_capacity(&state)
            && state.epochs.of(node) == epoch
            && state.failure.is_none()
            && !chunk.is_empty()
        {
            let levels = [(node, chunk.clone())].into();
            self.shared.enqueue(&mut state, Batch { levels, ..Batch::default() });
        }
    }

    /// Whether a batch is being written.
    #[cfg(test)]
    pub(super) fn is_writing(&self) -> bool {
        !self.shared.lock().writing.is_empty()
    }

    /// Returns the failure of the last commit, if it failed.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        match &self.shared.lock().failure {
            Some(failure) => Err(self.shared.error_of(failure)),
            None => Ok(()),
        }
    }

    /// Returns when all earlier changes are on disk. Does not wait for later ones.
    pub(super) fn flush(&self) -> Result<(), SourceError> {
        let mut state = self.shared.lock();
        state.failure = None;
        let goal = state.put_count;
        state.urgent_count = goal;
        self.shared.changed.notify_all();
        while state.committed_count < goal {
            if let Some(failure) = &state.failure {
                return Err(self.shared.error_of(failure));
            }
            state = self.shared.wait_for_commit(state);
        }
        Ok(())
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            // Failed changes are tried once more.
            (state.is_closing, state.failure) = (true, None);
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread catches panics of commits; another panic cannot be reported here.
            let _ = thread.join();
        } else {
            drop(self.shared.wait_for_commit(self.shared.lock()));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        time: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        match time {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(time) => {
                let waited = self.changed.wait_timeout(state, time);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Waits until the pending changes are within their limit, or a commit failed.
    fn lock_with_capacity(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while !self.has_capacity(&state) && state.failure.is_none() {
            state = self.wait_for_commit(state);
        }
        state
    }

    /// Waits for the next commit, or commits on this thread in [`CommitMode::OnCaller`].
    fn wait_for_commit<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        // Another thread may be committing already: do not overtake its batch.
        if !self.commits_on_caller || !state.writing.is_empty() {
            return self.wait(state, None);
        }
        if state.pending.is_empty() { state } else { self.commit(state) }
    }

    /// Whether the pending changes are within their limit.
    const fn has_capacity(&self, state: &State) -> bool {
        state.pending_bytes <= self.policy.max_bytes.saturating_mul(4)
    }

    fn enqueue(&self, state: &mut State, batch: Batch) {
        state.pending_bytes += size_bytes(&batch);
        state.pending.extend(batch);
        state.put_count += 1;
        state.since.get_or_insert_with(Instant::now);
        self.changed.notify_all();
    }

    fn error_of(&self, failure: &Failure) -> SourceError {
        let path = self.store.path().into();
        match failure {
            Failure::ChangedElsewhere => SourceError::ChangedElsewhere { path },
            Failure::Other(problem) => SourceError::NotCommitted { path, problem: problem.clone() },
        }
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            let has_work = !state.pending.is_empty() && state.failure.is_none();
            if !has_work {
                if state.is_closing {
                    return;
                }
                state = self.wait(state, None);
                continue;
            }
            let age = state.since.map_or(Duration::ZERO, |since| since.elapsed());
            let left = self.policy.max_delay.saturating_sub(age);
            let is_due = left.is_zero() || state.pending_bytes >= self.policy.max_bytes;
            let is_urgent = state.committed_count < state.urgent_count;
            if is_due || is_urgent || state.is_closing {
                state = self.commit(state);
            } else {
                state = self.wait(state, Some(left));
            }
        }
    }

    fn commit<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let batch = Arc::new(std::mem::take(&mut state.pending));
        state.writing = Arc::clone(&batch);
        let count = state.put_count;
        (state.pending_bytes, state.since) = (0, None);
        drop(state);
        let done = catch_unwind(AssertUnwindSafe(|| {
            batch::commit(&self.store, &self.committed, &batch, self.pool.as_ref())
        }));
        let failure = match done {
            Ok(done) => done.err().map(Failure::from),
            Err(_) => Some(Failure::Other("compressing it panicked".into())),
        };
        let mut state = self.lock();
        state.writing = Arc::default();
        if failure.is_none() {
            state.committed_count = count;
        } else {
            state.failure = failure;
            // This thread holds the only reference now.
            if let Some(mut batch) = Arc::into_inner(batch) {
                batch.extend(std::mem::take(&mut state.pending));
                state.pending_bytes = size_bytes(&batch);
                state.pending = batch;
            }
        }
        self.changed.notify_all();
        state
    }
}

/// Memory of a batch, in bytes: its chunks and the nodes above them.
fn size_bytes(batch: &Batch) -> u64 {
    let each = size_of::<(NodePos, Chunk)>();
    let chunks = batch.chunks.values().chain(batch.levels.values());
    let chunks: usize = chunks.map(|chunk| chunk.size_bytes() + each).sum();
    // Hash tables are up to half empty.
    (chunks + 2 * batch.stale.len() * size_of::<NodePos>()) as u64
}

#[cfg(test)]
mod tests {
    use drystone_voxel::Material;

    use super::*;

    /// A uniform chunk needs almost no memory, but the nodes above it do.
    #[test]
    fn stale_nodes_count_as_memory() {
        let one = (ChunkPos::new(-5, 0, 9), Chunk::new(Chunk::SIDE, Material(1)));
        let batch = Batch::of_chunks([one].into());
        let nodes = usize::from(NodePos::MAX_LEVEL) * size_of::<NodePos>();
        assert!(size_bytes(&batch) as usize >= nodes + size_of::<(NodePos, Chunk)>());
        assert_eq!(size_bytes(&Batch::default()), 0);
    }
}
