use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_formats::{ArrivalFailure, SourceError};
use futures_util::StreamExt;
use hashbrown::HashMap;
use object_store::{GetOptions, GetRange, ObjectMeta, RetryConfig};
use tokio::sync::Notify;

use super::disk_cache::DiskCache;
use super::server::{DENIED, NO_RANGES, NOT_FOUND, REDIRECTS, Server, failure_of, replaced, shown};
use super::{RemoteRanges, RemoteRequests, RemoteStep};
use crate::packed::PackedWorld;

/// Options for opening a packed world at an address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// Folder for parts of files that were read before, shared by all processes. `None`: nothing is
    /// stored.
    pub cache_folder: Option<PathBuf>,
    /// Limit for that folder, in bytes. The parts that were not read for the longest time are deleted when the
    /// file is opened, and after each 64 MiB or eighth of the limit that this process has written.
    pub max_cache_bytes: u64,
    /// Limit for received parts in memory, in bytes.
    pub memory_bytes: usize,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self { cache_folder: None, max_cache_bytes: 1 << 30, memory_bytes: 32 << 20 }
    }
}

impl RemoteOptions {
    /// Replaces [`cache_folder`](Self::cache_folder).
    #[must_use]
    pub fn with_cache_folder(mut self, cache_folder: Option<PathBuf>) -> Self {
        self.cache_folder = cache_folder;
        self
    }

    /// Replaces [`max_cache_bytes`](Self::max_cache_bytes).
    #[must_use]
    pub const fn with_max_cache_bytes(mut self, max_cache_bytes: u64) -> Self {
        self.max_cache_bytes = max_cache_bytes;
        self
    }

    /// Replaces [`memory_bytes`](Self::memory_bytes).
    #[must_use]
    pub const fn with_memory_bytes(mut self, memory_bytes: usize) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }
}

/// Length of the first request: the longest header.
const FRONT_BYTES: u64 = 64 << 10;
/// Time limit for the silence of a server.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// Time for which opening is tried again after failures that may pass.
const OPEN_PATIENCE: Duration = Duration::from_secs(10);
/// Time between two attempts to open.
const OPEN_INTERVAL: Duration = Duration::from_millis(500);
/// Time limit for the first answer.
const OPEN_LIMIT: Duration = Duration::from_secs(30);
/// Failures that end opening at once, although they may pass.
const CLEAR_FAILURES: [&str; 4] = [NO_RANGES, NOT_FOUND, DENIED, REDIRECTS];

/// Opens the packed world at an [address](crate::is_address). For object stores, keys, region and endpoint
/// come from the usual environment variables, such as `AWS_ACCESS_KEY_ID`, `AWS_REGION` and `AWS_ENDPOINT`, and
/// those that begin with `GOOGLE_` and `AZURE_`.
///
/// A thread reads the file in parts, until the world is dropped. No request leaves for another server,
/// except to the issuer of tokens for a key in the environment: redirects to others are refused. Without a key,
/// requests to object stores are not signed. A file that is replaced while it is read is reported, and not read further.
///
/// # Cost
/// One request of 64 KiB. A failure that may pass is tried again for 10 s.
///
/// # Errors
/// An address that cannot be reached or has no such file, a server that cannot send parts of files, and the
/// errors of [`PackedWorld::open`].
pub fn open_remote(address: &str, options: &RemoteOptions) -> Result<PackedWorld, SourceError> {
    let failed = |problem: String| unreachable(&shown(address), problem);
    // Requests are repeated by the planner, which knows whether they are still wanted.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let remote = Remote(Server::new(address, retry, SILENCE_LIMIT).map_err(failed)?);
    let (sender, receiver) = std::sync::mpsc::channel();
    let options = options.clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => return drop(sender.send(Err(error.to_string()))),
        };
        runtime.block_on(async move {
            let (meta, front) = match remote.open().await {
                Ok(opened) => opened,
                Err(failure) => return drop(sender.send(Err(failure.problem))),
            };
            let limit = options.max_cache_bytes;
            let folder = options.cache_folder;
            let disk = folder.map(|folder| DiskCache::open(&folder, limit, meta.size, &front));
            let (ranges, requests) = RemoteRanges::new(meta.size, &front, options.memory_bytes);
            if sender.send(Ok(ranges)).is_ok() {
                drive(Arc::new(Download { remote, meta, disk, requests })).await;
            }
        });
    };
    let thread = std::thread::Builder::new().name("network".into()).spawn(run);
    thread.map_err(|error| failed(error.to_string()))?;
    let ended = || "the thread of the network has ended".to_owned();
    let ranges = receiver.recv().unwrap_or_else(|_| Err(ended())).map_err(failed)?;
    PackedWorld::read(Box::new(ranges), address)
}

fn unreachable(address: &str, problem: String) -> SourceError {
    SourceError::NotReceived { path: address.into(), problem }
}

/// A file on a server.
struct Remote(Server);

impl Remote {
    /// Reads the start of the file.
    async fn open(&self) -> Result<(ObjectMeta, Vec<u8>), ArrivalFailure> {
        let start = Instant::now();
        loop {
            let get = tokio::time::timeout(OPEN_LIMIT, self.get(0..FRONT_BYTES, None, &|| {}));
            let slow = || Err(ArrivalFailure::lasting("the server is too slow"));
            match get.await.unwrap_or_else(|_| slow()) {
                Err(failure)
                    if !failure.is_final
                        && !CLEAR_FAILURES.contains(&failure.problem.as_str())
                        && start.elapsed() < OPEN_PATIENCE =>
                {
                    tokio::time::sleep(OPEN_INTERVAL).await;
                }
                result => return result,
            }
        }
    }

    /// Requests a range, and returns what is known about the file with the bytes. The range may end
    /// after the file. Calls `heard` when a part has come.
    async fn get(
        &self,
        range: std::ops::Range<u64>,
        meta: Option<&ObjectMeta>,
        heard: &(dyn Fn() + Sync),
    ) -> Result<(ObjectMeta, Vec<u8>), ArrivalFailure> {
        let max_bytes = (range.end - range.start) as usize;
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            // A weak tag never matches.
            if_match: meta.and_then(|meta| meta.e_tag.clone()).filter(|tag| !tag.starts_with("W/")),
            ..GetOptions::default()
        };
        let result =
            self.0.store.get_opts(&self.0.path, options).await.map_err(|it| failure_of(&it))?;
        let found = result.meta.clone();
        let is_same = |meta: &ObjectMeta| {
            let is_dated = meta.e_tag.is_some() || meta.last_modified == found.last_modified;
            meta.size == found.size && meta.e_tag == found.e_tag && is_dated
        };
        if !meta.is_none_or(is_same) {
            return Err(replaced());
        }
        let mut stream = result.into_stream();
        let mut bytes = Vec::new();
        while let Some(part) = stream.next().await {
            heard();
            bytes.extend_from_slice(&part.map_err(|error| failure_of(&error))?);
            if bytes.len() > max_bytes {
                return Err(ArrivalFailure::passing("the server has sent more than was requested"));
            }
        }
        Ok((found, bytes))
    }
}

/// A file with its requests, shared by all tasks.
struct Download {
    remote: Remote,
    meta: ObjectMeta,
    disk: Option<DiskCache>,
    requests: RemoteRequests,
}

impl Download {
    /// Takes the wanted blocks that are on the disk.
    fn take_cached(&self) {
        let Some(disk) = &self.disk else { return };
        for block in self.requests.wanted_blocks() {
            if let Some(bytes) = disk.read(block) {
                self.requests.cached(block, &bytes);
            }
        }
    }

    /// Answers a request from the server.
    async fn answer(&self, id: u64, range: std::ops::Range<u64>) {
        let heard = || self.requests.heard(id);
        match self.remote.get(range.clone(), Some(&self.meta), &heard).await {
            Ok((_, bytes)) => {
                if let Some(disk) = &self.disk {
                    disk.write(&range, &bytes);
                }
                self.requests.received(id, &bytes);
            }
            Err(failure) => self.requests.failed(id, failure),
        }
    }
}

/// Reports the end of the thread to those that wait for it, even after a panic.
struct Ending(RemoteRequests);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end("the thread of the network has ended; open the world again");
    }
}

/// Carries out requests until nothing reads the file any more.
async fn drive(download: Arc<Download>) {
    let _ending = Ending(download.requests.clone());
    let changed = Arc::new(Notify::new());
    let wake = Arc::clone(&changed);
    download.requests.on_change(move || wake.notify_one());
    let mut running: HashMap<u64, tokio::task::AbortHandle> = HashMap::new();
    while !download.requests.is_closed() {
        download.take_cached();
        while let Some(step) = download.requests.next() {
            match step {
                RemoteStep::Send { id, range } => {
                    let (download, changed) = (Arc::clone(&download), Arc::clone(&changed));
                    let task = tokio::spawn(async move {
                        download.answer(id, range).await;
                        changed.notify_one();
                    });
                    running.insert(id, task.abort_handle());
                }
                RemoteStep::Cancel(id) => {
                    if let Some(task) = running.remove(&id) {
                        task.abort();
                    }
                }
            }
        }
        running.retain(|_, task| !task.is_finished());
        match download.requests.wake_after() {
            Some(time) => drop(tokio::time::timeout(time, changed.notified()).await),
            None => changed.notified().await,
        }
    }
}
