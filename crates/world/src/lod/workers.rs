use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use super::node_mesh::NodeMesher;
use super::{LodData, NodeMesh};
use crate::{NodePos, WorldError};

/// Makes meshes on threads of its own, the most wanted first.
///
/// What is wanted is said anew every frame; what is not wanted any more and not begun is
/// thereby forgotten. A thread takes one node at a time, so that a change of mind takes
/// effect after at most one mesh. What is made waits here until it is taken; when that is too
/// much, nothing more is made.
pub(super) struct Workers {
    shared: Arc<Shared>,
    /// `None`: meshes are made by whoever calls [`work`](Self::work).
    threads: Option<rayon::ThreadPool>,
    active_threads: Arc<ActiveThreads>,
}

/// How many threads hold what is shared. A thread pool that is dropped does not wait for its
/// threads, so whoever drops it must: what they hold, as a file, is closed then.
#[derive(Default)]
struct ActiveThreads {
    count: Mutex<usize>,
    is_over: Condvar,
}

/// A mesh of a node as it is now, or was when last anybody was told of an edit.
pub(super) struct FinishedMesh {
    pub(super) node: NodePos,
    pub(super) mesh: NodeMesh,
}

struct Shared {
    data: Arc<LodData>,
    jobs: Mutex<Jobs>,
    /// A mesh has been made.
    is_finished: Condvar,
}

#[derive(Default)]
struct Jobs {
    /// The most wanted last.
    requests: Vec<NodePos>,
    /// And whether what comes of it is still of use.
    running: HashMap<NodePos, bool>,
    /// Threads that are at work.
    active: usize,
    finished: VecDeque<FinishedMesh>,
    finished_bytes: usize,
    /// From so many bytes on, and [`LEAST_MADE`] meshes, no more are made.
    free_bytes: usize,
}

/// So many meshes may always wait: what one split needs.
const MIN_WAITING_MESHES: usize = NodePos::CHILDREN;

impl Workers {
    /// Workers on `threads` threads; on none, if none.
    pub(super) fn new(data: Arc<LodData>, threads: usize) -> Result<Self, WorldError> {
        let threads = match threads {
            0 => None,
            count => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(count)
                    .thread_name(|i| format!("levels-{i}"))
                    .build()
                    .map_err(|problem| WorldError::NoThreads {
                        count,
                        problem: problem.to_string(),
                    })?,
            ),
        };
        let shared = Shared { data, jobs: Mutex::default(), is_finished: Condvar::new() };
        Ok(Self { shared: Arc::new(shared), threads, active_threads: Arc::default() })
    }

    /// Wants these nodes, the most wanted last, and nothing else any more; of meshes that
    /// nobody takes, about `room_bytes` at the most.
    pub(super) fn request(&self, requests: Vec<NodePos>, free_bytes: usize) {
        let mut jobs = lock(&self.shared.jobs);
        (jobs.requests, jobs.free_bytes) = (requests, free_bytes);
        self.start_threads(jobs);
    }

    /// Wants these nodes too, more than all others.
    pub(super) fn request_first(&self, requests: &[NodePos]) {
        let mut jobs = lock(&self.shared.jobs);
        jobs.requests.extend(requests);
        self.start_threads(jobs);
    }

    fn start_threads(&self, mut jobs: MutexGuard<'_, Jobs>) {
        let Some(threads) = &self.threads else { return };
        while !jobs.is_full()
            && jobs.active < threads.current_num_threads().min(jobs.requests.len())
        {
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

    /// These nodes are others now: meshes of them that were made, or begun, are of no use.
    pub(super) fn forget(&self, nodes: &HashSet<NodePos>) {
        let mut jobs = lock(&self.shared.jobs);
        for (node, is_current) in &mut jobs.running {
            *is_current &= !nodes.contains(node);
        }
        jobs.finished.retain(|finished| !nodes.contains(&finished.node));
        jobs.finished_bytes = jobs.finished.iter().map(|finished| finished.mesh.size_bytes()).sum();
    }

    /// Makes the most wanted mesh here and now; false where none is wanted.
    pub(super) fn work(&self) -> bool {
        let job = lock(&self.shared.jobs).next();
        if let Some(node) = job {
            self.shared.make(node, &mut NodeMesher::default());
        }
        job.is_some()
    }

    /// Whether meshes are made on threads.
    pub(super) const fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// The meshes that have been made, the first first.
    pub(super) fn take(&self) -> VecDeque<FinishedMesh> {
        let mut jobs = lock(&self.shared.jobs);
        jobs.finished_bytes = 0;
        std::mem::take(&mut jobs.finished)
    }

    /// Waits until a mesh has been made, at most this long.
    pub(super) fn wait(&self, time: Duration) {
        let jobs = lock(&self.shared.jobs);
        let is_waiting = |jobs: &mut Jobs| jobs.finished.is_empty();
        drop(self.shared.is_finished.wait_timeout_while(jobs, time, is_waiting));
    }
}

impl Workers {
    /// Waits until no thread makes a mesh: nothing is wanted any more, or enough is made.
    pub(super) fn wait_until_idle(&self) {
        let count = lock(&self.active_threads.count);
        drop(self.active_threads.is_over.wait_while(count, |count| *count > 0));
    }
}

impl Drop for Workers {
    /// Waits for the meshes that are being made: at most one a thread.
    fn drop(&mut self) {
        lock(&self.shared.jobs).requests.clear();
        self.wait_until_idle();
    }
}

impl Jobs {
    fn is_full(&self) -> bool {
        self.finished.len() >= MIN_WAITING_MESHES && self.finished_bytes >= self.free_bytes
    }

    fn next(&mut self) -> Option<NodePos> {
        if self.is_full() {
            return None;
        }
        loop {
            let node = self.requests.pop()?;
            if let Entry::Vacant(entry) = self.running.entry(node) {
                entry.insert(true);
                return Some(node);
            }
        }
    }

    fn finish(&mut self, node: NodePos, mesh: NodeMesh) {
        if self.running.remove(&node) == Some(true) {
            self.finished_bytes += mesh.size_bytes();
            self.finished.push_back(FinishedMesh { node, mesh });
        }
    }
}

impl Shared {
    fn work_until_done(&self) {
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
            let Some(node) = job else { return };
            self.make(node, &mut mesher);
        }
    }

    fn make(&self, node: NodePos, mesher: &mut NodeMesher) {
        // A source that panics is not asked for this node again; the others are made.
        let finished = catch_unwind(AssertUnwindSafe(|| mesher.mesh(&self.data, node)));
        let mesh = finished.unwrap_or_else(|_| {
            *mesher = NodeMesher::default();
            self.data.note_panic(node);
            NodeMesh::unread()
        });
        lock(&self.jobs).finish(node, mesh);
        self.is_finished.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
