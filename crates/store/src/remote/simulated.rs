//! A server and a network in simulated time, for tests of everything that reads remote worlds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use drystone_formats::ArrivalFailure;

use super::{RemoteRanges, RemoteRequests, RemoteStep};

/// A connection. All answers share its bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Time between a request and the first byte of its answer.
    pub round_trip: Duration,
    /// Bandwidth.
    pub bytes_per_s: u64,
}

/// Fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request is answered.
    None,
    /// The server refuses it, and may accept it later.
    Refused,
    /// No answer comes.
    Stalled,
    /// Only a part of the answer comes.
    Cut,
    /// One byte of the answer is wrong.
    WrongByte,
    /// The file was replaced, which ends the connection for good.
    Replaced,
}

/// A server with one file, behind a network with faults.
pub struct SimulatedServer {
    bytes: Vec<u8>,
    link: Link,
    requests: RemoteRequests,
    now_us: Arc<AtomicU64>,
    /// Time at which the link is free again.
    free_us: u64,
    answers: Vec<Answer>,
    /// Number of requests that were sent.
    pub sent_count: u64,
    /// Number of bytes that were sent in answers.
    pub sent_bytes: u64,
}

struct Answer {
    at_us: u64,
    id: u64,
    result: Result<Vec<u8>, ArrivalFailure>,
}

impl SimulatedServer {
    /// Creates a server of a file, and its bytes as seen through the network. The first `front_bytes` are
    /// there already.
    pub fn new(
        bytes: Vec<u8>,
        front_bytes: usize,
        cache_bytes: usize,
        link: Link,
    ) -> (Self, RemoteRanges) {
        let now_us = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&now_us);
        let front = &bytes[..front_bytes.min(bytes.len())];
        let (ranges, requests) =
            RemoteRanges::with_clock(bytes.len() as u64, front, cache_bytes, move || {
                Duration::from_micros(clock.load(Ordering::Relaxed))
            });
        let server = Self {
            bytes,
            link,
            requests,
            now_us,
            free_us: 0,
            answers: Vec::new(),
            sent_count: 0,
            sent_bytes: 0,
        };
        (server, ranges)
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Duration {
        Duration::from_micros(self.now_us.load(Ordering::Relaxed))
    }

    /// Sends what is requested now; `fault` decides about each request by its number. Then lets `time` pass,
    /// and delivers the answers that come within it.
    pub fn pass(&mut self, time: Duration, fault: &mut dyn FnMut(u64) -> Fault) {
        let end_us = self.now_us.load(Ordering::Relaxed) + time.as_micros() as u64;
        loop {
            while let Some(step) = self.requests.next() {
                match step {
                    RemoteStep::Send { id, range } => {
                        let fault = fault(self.sent_count);
                        self.send(id, range.start as usize..range.end as usize, fault);
                    }
                    RemoteStep::Cancel(id) => self.answers.retain(|answer| answer.id != id),
                }
            }
            let now_us = self.now_us.load(Ordering::Relaxed);
            let next = (0..self.answers.len()).min_by_key(|&i| self.answers[i].at_us);
            let next = next.filter(|&i| self.answers[i].at_us <= end_us);
            let wake_us = self.requests.wake_after().map(|it| now_us + it.as_micros() as u64 + 1);
            let wake_us = wake_us.filter(|&wake_us| wake_us < end_us);
            let answer_us = next.map(|i| self.answers[i].at_us);
            let Some(at_us) = answer_us.into_iter().chain(wake_us).min() else { break };
            self.now_us.store(now_us.max(at_us), Ordering::Relaxed);
            if let Some(i) = next.filter(|_| answer_us == Some(at_us)) {
                let Answer { id, result, .. } = self.answers.swap_remove(i);
                match result {
                    Ok(bytes) => self.requests.received(id, &bytes),
                    Err(failure) => self.requests.failed(id, failure),
                }
            }
        }
        self.now_us.store(end_us, Ordering::Relaxed);
    }

    fn send(&mut self, id: u64, range: std::ops::Range<usize>, fault: Fault) {
        self.sent_count += 1;
        let first_us =
            self.now_us.load(Ordering::Relaxed) + self.link.round_trip.as_micros() as u64;
        let mut bytes = self.bytes[range].to_vec();
        let result = match fault {
            Fault::Stalled => return,
            Fault::Refused => Err(ArrivalFailure::passing("status 500")),
            Fault::Replaced => Err(ArrivalFailure::lasting("the file was replaced")),
            Fault::Cut => {
                bytes.truncate(bytes.len() / 2);
                Ok(bytes)
            }
            Fault::WrongByte => {
                let at = (id as usize * 7_919) % bytes.len();
                bytes[at] ^= 0x40;
                Ok(bytes)
            }
            Fault::None => Ok(bytes),
        };
        let len = result.as_ref().map_or(0, |bytes| bytes.len() as u64);
        self.sent_bytes += len;
        self.free_us = self.free_us.max(first_us) + len * 1_000_000 / self.link.bytes_per_s;
        self.answers.push(Answer { at_us: self.free_us, id, result });
    }
}

impl std::fmt::Debug for SimulatedServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedServer").field("link", &self.link).finish_non_exhaustive()
    }
}
