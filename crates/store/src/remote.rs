use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drystone_formats::{ArrivalFailure, ArrivalState};
use hashbrown::HashSet;
use web_time::Instant;

use crate::ranges::{ArrivingRanges, BLOCK_BYTES, ByteRanges, checked_len};
use crate::recent::Recent;

#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
mod client;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
mod disk_cache;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
mod folder;
mod planner;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
mod server;
#[doc(hidden)]
pub mod simulated;
#[cfg(test)]
mod tests;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
mod transfer;

#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
pub use client::{RemoteOptions, open_remote};
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
pub use folder::RemoteFolder;
use planner::Planner;
pub use planner::RemoteStep;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
pub use transfer::{download, is_replaceable, upload};

/// The bytes of a remote file, in memory as far as they were received: the side of a program that reads.
/// [`RemoteRequests`] is the side of the network.
///
/// ```text
///  PackedWorld ─ request, read ─► RemoteRanges ═ RemoteRequests ─ next ─► network
///                                       ▲               ▲                   │
///                                  recent blocks ◄──────┴─ received, failed ┘
/// ```
/// The file is requested in blocks of 4 KiB. Wanted blocks with at most one block between them become one
/// request of at most 256 KiB, at most eight requests wait for answers, and those that are no longer wanted are cancelled. Failed requests are
/// repeated with delays of 0.25 to 8 s.
///
/// # Cost
/// Memory: received blocks up to a limit; see [`new`](Self::new).
pub struct RemoteRanges {
    shared: Arc<Shared>,
}

/// Requests of the blocks that [`RemoteRanges`] needs: the side of the network. It does no I/O itself, so
/// that it works with any client, such as `fetch` in a browser.
///
/// A client loops: it carries out what [`next`](Self::next) returns, reports bytes with
/// [`heard`](Self::heard) and answers with [`received`](Self::received) and [`failed`](Self::failed), and
/// waits until one of its requests makes progress, the callback is called that it gave to
/// [`on_change`](Self::on_change), or [`wake_after`](Self::wake_after) has passed.
#[derive(Clone)]
pub struct RemoteRequests {
    shared: Arc<Shared>,
}

struct Shared {
    file_bytes: u64,
    /// Time since some moment.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    state: Mutex<State>,
    /// Signalled when blocks are here, and after a failure.
    changed: Condvar,
}

struct State {
    planner: Planner,
    limit_bytes: usize,
    blocks: Recent<u64, Arc<[u8]>>,
    /// Blocks whose bytes were wrong. They are not taken from a cache of the client.
    distrusted: HashSet<u64>,
    next_reader: u64,
    request_count: u64,
    received_bytes: u64,
    /// Called when there is something to do.
    on_change: Option<Box<dyn Fn() + Send>>,
    is_closed: bool,
}

/// Time for which requests fail until readers no longer wait, but return an error.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest time until a waiting reader looks at the state again.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Number of blocks that a waiting reader requests ahead. Many callers read a file from its start to its
/// end.
const AHEAD_BLOCKS: u64 = 32;

/// Whether a text is the address of a remote file: on a web server (`https://`, `http://`), or in an
/// [object store](is_object_address).
pub fn is_address(text: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme)) || is_object_address(text)
}

/// Whether a text is an address in an object store: one that speaks S3 (`s3://BUCKET/KEY`), Google Cloud Storage
/// (`gs://BUCKET/KEY`), or Azure Blob Storage (`az://CONTAINER/KEY`). Only their files are listed and written.
pub fn is_object_address(text: &str) -> bool {
    ["s3://", "gs://", "az://"].iter().any(|scheme| text.starts_with(scheme))
}

impl RemoteRanges {
    /// Creates the two sides for a file of this length. `front` is the start of the file, as far as it was
    /// received already. Received blocks take at most `cache_bytes` of memory.
    pub fn new(file_bytes: u64, front: &[u8], cache_bytes: usize) -> (Self, RemoteRequests) {
        let start = Instant::now();
        Self::with_clock(file_bytes, front, cache_bytes, move || start.elapsed())
    }

    /// Creates the two sides like [`new`](Self::new). `clock` returns the time since some moment, for tests
    /// in which time is simulated.
    pub fn with_clock(
        file_bytes: u64,
        front: &[u8],
        cache_bytes: usize,
        clock: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> (Self, RemoteRequests) {
        let mut blocks = Recent::new(cache_bytes);
        for (block, bytes) in (0_u64..).zip(front.chunks(BLOCK_BYTES as usize)) {
            if is_whole(block, bytes, file_bytes) {
                blocks.insert(block, bytes.into(), bytes.len());
            }
        }
        let state = State {
            planner: Planner::new(file_bytes),
            limit_bytes: cache_bytes,
            blocks,
            distrusted: HashSet::new(),
            next_reader: 0,
            request_count: 0,
            received_bytes: front.len() as u64,
            on_change: None,
            is_closed: false,
        };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { file_bytes, clock: Box::new(clock), state, changed });
        (Self { shared: Arc::clone(&shared) }, RemoteRequests { shared })
    }

    /// Waits for blocks. Calls `take` with each, in any order.
    fn wait_for(
        &self,
        blocks: &Range<u64>,
        mut take: impl FnMut(u64, &[u8]),
    ) -> Result<(), ArrivalFailure> {
        let mut missing: Vec<u64> = blocks.clone().collect();
        let file_blocks = self.shared.file_bytes.div_ceil(BLOCK_BYTES);
        let ahead = blocks.end..(blocks.end + AHEAD_BLOCKS).min(file_blocks);
        let mut state = self.shared.lock();
        state.next_reader += 1;
        let reader = state.next_reader;
        let failure = loop {
            missing.retain(|&block| match state.blocks.get(block) {
                Some(bytes) => {
                    take(block, &bytes);
                    false
                }
                None => true,
            });
            if missing.is_empty() {
                break None;
            }
            let failing = state.planner.failing_for(self.shared.now());
            let is_over = |it: &&ArrivalFailure| it.is_final || failing >= PATIENCE;
            if let Some(failure) = state.planner.failure.as_ref().filter(is_over) {
                break Some(failure.clone());
            }
            let State { planner, blocks, .. } = &mut *state;
            let open = missing.iter().copied().chain(ahead.clone());
            planner.set_urgent(reader, open.filter(|&block| blocks.get(block).is_none()));
            state.notify();
            state = self
                .shared
                .changed
                .wait_timeout(state, LOOK_INTERVAL)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        };
        state.planner.set_urgent(reader, std::iter::empty());
        failure.map_or(Ok(()), Err)
    }
}

impl RemoteRequests {
    /// Returns what to do now; call it until it returns `None`.
    pub fn next(&self) -> Option<RemoteStep> {
        let now = self.shared.now();
        let mut state = self.shared.lock();
        let step = state.planner.next(now)?;
        match step {
            RemoteStep::Send { .. } => state.request_count += 1,
            // A silent request may have failed.
            RemoteStep::Cancel(_) => self.shared.changed.notify_all(),
        }
        Some(step)
    }

    /// Returns the time after which [`next`](Self::next) has to be called even if nothing happens.
    pub fn wake_after(&self) -> Option<Duration> {
        let now = self.shared.now();
        self.shared.lock().planner.wake_at().map(|at| at.saturating_sub(now))
    }

    /// Calls `wake` whenever [`next`](Self::next) may have something to do, from any thread. It must not
    /// call methods of this type itself.
    pub fn on_change(&self, wake: impl Fn() + Send + 'static) {
        self.shared.lock().on_change = Some(Box::new(wake));
    }

    /// Records that a part of an answer has come. Without that, a request fails after 10 s.
    pub fn heard(&self, id: u64) {
        let now = self.shared.now();
        self.shared.lock().planner.hear(id, now);
    }

    /// Takes the answer of a request. Ignored if the request was cancelled.
    pub fn received(&self, id: u64, bytes: &[u8]) {
        let now = self.shared.now();
        let mut state = self.shared.lock();
        state.received_bytes += bytes.len() as u64;
        let Some(range) = state.planner.bytes(id) else { return };
        let expected = range.end - range.start;
        if bytes.len() as u64 == expected {
            state.planner.received(id, now);
            let first = range.start / BLOCK_BYTES;
            for (block, bytes) in (first..).zip(bytes.chunks(BLOCK_BYTES as usize)) {
                state.distrusted.remove(&block);
                state.blocks.insert(block, bytes.into(), bytes.len());
            }
        } else {
            let found = bytes.len();
            let problem = format!("the server has sent {found} bytes instead of {expected}");
            state.planner.failed(id, now, ArrivalFailure::passing(problem));
        }
        self.shared.changed.notify_all();
    }

    /// Records that a request has failed. It is sent again later, unless the failure is final. Ignored if
    /// the request was cancelled.
    pub fn failed(&self, id: u64, failure: ArrivalFailure) {
        let now = self.shared.now();
        self.shared.lock().planner.failed(id, now, failure);
        self.shared.changed.notify_all();
    }

    /// Returns the numbers of the blocks that are wanted and may be in a cache of the client, most urgent
    /// first. Block `n` begins at byte `n` · 4 KiB.
    pub fn wanted_blocks(&self) -> Vec<u64> {
        let state = self.shared.lock();
        state.planner.order().filter(|block| !state.distrusted.contains(block)).collect()
    }

    /// Takes a block from a cache of the client. Ignored if it does not have the length of the block.
    pub fn cached(&self, block: u64, bytes: &[u8]) {
        if is_whole(block, bytes, self.shared.file_bytes) {
            let mut state = self.shared.lock();
            state.planner.arrived(&(block..block + 1));
            state.blocks.insert(block, bytes.into(), bytes.len());
            self.shared.changed.notify_all();
        }
    }

    /// Ends the connection for good, with a reason for the user.
    pub fn end(&self, problem: &str) {
        let now = self.shared.now();
        self.shared.lock().planner.end(now, problem);
        self.shared.changed.notify_all();
    }

    /// Whether the [`RemoteRanges`] was dropped, so that nothing is requested any more.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().is_closed
    }
}

impl Shared {
    fn now(&self) -> Duration {
        (self.clock)()
    }

    /// Locks the state, even after a panic in another thread: it is always consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn set_limit_bytes(&mut self, bytes: usize) {
        self.limit_bytes = bytes;
        self.blocks.set_limit_bytes(bytes);
    }

    /// Maximum number of blocks that may be wanted at once. More than half of the limit would be dropped before they
    /// are read.
    fn max_wanted_blocks(&self) -> usize {
        (self.limit_bytes / 4 / BLOCK_BYTES as usize).max(1)
    }

    fn notify(&self) {
        if let Some(wake) = &self.on_change {
            wake();
        }
    }
}

/// Whether these bytes are all of a block.
fn is_whole(block: u64, bytes: &[u8], file_bytes: u64) -> bool {
    let rest = file_bytes.saturating_sub(block * BLOCK_BYTES);
    bytes.len() as u64 == rest.min(BLOCK_BYTES)
}

/// Copies the part of a block that lies in a range to `bytes`, the bytes of that range.
fn copy_block(block: u64, found: &[u8], range: &Range<u64>, bytes: &mut [u8]) {
    let start = block * BLOCK_BYTES;
    let (from, to) = (range.start.max(start), range.end.min(start + BLOCK_BYTES));
    let part = &found[(from - start) as usize..(to - start) as usize];
    bytes[(from - range.start) as usize..][..part.len()].copy_from_slice(part);
}

/// Returns the blocks that hold a range of bytes.
const fn blocks_of(range: &Range<u64>) -> Range<u64> {
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

impl ByteRanges for RemoteRanges {
    fn size(&self) -> io::Result<u64> {
        Ok(self.shared.file_bytes)
    }

    /// Waits until the range is here. Browsers cannot wait: there, a range that is not here is an error of
    /// the kind [`WouldBlock`](io::ErrorKind::WouldBlock).
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let len = checked_len(&range, self.shared.file_bytes)?;
        if cfg!(target_arch = "wasm32") {
            return self.read_here(&range).ok_or_else(|| io::ErrorKind::WouldBlock.into());
        }
        let mut bytes = vec![0; len];
        if range.is_empty() {
            return Ok(bytes);
        }
        let copied = self.wait_for(&blocks_of(&range), |block, found| {
            copy_block(block, found, &range, &mut bytes);
        });
        copied.map(|()| bytes).map_err(|failure| io::Error::other(failure.problem))
    }

    fn arriving(&self) -> Option<&dyn ArrivingRanges> {
        Some(self)
    }
}

impl ArrivingRanges for RemoteRanges {
    fn read_here(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let len = checked_len(range, self.shared.file_bytes).ok()?;
        let mut state = self.shared.lock();
        let blocks: Option<Vec<_>> = blocks_of(range).map(|it| state.blocks.get(it)).collect();
        let blocks = blocks?;
        drop(state);
        let mut bytes = vec![0; len];
        for (block, found) in blocks_of(range).zip(blocks) {
            copy_block(block, &found, range, &mut bytes);
        }
        Some(bytes)
    }

    fn request(&self, ranges: &[Range<u64>]) {
        let mut state = self.shared.lock();
        let mut blocks: Vec<u64> = ranges.iter().flat_map(blocks_of).collect();
        let mut seen = HashSet::with_capacity(blocks.len());
        blocks.retain(|&block| seen.insert(block) && state.blocks.get(block).is_none());
        // The rest follows when these are here: callers repeat their requests.
        blocks.truncate(state.max_wanted_blocks());
        state.planner.request(blocks);
        state.notify();
    }

    fn discard(&self, range: Range<u64>) {
        let mut state = self.shared.lock();
        for block in blocks_of(&range) {
            state.blocks.remove(block);
            state.distrusted.insert(block);
        }
    }

    fn limit_memory(&self, bytes: usize) {
        self.shared.lock().set_limit_bytes(bytes);
    }

    fn state(&self) -> ArrivalState {
        let state = self.shared.lock();
        ArrivalState {
            waiting_requests: state.planner.running_count(),
            request_count: state.request_count,
            received_bytes: state.received_bytes,
            failure: state.planner.failure.clone(),
        }
    }
}

impl Drop for RemoteRanges {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.planner.request(Vec::new());
        state.notify();
    }
}

impl std::fmt::Debug for RemoteRanges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteRanges")
            .field("file_bytes", &self.shared.file_bytes)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RemoteRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteRequests").finish_non_exhaustive()
    }
}
