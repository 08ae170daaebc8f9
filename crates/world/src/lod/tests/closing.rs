//! Dropping a tree releases what its threads hold.

use std::sync::{Condvar, Mutex};

use super::*;

/// Makes `free_chunks` chunks, then blocks threads until it is opened.
struct Gate {
    free_chunks: u32,
    /// Number of chunks that were begun, and whether the gate is open.
    state: Mutex<(u32, bool)>,
    is_changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.is_changed.notify_all();
        let is_shut = |(begun, is_open): &mut (u32, bool)| *begun > self.free_chunks && !*is_open;
        drop(self.is_changed.wait_while(state, is_shut).unwrap());
    }

    /// Waits until a thread is blocked.
    fn wait(&self) {
        let state = self.state.lock().unwrap();
        drop(self.is_changed.wait_while(state, |(begun, _)| *begun <= self.free_chunks).unwrap());
    }

    fn open(&self) {
        self.state.lock().unwrap().1 = true;
        self.is_changed.notify_all();
    }
}

struct Gated(GeneratedWorld, Arc<Gate>);

impl Source for Gated {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn materials(&self) -> &MaterialTable {
        self.0.materials()
    }
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.0.chunk_positions()
    }
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        self.1.pass();
        self.0.chunk(position)
    }
}

/// Drops a tree while a thread makes a mesh, after few or many chunks.
#[test]
fn a_dropped_tree_releases_its_data() {
    for free_chunks in 0..12 {
        let state = Mutex::new((0, false));
        let gate = Arc::new(Gate { free_chunks, state, is_changed: Condvar::new() });
        let source = Gated(*generated([4, 4, 4]), Arc::clone(&gate));
        let data = Arc::new(LodData::new(Box::new(source), 1 << 20));
        let config = LodConfig { threads: 3, ..unlimited() };
        let mut tree = LodTree::new(Arc::clone(&data), config).unwrap();
        let camera = camera([60.0, 60.0, 60.0], 500.0);
        tree.update(&camera, &mut Screen::default()).unwrap();
        gate.wait();
        let (held, seen) = (Arc::strong_count(&data), Arc::downgrade(&data));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The tree itself has released the data and waits for its threads.
                while seen.strong_count() == held {
                    std::thread::yield_now();
                }
                gate.open();
            });
            drop(tree);
            assert!(
                Arc::try_unwrap(data).is_ok(),
                "a thread still holds the data after {free_chunks} chunks"
            );
        });
    }
}
