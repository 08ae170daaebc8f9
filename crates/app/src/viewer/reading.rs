//! Threads that read files while the window keeps drawing.

use rayon::ThreadPoolBuilder;

use crate::AppError;

/// Runs `read` on a thread pool of its own, one thread per core, and waits for it.
///
/// The window's thread draws, meshes and edits on rayon's global threads. If files were read there,
/// a millisecond of its work could wait for a whole file.
///
/// # Errors
/// If the system cannot start threads.
pub(super) fn on_reader_threads<T: Send>(
    read: impl FnOnce() -> Result<T, AppError> + Send,
) -> Result<T, AppError> {
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("read-{number}")).build();
    let no_threads = |error| AppError::NotRead(format!("cannot start threads: {error}"));
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
    use drystone_formats::{Source, SourceError};
    use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
    use drystone_world::{GeneratedWorld, GeneratorConfig, World};

    use crate::{cli, progress::Progress, settings::Settings, viewer::opening::Loaded};

    const MAX_WAIT: Duration = Duration::from_secs(20);

    /// Source whose chunks can be read once the gate opens.
    struct Gated {
        source: GeneratedWorld,
        is_open: Arc<(Mutex<bool>, Condvar)>,
        /// Reports each waiting chunk.
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

        fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
            let _ = self.waits.lock().unwrap().send(());
            let (is_open, opened) = &*self.is_open;
            drop(opened.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
            self.source.chunk(position)
        }
    }

    /// All reading threads block, and the window still meshes a world.
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
            let Ok(parsed) = cli::parse(words) else { panic!("options") };
            let request = (parsed.scene, Some(Arc::new(gated) as Arc<dyn Source>));
            Loaded::read(request, &parsed.save, &Settings::default(), &Progress::default()).is_ok()
        });
        for thread in 0..rayon::current_num_threads() {
            assert!(waiting.recv_timeout(MAX_WAIT).is_ok(), "{thread} threads read");
        }
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || done.send(scene::mesh_world(&shown).len()));
        let meshed = is_done.recv_timeout(MAX_WAIT);
        // The file is read to its end, whatever the result of the meshing.
        *is_open.0.lock().unwrap() = true;
        is_open.1.notify_all();
        assert!(reader.join().unwrap());
        assert!(meshed.is_ok_and(|count| count > 0), "the window waited for the file");
    }
}
