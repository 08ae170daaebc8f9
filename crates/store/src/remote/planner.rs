use std::ops::Range;
use std::time::Duration;

use drystone_formats::ArrivalFailure;
use hashbrown::HashSet;

use crate::ranges::BLOCK_BYTES;

/// Maximum length of a request, 256 KiB.
const MAX_REQUEST_BLOCKS: u64 = 64;
/// Number of blocks between wanted ones that are received too, so that one request gets both. Longer gaps take
/// more time on a line of 20 Mbit/s than fewer requests save, as eight wait at once.
const MAX_GAP_BLOCKS: u64 = 1;
/// Maximum number of requests at once.
const MAX_REQUESTS: usize = 8;
/// Time without a byte after which requests have failed.
const SILENCE: Duration = Duration::from_secs(10);
/// Time after which a request has failed, however many bytes have come.
const MAX_TIME: Duration = Duration::from_secs(120);
/// Delay before the request after a failure. It doubles with each further failure.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const MAX_DELAY: Duration = Duration::from_secs(8);

/// Decides which ranges of a remote file are requested, and when. It neither sends requests nor reads a
/// clock: callers do, so that tests simulate both.
///
/// Blocks that a reader waits for come first, then those that were requested, in their order. After a failure
/// one request at a time is tried, with growing delays, until one succeeds.
pub(super) struct Planner {
    file_bytes: u64,
    /// Blocks that readers wait for, with the number of the reader.
    urgent: Vec<(u64, u64)>,
    /// Blocks that were requested, most urgent first. Like the urgent ones, none is here.
    requested: Vec<u64>,
    /// The blocks of both.
    wanted: HashSet<u64>,
    running: Vec<Running>,
    /// Time since which requests run and no byte has come. Cancelled requests count, so that a server that is
    /// silent is noticed while the camera moves.
    silent_since: Option<Duration>,
    next_id: u64,
    failures: u32,
    retry_at: Duration,
    pub(super) failure: Option<ArrivalFailure>,
    /// Time of the first failure since the last success.
    failing_since: Option<Duration>,
}

/// A request without an answer.
struct Running {
    id: u64,
    blocks: Range<u64>,
    sent_at: Duration,
    /// Whether a reader waits for it. Then it is not cancelled: other readers often need it next.
    is_urgent: bool,
}

/// Next action of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteStep {
    /// Request this range of bytes.
    Send {
        /// Number of the request, for its answer.
        id: u64,
        /// The range, at most 256 KiB.
        range: Range<u64>,
    },
    /// Cancel the request with this number. Its answer is ignored.
    Cancel(u64),
}

impl Planner {
    pub(super) fn new(file_bytes: u64) -> Self {
        Self {
            file_bytes,
            urgent: Vec::new(),
            requested: Vec::new(),
            wanted: HashSet::new(),
            running: Vec::new(),
            silent_since: None,
            next_id: 0,
            failures: 0,
            retry_at: Duration::ZERO,
            failure: None,
            failing_since: None,
        }
    }

    /// Time for which nothing has come because requests fail.
    pub(super) fn failing_for(&self, now: Duration) -> Duration {
        self.failing_since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// Replaces the requested blocks, most urgent first.
    pub(super) fn request(&mut self, blocks: Vec<u64>) {
        self.requested = blocks;
        self.wanted = self.order().collect();
    }

    /// Replaces the blocks that a reader waits for.
    pub(super) fn set_urgent(&mut self, reader: u64, blocks: impl Iterator<Item = u64>) {
        self.urgent.retain(|&(other, _)| other != reader);
        self.urgent.extend(blocks.map(|block| (reader, block)));
        self.wanted = self.order().collect();
    }

    /// Returns the blocks that readers wait for and those that were requested, most urgent first.
    pub(super) fn order(&self) -> impl Iterator<Item = u64> {
        let urgent = self.urgent.iter().map(|&(_, block)| block);
        urgent.chain(self.requested.iter().copied())
    }

    /// Number of requests without an answer.
    pub(super) const fn running_count(&self) -> usize {
        self.running.len()
    }

    /// Returns what to do now, until it returns `None`.
    pub(super) fn next(&mut self, now: Duration) -> Option<RemoteStep> {
        let is_silent = self.silent_since.is_some_and(|since| now.saturating_sub(since) >= SILENCE);
        let is_slow = |it: &Running| now.saturating_sub(it.sent_at) >= MAX_TIME;
        let late = self.running.iter().position(|it| is_silent || is_slow(it));
        if let Some(at) = late {
            let id = self.running.swap_remove(at).id;
            let problem = match is_silent {
                true => format!("the server has sent nothing for {} s", SILENCE.as_secs()),
                false => format!("an answer has taken more than {} s", MAX_TIME.as_secs()),
            };
            self.fail(now, ArrivalFailure::passing(problem));
            if self.running.is_empty() {
                self.silent_since = None;
            }
            return Some(RemoteStep::Cancel(id));
        }
        let is_needed =
            |it: &Running| it.is_urgent || it.blocks.clone().any(|it| self.wanted.contains(&it));
        if let Some(at) = self.running.iter().position(|it| !is_needed(it)) {
            return Some(RemoteStep::Cancel(self.running.swap_remove(at).id));
        }
        let limit = if self.failures > 0 { 1 } else { MAX_REQUESTS };
        if self.is_lost() || now < self.retry_at || self.running.len() >= limit {
            return None;
        }
        let first = self.order().find(|&block| self.is_open(block))?;
        let is_urgent = self.urgent.iter().any(|&(_, block)| block == first);
        let blocks = self.neighbors(first);
        self.next_id += 1;
        let id = self.next_id;
        self.silent_since.get_or_insert(now);
        self.running.push(Running { id, blocks: blocks.clone(), sent_at: now, is_urgent });
        Some(RemoteStep::Send { id, range: self.bytes_of(&blocks) })
    }

    /// Returns when [`next`](Self::next) has something to do again, if nothing else happens.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        let silence = self.silent_since.filter(|_| !self.running.is_empty());
        let ends = self.running.iter().map(|it| it.sent_at + MAX_TIME);
        let has_open = || self.wanted.iter().any(|&block| self.is_open(block));
        let retry = (self.failures > 0 && !self.is_lost() && has_open()).then_some(self.retry_at);
        let retry = retry.filter(|_| self.running.is_empty());
        ends.chain(silence.map(|since| since + SILENCE)).chain(retry).min()
    }

    /// Records that bytes of an answer have come.
    pub(super) fn hear(&mut self, id: u64, now: Duration) {
        if self.running.iter().any(|it| it.id == id) {
            self.silent_since = Some(now);
        }
    }

    /// Returns the bytes of a request without an answer. `None` if it was cancelled.
    pub(super) fn bytes(&self, id: u64) -> Option<Range<u64>> {
        let running = self.running.iter().find(|it| it.id == id)?;
        Some(self.bytes_of(&running.blocks))
    }

    /// Ends a request whose whole answer has come, and returns its blocks. They count as here. `None` if
    /// the request was cancelled.
    pub(super) fn received(&mut self, id: u64, now: Duration) -> Option<Range<u64>> {
        let at = self.running.iter().position(|it| it.id == id)?;
        let Running { blocks, .. } = self.running.swap_remove(at);
        self.silent_since = (!self.running.is_empty()).then_some(now);
        // A final failure stays: no further request is sent.
        if !self.is_lost() {
            (self.failures, self.failure, self.retry_at) = (0, None, Duration::ZERO);
            self.failing_since = None;
        }
        self.arrived(&blocks);
        Some(blocks)
    }

    /// Records that blocks are here, which need not be requested.
    pub(super) fn arrived(&mut self, blocks: &Range<u64>) {
        self.urgent.retain(|(_, block)| !blocks.contains(block));
        self.requested.retain(|block| !blocks.contains(block));
        self.wanted.retain(|block| !blocks.contains(block));
    }

    /// Ends a request that has failed. Its blocks are requested again, unless the failure is final.
    pub(super) fn failed(&mut self, id: u64, now: Duration, failure: ArrivalFailure) {
        if let Some(at) = self.running.iter().position(|it| it.id == id) {
            self.running.swap_remove(at);
            self.silent_since = (!self.running.is_empty()).then_some(now);
            self.fail(now, failure);
        }
    }

    /// Ends the connection for good.
    pub(super) fn end(&mut self, now: Duration, problem: &str) {
        self.fail(now, ArrivalFailure::lasting(problem));
    }

    fn fail(&mut self, now: Duration, failure: ArrivalFailure) {
        self.failing_since.get_or_insert(now);
        // Requests that fail together count as one failure.
        if now >= self.retry_at {
            let delay = FIRST_DELAY.saturating_mul(1 << self.failures.min(16)).min(MAX_DELAY);
            self.retry_at = now + delay;
            self.failures += 1;
        }
        if !self.is_lost() {
            self.failure = Some(failure);
        }
    }

    /// Whether the connection has failed for good.
    fn is_lost(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.is_final)
    }

    /// Whether a block is wanted and not requested yet.
    fn is_open(&self, block: u64) -> bool {
        self.wanted.contains(&block) && !self.running.iter().any(|it| it.blocks.contains(&block))
    }

    /// Returns the blocks of one request: from the first to the last wanted one around `block`.
    fn neighbors(&self, block: u64) -> Range<u64> {
        let is_free = |block: &u64| !self.running.iter().any(|it| it.blocks.contains(block));
        let (mut first, mut last) = (block, block);
        let is_wanted = |block: &u64| self.wanted.contains(block);
        let after = block + 1..block + MAX_REQUEST_BLOCKS;
        for next in after.take_while(is_free).filter(is_wanted) {
            if next - last > 1 + MAX_GAP_BLOCKS {
                break;
            }
            last = next;
        }
        let before = (last + 1).saturating_sub(MAX_REQUEST_BLOCKS)..block;
        for next in before.rev().take_while(is_free).filter(is_wanted) {
            if first - next > 1 + MAX_GAP_BLOCKS {
                break;
            }
            first = next;
        }
        first..last + 1
    }

    fn bytes_of(&self, blocks: &Range<u64>) -> Range<u64> {
        let [start, end] = [blocks.start, blocks.end].map(|it| it.saturating_mul(BLOCK_BYTES));
        start..end.min(self.file_bytes)
    }
}

#[cfg(test)]
mod tests;
