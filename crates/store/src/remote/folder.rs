use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use drystone_formats::SourceError;
use hashbrown::HashMap;
use object_store::path;
use tempfile::TempDir;

use super::server::{failure_of, shown};
use super::transfer::{OBJECT_STORE, Transfer};

/// The files in a folder of an object store, `s3://BUCKET/FOLDER`, with copies on this machine of those that
/// are needed. Used from many threads.
pub struct RemoteFolder {
    transfer: Transfer,
    folder: path::Path,
    /// File names and lengths.
    files: Vec<(String, u64)>,
    copies: TempDir,
    /// Whether each file was copied. Locked while it is copied.
    is_here: Mutex<HashMap<String, Arc<Mutex<bool>>>>,
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
        if !address.starts_with(OBJECT_STORE) {
            let problem =
                format!("only object stores list their files, {OBJECT_STORE}BUCKET/FOLDER");
            return Err(failed(problem));
        }
        let unwritable = |problem| SourceError::Unwritable { path: work.into(), problem };
        let copies = TempDir::with_prefix_in("drystone-copies-", work).map_err(unwritable)?;
        let transfer = Transfer::new(address).map_err(failed)?;
        let parts = folder.split('/').filter(|part| !part.is_empty());
        let folder: path::Path =
            transfer.server.path.parts().chain(parts.map(Into::into)).collect();
        let listed = transfer.server.store.list_with_delimiter(Some(&folder));
        let listed = transfer.runtime.block_on(listed);
        let listed = listed.map_err(|error| failed(failure_of(&error).problem))?.objects;
        let named = |it: object_store::ObjectMeta| Some((it.location.filename()?.into(), it.size));
        let files = listed.into_iter().filter_map(named).collect();
        Ok(Self { transfer, folder, files, copies, is_here: Mutex::default() })
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
        let path = self.copies.path().join(name);
        let is_here = {
            let mut all = self.is_here.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry_ref(name).or_default())
        };
        let mut is_here = is_here.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_here {
            let size = self.files.iter().find(|(listed, _)| listed == name).map(|(_, size)| *size);
            self.transfer.receive(&self.folder.clone().join(name), &path, size)?;
            *is_here = true;
        }
        Ok(path)
    }
}
