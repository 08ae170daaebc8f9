use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drystone_formats::SourceError;
use hashbrown::HashMap;
use object_store::path;
use tempfile::TempDir;

use super::is_object_address;
use super::server::{failure_of, shown};
use super::transfer::{PATIENCE, SHORT_PATIENCE, Transfer};

/// The files in a folder of an object store, such as `s3://BUCKET/FOLDER`, with copies on this machine of those that
/// are needed. Used from many threads.
pub struct RemoteFolder {
    transfer: Transfer,
    folder: path::Path,
    /// File names and lengths.
    files: Vec<(String, u64)>,
    copies: TempDir,
    by_name: Mutex<HashMap<String, Arc<Copied>>>,
}

/// A copy of a file.
struct Copied {
    /// Names of a store may not be valid or safe as names of files here.
    path: PathBuf,
    /// Locked while the file is copied.
    state: Mutex<State>,
    /// Number of failed attempts.
    failures: AtomicU64,
}

/// State of a copy.
#[derive(Default)]
struct State {
    is_here: bool,
    /// Description of the last failure.
    problem: String,
}

impl RemoteFolder {
    /// Lists the files in a folder of an address, which may be empty. Copies are written to a new
    /// folder in `work`, which is removed with this object. Credentials, region and endpoint come from the same
    /// environment variables as those of [`open_remote`](crate::open_remote).
    ///
    /// # Cost
    /// One request for each 1,000 files.
    ///
    /// # Errors
    /// An address that cannot be reached or is of no object store, and a folder `work` that cannot be written.
    pub fn open(address: &str, folder: &str, work: &Path) -> Result<Self, SourceError> {
        let failed = |problem| SourceError::NotReceived { path: shown(address).into(), problem };
        if !is_object_address(address) {
            let problem = "only object stores list their files, such as s3://BUCKET/FOLDER";
            return Err(failed(problem.into()));
        }
        let unwritable = |problem| SourceError::Unwritable { path: work.into(), problem };
        let copies = TempDir::with_prefix_in("drystone-copies-", work).map_err(unwritable)?;
        let lister = Transfer::new(address, SHORT_PATIENCE).map_err(failed)?;
        let parts = folder.split('/').filter(|part| !part.is_empty());
        let folder: path::Path = lister.server.path.parts().chain(parts.map(Into::into)).collect();
        let listed = lister.server.store.list_with_delimiter(Some(&folder));
        let listed = lister.runtime.block_on(listed);
        let listed = listed.map_err(|error| failed(failure_of(&error).problem))?.objects;
        let named = |it: object_store::ObjectMeta| Some((it.location.filename()?.into(), it.size));
        let files = listed.into_iter().filter_map(named).collect();
        let transfer = Transfer::new(address, PATIENCE).map_err(failed)?;
        Ok(Self { transfer, folder, files, copies, by_name: Mutex::default() })
    }

    /// Returns the names and lengths in bytes of the files.
    pub fn files(&self) -> &[(String, u64)] {
        &self.files
    }

    /// Returns the path of a copy of a file, which stays as long as this object. The first call for a file copies
    /// it; threads that need it meanwhile wait.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) for a file that does not exist; a file that has another length than
    /// listed; errors of the network and of the copy. The next call tries again.
    pub fn copy(&self, name: &str) -> io::Result<PathBuf> {
        let copied = {
            let mut by_name = lock(&self.by_name);
            let path = self.copies.path().join(by_name.len().to_string());
            let copied =
                || Arc::new(Copied { path, state: Mutex::default(), failures: AtomicU64::new(0) });
            Arc::clone(by_name.entry_ref(name).or_insert_with(copied))
        };
        let failures = copied.failures.load(Ordering::Relaxed);
        let mut state = lock(&copied.state);
        if !state.is_here || !copied.path.exists() {
            if copied.failures.load(Ordering::Relaxed) != failures {
                // Another thread has failed while this one waited.
                return Err(io::Error::other(state.problem.clone()));
            }
            state.is_here = false;
            let size = self.files.iter().find(|(listed, _)| listed == name).map(|(_, size)| *size);
            let object = self.folder.clone().join(name);
            let received = self.transfer.receive(&object, &copied.path, size);
            received.inspect_err(|problem| {
                // A file that does not exist is found out soon, by each thread.
                if problem.kind() != io::ErrorKind::NotFound {
                    state.problem = problem.to_string();
                    copied.failures.fetch_add(1, Ordering::Relaxed);
                }
            })?;
            state.is_here = true;
        }
        Ok(copied.path.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
