use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos};
use rayon::{ThreadPool, ThreadPoolBuilder};
use web_time::Instant;

use super::batch::{self, Batch, Committed};
use super::database::Store;
use crate::lod::Epochs;
use crate::{NodePos, Saving, WorldError};

mod policy;

pub use policy::CommitPolicy;

/// What waits to be committed says of a node of larger voxels.
pub(super) enum Waiting {
    Kept(Chunk),
    /// What is on disk is no longer true.
    Stale,
    /// What is on disk is true.
    Unknown,
}

/// Who commits.
pub(super) enum Who {
    /// A thread of its own, which packs on so many more; 0 for as many as there are cores.
    Thread { packers: usize },
    /// Whoever waits for it, as where there are no threads.
    Asks,
}

/// Takes edits and commits them on a thread of its own, if it has one.
pub(super) struct Committer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Something has changed that one of both sides waits for.
    changed: Condvar,
    policy: CommitPolicy,
    store: Arc<Store>,
    committed: Arc<RwLock<Committed>>,
    /// Threads that pack. Not those of everybody: they may all wait in `put` or `flush`.
    /// `None` where the system gives none.
    pool: Option<ThreadPool>,
    /// Whether who waits commits.
    is_by_hand: bool,
}

#[derive(Default)]
struct State {
    pending: Batch,
    pending_bytes: u64,
    /// When the oldest of `pending` came.
    since: Option<Instant>,
    /// What is being written; still newer than what is read from disk.
    writing: Arc<Batch>,
    /// How often chunks were put below each node.
    epochs: Epochs,
    /// How many batches were put; how many of these, the oldest ones, are on disk; and how
    /// many somebody waits for.
    put_count: u64,
    committed_count: u64,
    urgent_count: u64,
    is_closing: bool,
    /// Why the last commit failed; its edits are pending again.
    failure: Option<Failure>,
}

/// Why a commit failed.
enum Failure {
    /// Another has changed the file: that stays so.
    ChangedElsewhere,
    Other(String),
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        match error {
            WorldError::ChangedElsewhere { .. } => Self::ChangedElsewhere,
            WorldError::Unreadable { problem, .. } => Self::Other(problem.to_string()),
            error => Self::Other(error.to_string()),
        }
    }
}

impl Committer {
    pub(super) fn new(
        store: Arc<Store>,
        committed: Arc<RwLock<Committed>>,
        policy: CommitPolicy,
        who: Who,
    ) -> Result<Self, WorldError> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let Who::Thread { packers } = who else {
            let (pool, is_by_hand) = (None, true);
            let shared = Shared { state, changed, policy, store, committed, pool, is_by_hand };
            return Ok(Self { shared: Arc::new(shared), thread: None });
        };
        let pool = ThreadPoolBuilder::new().num_threads(packers);
        let pool = pool.thread_name(|n| format!("packs {n}")).build().ok();
        let is_by_hand = false;
        let shared = Shared { state, changed, policy, store, committed, pool, is_by_hand };
        let shared = Arc::new(shared);
        let worker = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("commits".into())
            .spawn(move || worker.run())
            .map_err(|problem| WorldError::Unreadable {
                path: shared.store.path().into(),
                problem,
            })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The chunk as it was last put, unless that is on disk.
    pub(super) fn get(&self, position: ChunkPos) -> Option<Chunk> {
        let state = self.shared.lock();
        let newest = state.pending.chunks.get(&position);
        newest.or_else(|| state.writing.chunks.get(&position)).cloned()
    }

    /// Whether there may be something in the chunks that `node` covers, as far as they wait to
    /// be written; `None` where they do not.
    pub(super) fn may_hold(&self, node: NodePos) -> Option<bool> {
        if node.level == 0 {
            return self.get(node.chunk).map(|chunk| !chunk.is_empty());
        }
        let state = self.shared.lock();
        let waits = state.pending.stale.contains(&node) || state.writing.stale.contains(&node);
        waits.then_some(true)
    }

    /// What is known of a node of larger voxels without a look at the disk.
    pub(super) fn level(&self, node: NodePos) -> Waiting {
        let state = self.shared.lock();
        for batch in [&state.pending, &*state.writing] {
            match batch.levels.get(&node) {
                Some(chunk) => return Waiting::Kept(chunk.clone()),
                None if batch.stale.contains(&node) => return Waiting::Stale,
                None => {}
            }
        }
        Waiting::Unknown
    }

    /// What is not on disk yet: each chunk's place, and whether it holds anything.
    pub(super) fn waiting(&self) -> Vec<(ChunkPos, bool)> {
        let state = self.shared.lock();
        let both = [&state.writing.chunks, &state.pending.chunks].into_iter().flatten();
        both.map(|(&position, chunk)| (position, !chunk.is_empty())).collect()
    }

    /// The chunks that are not on disk yet, as they were last put.
    pub(super) fn waiting_chunks(&self) -> Vec<(ChunkPos, Chunk)> {
        let state = self.shared.lock();
        let mut chunks = state.writing.chunks.clone();
        chunks.extend(state.pending.chunks.iter().map(|(&at, chunk)| (at, chunk.clone())));
        chunks.into_iter().collect()
    }

    /// How far what was put is from being on disk.
    pub(super) fn saving(&self) -> Saving {
        let state = self.shared.lock();
        let both = [&state.writing.chunks, &state.pending.chunks];
        let waiting_chunks = both.map(|chunks| chunks.len() as u64).iter().sum();
        // With the place: whoever shows it may know of several files.
        let failure = state.failure.as_ref().map(|it| self.shared.failed(it).to_string());
        Saving { waiting_chunks, failure }
    }

    /// Takes a batch, which is committed as a whole.
    pub(super) fn put(&self, batch: Batch) -> Result<(), WorldError> {
        let mut state = self.shared.with_room();
        if let Some(failure) = &state.failure {
            return Err(self.shared.failed(failure));
        }
        batch.stale.iter().for_each(|&node| state.epochs.begin(node));
        self.shared.take(&mut state, batch);
        Ok(())
    }

    /// How often chunks were put below a node.
    pub(super) fn epoch(&self, node: NodePos) -> u64 {
        self.shared.lock().epochs.of(node)
    }

    /// Takes a chunk of larger voxels, made of what was there in this epoch of the node. Where that has changed since, or nothing can be written, it is
    /// forgotten: it can be made again. So it is where too much waits, unless `waits` says
    /// that the disk is waited for.
    pub(super) fn put_level(&self, node: NodePos, chunk: &Chunk, epoch: u64, waits: bool) {
        let mut state = if waits { self.shared.with_room() } else { self.shared.lock() };
        if self.shared.has_room(&state)
            && state.epochs.of(node) == epoch
            && state.failure.is_none()
            && !chunk.is_empty()
        {
            let levels = [(node, chunk.clone())].into();
            self.shared.take(&mut state, Batch { levels, ..Batch::default() });
        }
    }

    /// Whether a batch is being written.
    #[cfg(test)]
    pub(super) fn is_writing(&self) -> bool {
        !self.shared.lock().writing.is_empty()
    }

    /// Whether all could be written so far.
    pub(super) fn check(&self) -> Result<(), WorldError> {
        match &self.shared.lock().failure {
            Some(failure) => Err(self.shared.failed(failure)),
            None => Ok(()),
        }
    }

    /// Returns when all that was put before is on disk, whatever is put meanwhile.
    pub(super) fn flush(&self) -> Result<(), WorldError> {
        let mut state = self.shared.lock();
        state.failure = None;
        let goal = state.put_count;
        state.urgent_count = goal;
        self.shared.changed.notify_all();
        while state.committed_count < goal {
            if let Some(failure) = &state.failure {
                return Err(self.shared.failed(failure));
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
            // What failed is tried once more.
            (state.is_closing, state.failure) = (true, None);
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It catches its panics; there is nobody to tell of another.
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

    /// Waits until no more is pending than may be, or writing failed.
    fn with_room(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while !self.has_room(&state) && state.failure.is_none() {
            state = self.wait_for_commit(state);
        }
        state
    }

    /// Waits until something is committed, or commits it.
    fn wait_for_commit<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        // What another commits by hand is not to be overtaken.
        if !self.is_by_hand || !state.writing.is_empty() {
            return self.wait(state, None);
        }
        if state.pending.is_empty() { state } else { self.commit(state) }
    }

    /// Whether no more is pending than may be.
    const fn has_room(&self, state: &State) -> bool {
        state.pending_bytes <= self.policy.max_bytes.saturating_mul(4)
    }

    fn take(&self, state: &mut State, batch: Batch) {
        state.pending_bytes += size_bytes(&batch);
        state.pending.extend(batch);
        state.put_count += 1;
        state.since.get_or_insert_with(Instant::now);
        self.changed.notify_all();
    }

    fn failed(&self, failure: &Failure) -> WorldError {
        let path = self.store.path().into();
        match failure {
            Failure::ChangedElsewhere => WorldError::ChangedElsewhere { path },
            Failure::Other(problem) => WorldError::NotCommitted { path, problem: problem.clone() },
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
            Err(_) => Some(Failure::Other("packing it panicked".into())),
        };
        let mut state = self.lock();
        state.writing = Arc::default();
        if failure.is_none() {
            state.committed_count = count;
        } else {
            state.failure = failure;
            // Nobody else holds it any more.
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

/// The memory of a batch's chunks, and of the nodes above them.
fn size_bytes(batch: &Batch) -> u64 {
    let each = size_of::<(NodePos, Chunk)>();
    let chunks = batch.chunks.values().chain(batch.levels.values());
    let chunks: usize = chunks.map(|chunk| chunk.size_bytes() + each).sum();
    // A table of entries is up to half empty.
    (chunks + 2 * batch.stale.len() * size_of::<NodePos>()) as u64
}

#[cfg(test)]
mod tests {
    use drystone_voxel::Material;

    use super::*;

    /// A chunk of one material takes next to nothing; all nodes above it do not.
    #[test]
    fn nodes_above_count_as_memory() {
        let one = (ChunkPos::new(-5, 0, 9), Chunk::new(Chunk::SIDE, Material(1)));
        let batch = Batch::of_chunks([one].into());
        let nodes = usize::from(NodePos::MAX_LEVEL) * size_of::<NodePos>();
        assert!(size_bytes(&batch) as usize >= nodes + size_of::<(NodePos, Chunk)>());
        assert_eq!(size_bytes(&Batch::default()), 0);
    }
}
