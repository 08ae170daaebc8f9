use std::sync::{Mutex, RwLock};

use drystone_formats::{Source, SourceError};

use super::{State, StoredLater, copy};
use crate::stored::{CommitPolicy, MemoryFile, StoredWorld};

impl StoredLater {
    /// Opens a world in memory, immediately for writing, since no other program can have it.
    ///
    /// # Errors
    /// See [`StoredWorld::open_in`].
    pub(crate) fn open_in(file: &MemoryFile, policy: CommitPolicy) -> Result<Self, SourceError> {
        let world = StoredWorld::open_in(file, policy)?;
        Ok(Self {
            name: world.name().into(),
            materials: world.materials().clone(),
            more_materials: None,
            policy,
            path: Mutex::new(Some(file.name().into())),
            stamp: None,
            state: RwLock::new(State::Write(world)),
            last_retry: Mutex::default(),
        })
    }

    /// Creates the world in an empty file in memory. See [`make_at`](Self::make_at).
    ///
    /// # Errors
    /// A file that is not empty, or missing memory. Nothing changes then.
    pub(crate) fn make_in(&self, file: &MemoryFile) -> Result<(), SourceError> {
        let mut state = self.lock();
        StoredWorld::create_in(file, &self.name, self.all_materials())?;
        let world = StoredWorld::open_in(file, self.policy)?;
        copy(&state, &world)?;
        *state = State::Write(world);
        self.set_file_path(file.name());
        Ok(())
    }
}
