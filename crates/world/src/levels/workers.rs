use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::node_mesh::NodeMesher;
use super::{LevelData, NodeMesh};
use crate::{NodePos, WorldError};

/// Makes meshes on threads of its own, the most wanted first.
///
/// What is wanted is said anew every frame; what is not wanted any more and not begun is
/// thereby forgotten. A thread takes one node at a time, so that a change of mind takes
/// effect after at most one mesh.
pub(super) struct Workers {
    shared: Arc<Shared>,
    results: Receiver<Made>,
    /// `None`: meshes are made by whoever calls [`work`](Self::work).
    threads: Option<rayon::ThreadPool>,
}

/// A mesh, and of which revision of its node it is at least.
pub(super) struct Made {
    pub(super) node: NodePos,
    pub(super) revision: u32,
    pub(super) mesh: NodeMesh,
}

struct Shared {
    data: Arc<LevelData>,
    sender: Mutex<Sender<Made>>,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    /// The most wanted last.
    wanted: Vec<(NodePos, u32)>,
    running: HashSet<NodePos>,
    /// Threads that are at work.
    active: usize,
}

impl Workers {
    /// Workers on `threads` threads; on none, if none.
    pub(super) fn new(data: Arc<LevelData>, threads: usize) -> Result<Self, WorldError> {
        let (sender, results) = channel();
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
        let shared = Shared { data, sender: Mutex::new(sender), jobs: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), results, threads })
    }

    /// Wants these nodes, the most wanted last, and nothing else any more.
    pub(super) fn want(&self, wanted: Vec<(NodePos, u32)>) {
        let mut jobs = lock(&self.shared.jobs);
        jobs.wanted = wanted;
        let Some(threads) = &self.threads else { return };
        while jobs.active < threads.current_num_threads().min(jobs.wanted.len()) {
            jobs.active += 1;
            let shared = Arc::clone(&self.shared);
            threads.spawn(move || shared.work_until_done());
        }
    }

    /// Makes the most wanted mesh here and now; false where none is wanted.
    pub(super) fn work(&self) -> bool {
        let job = lock(&self.shared.jobs).next();
        if let Some((node, revision)) = job {
            self.shared.make(node, revision, &mut NodeMesher::default());
        }
        job.is_some()
    }

    /// Whether meshes are made on threads.
    pub(super) const fn has_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// A mesh that has been made.
    pub(super) fn made(&self) -> Option<Made> {
        self.results.try_recv().ok()
    }

    /// Waits for a mesh, at most this long.
    pub(super) fn wait(&self, time: std::time::Duration) -> Option<Made> {
        self.results.recv_timeout(time).ok()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        lock(&self.shared.jobs).wanted.clear();
    }
}

impl Jobs {
    fn next(&mut self) -> Option<(NodePos, u32)> {
        loop {
            let (node, revision) = self.wanted.pop()?;
            if self.running.insert(node) {
                return Some((node, revision));
            }
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
            let Some((node, revision)) = job else { return };
            self.make(node, revision, &mut mesher);
        }
    }

    fn make(&self, node: NodePos, revision: u32, mesher: &mut NodeMesher) {
        // A source that panics is not asked for this node again; the others are made.
        let made = catch_unwind(AssertUnwindSafe(|| mesher.mesh(&self.data, node)));
        let mesh = made.unwrap_or_else(|_| {
            *mesher = NodeMesher::default();
            self.data.note_panic(node);
            NodeMesh::default()
        });
        lock(&self.jobs).running.remove(&node);
        // Nobody listens any more when the workers are dropped.
        let _ = lock(&self.sender).send(Made { node, revision, mesh });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
