//! Threads that read files beside the window.

use rayon::ThreadPoolBuilder;

use crate::AppError;

/// Runs `read` on threads of its own, one for each core, and waits for it.
///
/// The window's thread draws, meshes and edits on rayon's global threads. While those read a file,
/// a millisecond of its work would wait for all of the file.
///
/// # Errors
/// Where the system gives no more threads.
pub(super) fn beside_the_window<T: Send>(
    read: impl FnOnce() -> Result<T, AppError> + Send,
) -> Result<T, AppError> {
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("read-{number}")).build();
    let no_threads = |error| AppError::NotRead(format!("no threads for it: {error}"));
    threads.map_err(no_threads)?.install(read)
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc, Condvar, Mutex,
            mpsc::{self, Sender},
        },
        thread,
        time::Duration,
    };

    use drystone::scene;
    use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
    use drystone_world::{GeneratedWorld, GeneratorConfig, Source, World, WorldError};

    use crate::{cli, progress::Progress, settings::Settings, viewer::opening::Loaded};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A source whose chunks are read when the gate opens.
    struct Gated {
        source: GeneratedWorld,
        is_open: Arc<(Mutex<bool>, Condvar)>,
        /// Reports each chunk that waits.
        waits: Mutex<Sender<()>>,
    }

    impl Source for Gated {
        fn name(&self) -> &str {
            self.source.name()
        }

        fn materials(&self) -> &MaterialTable {
            self.source.materials()
        }

        fn chunk_positions(&self) -> Vec<ChunkPos> {
            self.source.chunk_positions()
        }

        fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
            let _ = self.waits.lock().unwrap().send(());
            let (is_open, opened) = &*self.is_open;
            drop(opened.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
            self.source.chunk(position)
        }
    }

    /// All threads that read a file are kept busy, and the window meshes a world meanwhile.
    #[test]
    fn the_window_works_while_a_file_is_read() {
        let config = GeneratorConfig { size_chunks: [4, 4, 4], ..GeneratorConfig::default() };
        let source = GeneratedWorld::new(config).unwrap();
        let shown = World::load(&source).unwrap();
        let (waits, waiting) = mpsc::channel();
        let is_open = Arc::new((Mutex::new(false), Condvar::new()));
        let gated = Gated { source, is_open: Arc::clone(&is_open), waits: Mutex::new(waits) };
        let reader = thread::spawn(move || {
            let words = ["drystone", "--levels", "off"].map(Into::into);
            let Ok(asked) = cli::parse(words) else { panic!("options") };
            let asked_of = (asked.scene, Some(Arc::new(gated) as Arc<dyn Source>));
            Loaded::read(asked_of, &asked.save, &Settings::default(), &Progress::default()).is_ok()
        });
        for thread in 0..rayon::current_num_threads() {
            assert!(waiting.recv_timeout(PATIENCE).is_ok(), "{thread} threads read");
        }
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || done.send(scene::mesh_world(&shown).len()));
        let meshed = is_done.recv_timeout(PATIENCE);
        // The file is read to its end, whatever came of the window's work.
        *is_open.0.lock().unwrap() = true;
        is_open.1.notify_all();
        assert!(reader.join().unwrap());
        assert!(meshed.is_ok_and(|count| count > 0), "the window waited for the file");
    }
}
