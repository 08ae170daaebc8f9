use std::time::Duration;

use drystone::Content;
use drystone_formats::{ArrivalFailure, Arrivals};
use drystone_store::{PackedWorld, RemoteRanges, RemoteRequests, RemoteStep};
use wasm_bindgen::prelude::*;
use web_time::Instant;

use crate::opening::Opened;
use crate::page::{Edits, Page, log_panics, sized};

/// Limit for received parts of a world in memory, in bytes.
const RECEIVED_BYTES: usize = 32 << 20;
/// Time for which requests fail until that is said.
const SAID_AFTER: Duration = Duration::from_secs(2);

/// Returns the length of the start of a packed world that [`RemoteWorld`] needs, from its first 64 KiB.
#[wasm_bindgen]
pub fn front_needed(front: &[u8], address: &str) -> Result<f64, String> {
    let lengths = PackedWorld::lengths_of(front, address);
    lengths.map(|[_, needed]| needed as f64).map_err(|error| error.to_string())
}

/// A packed world at an address, before a page shows it.
#[wasm_bindgen]
pub struct RemoteWorld {
    pub(crate) world: PackedWorld,
    requests: RemoteRequests,
}

#[wasm_bindgen]
impl RemoteWorld {
    /// Opens a world with the start of its file; see [`front_needed`].
    #[wasm_bindgen(constructor)]
    pub fn new(address: &str, front: &[u8]) -> Result<RemoteWorld, String> {
        let text = |error: drystone_formats::SourceError| error.to_string();
        let [file_bytes, _] = PackedWorld::lengths_of(front, address).map_err(text)?;
        let (ranges, requests) = RemoteRanges::new(file_bytes, front, RECEIVED_BYTES);
        let world = PackedWorld::read(Box::new(ranges), address).map_err(text)?;
        Ok(Self { world, requests })
    }

    /// Returns the requests, which stay valid after a page has taken the world.
    pub fn requests(&self) -> Requests {
        Requests(self.requests.clone())
    }

    /// Whether everything is here that a page reads before its first picture. Requests what is not.
    pub fn is_ready(&self) -> bool {
        let mut missing = Vec::new();
        for node in Content::first_nodes(&self.world) {
            self.world.missing(node, &mut missing);
        }
        self.world.request(&missing);
        missing.is_empty()
    }

    /// Returns why the last request failed, if it did.
    pub fn problem(&self) -> Option<String> {
        Arrivals::state(&self.world).failure.map(|failure| failure.problem)
    }
}

#[wasm_bindgen]
impl Page {
    /// Opens a world at an address. `view` is that of [`generated`](Self::generated).
    pub fn remote(
        width: u32,
        height: u32,
        world: RemoteWorld,
        address: &str,
        view: &[f64],
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        log_panics();
        let opened = Opened::remote(world.world, address, edits.map(|it| it.0))?;
        Ok(Self::of(opened, sized(width, height), view))
    }

    /// Returns a problem of the connection to a world at an address, while it lasts. A problem that may pass
    /// is returned after two seconds: a single request that fails is repeated without a word.
    pub fn connection(&mut self) -> Option<String> {
        let state = self.session.stage()?.data()?.arrival_state()?;
        let is_wanted = self.session.lags();
        let Some(failure) = state.failure.filter(|failure| failure.is_final || is_wanted) else {
            self.failing_since = None;
            return None;
        };
        let since = *self.failing_since.get_or_insert_with(Instant::now);
        if !failure.is_final && since.elapsed() < SAID_AFTER {
            return None;
        }
        let next = if failure.is_final { "Reload the page" } else { "Trying again" };
        Some(format!("Nothing is received: {}. {next}", failure.problem))
    }
}

/// Requests of a world at an address. Numbers of requests and positions are whole.
#[wasm_bindgen]
pub struct Requests(RemoteRequests);

#[wasm_bindgen]
impl Requests {
    /// Returns what to do now, three numbers each: a request, and the first byte and the end of the range to
    /// request; an end of 0 cancels the request.
    pub fn steps(&self) -> Vec<f64> {
        let steps = std::iter::from_fn(|| self.0.next());
        let numbers = steps.flat_map(|step| match step {
            RemoteStep::Send { id, range } => [id as f64, range.start as f64, range.end as f64],
            RemoteStep::Cancel(id) => [id as f64, 0.0, 0.0],
        });
        numbers.collect()
    }

    /// Records that a part of an answer has come.
    pub fn heard(&self, id: f64) {
        self.0.heard(id as u64);
    }

    /// Takes the answer of a request.
    pub fn received(&self, id: f64, bytes: &[u8]) {
        self.0.received(id as u64, bytes);
    }

    /// Records that a request has failed. It is sent again.
    pub fn failed(&self, id: f64, problem: String) {
        self.0.failed(id as u64, ArrivalFailure::passing(problem));
    }

    /// Records that a request has failed for good.
    pub fn lost(&self, id: f64, problem: String) {
        self.0.failed(id as u64, ArrivalFailure::lasting(problem));
    }
}
