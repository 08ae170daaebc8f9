use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_mesh::FaceSet;
use drystone_voxel::{MesherOptions, NodePos};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::config::{LodConfig, Meshing};
use super::data::LodData;
use super::node_mesh::{NodeMesh, NodeMesher};

/// Threads that make meshes in the order of their priority.
///
/// The requests are replaced every frame, so outdated requests that no thread has begun are
/// dropped. A thread takes one node at a time and sees new requests after at most one mesh.
/// Finished meshes wait here until they are taken. If they reach the limit, no more are made.
pub(super) struct Workers {
    shared: Arc<Shared>,
    /// `None`: the caller of [`work`](Self::work) makes the meshes.
    threads: Option<Threads>,
    active_threads: Arc<ActiveThreads>,
}

/// Threads that make meshes.
enum Threads {
    /// Pool of this tree alone.
    Own(rayon::ThreadPool),
    /// Number of threads of rayon's global pool, on a platform that starts no threads by itself.
    Global(usize),
}

/// Number of threads that hold the shared state. Dropping a thread pool does not wait for its
/// threads, so `Workers` waits when it is dropped. Files that the threads hold are then closed.
#[derive(Default)]
struct ActiveThreads {
    count: Mutex<usize>,
    is_over: Condvar,
}

struct Shared {
    data: Arc<LodData>,
    /// Skirts of each mesh.
    skirts: FaceSet,
    jobs: Mutex<Jobs>,
    /// Signalled when a mesh is finished.
    is_finished: Condvar,
}

#[derive(Default)]
struct Jobs {
    /// Requested nodes, highest priority last.
    requests: Vec<NodePos>,
    /// Nodes that are being made, and whether their result is still valid.
    running: HashMap<NodePos, bool>,
    /// Number of threads that make meshes.
    active: usize,
    /// Finished meshes, oldest first. Those that an edit made outdated were removed.
    finished: Vec<(NodePos, NodeMesh)>,
    finished_bytes: usize,
    /// Limit for finished meshes, in bytes. [`MIN_WAITING_MESHES`] may always wait.
    free_bytes: usize,
    meshing: Meshing,
}

/// Interval between two checks for data that comes over a network.
const ARRIVAL_INTERVAL: Duration = Duration::from_millis(5);
/// Number of meshes that may always wait: those of one split.
const MIN_WAITING_MESHES: usize = NodePos::CHILDREN;

impl Workers {
    /// Starts the threads, which make meshes with these skirts. Without threads, meshes are made by
    /// [`work`](Self::work).
    pub(super) fn new(
        data: Arc<LodData>,
        config: &LodConfig,
        skirts: FaceSet,
    ) -> Result<Self, SourceError> {
        let threads = match config.threads {
            0 => None,
            count => Some(Threads::start(count)?),
        };
        let jobs = Mutex::new(Jobs { meshing: config.meshing, ..Jobs::default() });
        let shared = Shared { data, skirts, jobs, is_finished: Condvar::new() };
        Ok(Self { shared: Arc::new(shared), threads, active_threads: Arc::default() })
    }

    /// Replaces all requests by these nodes, highest priority last. Nodes whose data comes over a network
    /// and is not here have it requested instead. Threads stop when about `free_bytes` bytes of finished
    /// meshes wait here.
    pub(super) fn request(&self, requests: Vec<NodePos>, free_bytes: usize) {
        let options = MesherOptions::from(lock(&self.shared.jobs).meshing);
        let requests = self.shared.data.arrived(requests, options.neighbors());
        let mut jobs = lock(&self.shared.jobs);
        (jobs.requests, jobs.free_bytes) = (requests, free_bytes);
        self.start_threads(jobs);
    }

    /// Adds requests with a higher priority than all others.
    pub(super) fn request_first(&self, requests: &[NodePos]) {
        let mut jobs = lock(&self.shared.jobs);
        jobs.requests.extend(requests);
        self.start_threads(jobs);
    }

    fn start_threads(&self, mut jobs: MutexGuard<'_, Jobs>) {
        let Some(threads) = &self.threads else { return };
        while !jobs.is_full() && jobs.active < threads.count().min(jobs.requests.len()) {
            jobs.active += 1;
            let (shared, active_threads) =
                (Arc::clone(&self.shared), Arc::clone(&self.active_threads));
            *lock(&active_threads.count) += 1;
            threads.spawn(move || {
                shared.work_until_done();
                drop(shared);
                *lock(&active_threads.count) -= 1;
                active_threads.is_over.notify_all();
            });
        }
    }

    /// Makes all meshes with other options from now on, and discards finished and begun ones.
    pub(super) fn set_meshing(&self, meshing: Meshing) {
        lock(&self.shared.jobs).meshing = meshing;
        self.forget(|_| true);
    }

    /// Discards finished and begun meshes of nodes that have changed.
    pub(super) fn forget(&self, has_changed: impl Fn(NodePos) -> bool) {
        let mut jobs = lock(&self.shared.jobs);
        for (node, is_current) in &mut jobs.running {
            *is_current &= !has_changed(*node);
        }
        jobs.finished.retain(|(node, _)| !has_changed(*node));
        jobs.finished_bytes = jobs.finished.iter().map(|(_, mesh)| mesh.size_bytes()).sum();
    }

    /// Makes the requested mesh with the highest priority on the calling thread. Returns false if
    /// there is no request.
    pub(super) fn work(&self) -> bool {
        let job = lock(&self.shared.jobs).next();
        if let Some((node, meshing)) = job {
            self.shared.make(node, &mut NodeMesher::new(meshing));
        }
        job.is_some()
    }

    /// Removes and returns the finished meshes, oldest first.
    pub(super) fn take(&self) -> Vec<(NodePos, NodeMesh)> {
        let mut jobs = lock(&self.shared.jobs);
        jobs.finished_bytes = 0;
        std::mem::take(&mut jobs.finished)
    }

    /// Waits until a mesh is finished, or data may have come over a network, but at most `time`. May return
    /// early. Without threads, makes one mesh instead.
    pub(super) fn wait(&self, time: Duration) {
        if self.threads.is_none() {
            self.work();
            return;
        }
        let is_remote = self.shared.data.source().arrivals().is_some();
        let time = if is_remote { time.min(ARRIVAL_INTERVAL) } else { time };
        let jobs = lock(&self.shared.jobs);
        if jobs.finished.is_empty() {
            // Not `wait_timeout_while`, which reads the clock: WebAssembly has none.
            drop(self.shared.is_finished.wait_timeout(jobs, time));
        }
    }

    /// Whether nothing is requested that can be made, being made or waiting to be taken.
    pub(super) fn is_idle(&self) -> bool {
        let jobs = lock(&self.shared.jobs);
        jobs.requests.is_empty() && jobs.running.is_empty() && jobs.finished.is_empty()
    }

    /// Waits until no thread is working: nothing is requested, or the limit is reached.
    pub(super) fn wait_until_idle(&self) {
        let count = lock(&self.active_threads.count);
        drop(self.active_threads.is_over.wait_while(count, |count| *count > 0));
    }
}

impl Threads {
    fn start(count: usize) -> Result<Self, SourceError> {
        if cfg!(target_arch = "wasm32") {
            let all = rayon::current_num_threads();
            let problem = format!("the global pool has {all} threads, and needs one more");
            let no_threads = SourceError::NoThreads { count, problem };
            return if all > count { Ok(Self::Global(count)) } else { Err(no_threads) };
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|i| format!("levels-{i}"))
            .build();
        pool.map(Self::Own)
            .map_err(|problem| SourceError::NoThreads { count, problem: problem.to_string() })
    }

    fn count(&self) -> usize {
        match self {
            Self::Own(pool) => pool.current_num_threads(),
            Self::Global(count) => *count,
        }
    }

    fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        match self {
            Self::Own(pool) => pool.spawn(job),
            Self::Global(_) => rayon::spawn(job),
        }
    }
}

impl Drop for Workers {
    /// Waits for the meshes that are being made, at most one per thread.
    fn drop(&mut self) {
        lock(&self.shared.jobs).requests.clear();
        self.wait_until_idle();
    }
}

impl Jobs {
    fn is_full(&self) -> bool {
        self.finished.len() >= MIN_WAITING_MESHES && self.finished_bytes >= self.free_bytes
    }

    /// Removes and returns the request with the highest priority, with the options of its mesh.
    fn next(&mut self) -> Option<(NodePos, Meshing)> {
        if self.is_full() {
            return None;
        }
        loop {
            let node = self.requests.pop()?;
            if let Entry::Vacant(entry) = self.running.entry(node) {
                entry.insert(true);
                return Some((node, self.meshing));
            }
        }
    }

    fn finish(&mut self, node: NodePos, mesh: NodeMesh) {
        if self.running.remove(&node) == Some(true) {
            self.finished_bytes += mesh.size_bytes();
            self.finished.push((node, mesh));
        }
    }
}

impl Shared {
    fn work_until_done(&self) {
        let Some(_meshing) = IsMeshing::begin() else {
            // The loop below has yielded to this job. The next request starts a thread again.
            lock(&self.jobs).active -= 1;
            return;
        };
        let mut mesher = NodeMesher::default();
        loop {
            let job = {
                let mut jobs = lock(&self.jobs);
                let job = jobs.next();
                if job.is_none() {
                    jobs.active -= 1;
                }
                job
            };
            let Some((node, meshing)) = job else { return };
            mesher.set_meshing(meshing);
            self.make(node, &mut mesher);
            if cfg!(target_arch = "wasm32") {
                // The global pool may have other work, such as a picture, which somebody waits for.
                rayon::yield_now();
            }
        }
    }

    fn make(&self, node: NodePos, mesher: &mut NodeMesher) {
        // Without its data, a mesh would have holes. The next update requests the data.
        if self.data.is_any_absent(node, mesher.neighbors()) {
            lock(&self.jobs).running.remove(&node);
            return;
        }
        // A node whose source panics is not requested again. The other nodes are still made.
        let finished =
            catch_unwind(AssertUnwindSafe(|| mesher.remesh(&self.data, node, self.skirts, None)));
        let mesh = finished.unwrap_or_else(|_| {
            *mesher = NodeMesher::default();
            self.data.note_panic(node);
            NodeMesh::unread()
        });
        lock(&self.jobs).finish(node, mesh);
        self.is_finished.notify_one();
    }
}

/// Marks the current thread as one that makes meshes, until it is dropped.
struct IsMeshing;

thread_local! {
    static IS_MESHING: Cell<bool> = const { Cell::new(false) };
}

impl IsMeshing {
    /// Returns `None` if the thread makes meshes already.
    fn begin() -> Option<Self> {
        (!IS_MESHING.replace(true)).then(|| Self)
    }
}

impl Drop for IsMeshing {
    fn drop(&mut self) {
        IS_MESHING.set(false);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
