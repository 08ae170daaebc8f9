use std::sync::{Mutex, RwLock};

use super::{State, StoredLater};
use crate::stored::{CommitPolicy, MemoryFile, StoredWorld};
use crate::{Source, WorldError};

impl StoredLater {
    /// Opens a world in memory: to write it at once, since nobody else has it.
    ///
    /// # Errors
    /// As [`StoredWorld::open_in`].
    pub(crate) fn open_in(file: &MemoryFile, policy: CommitPolicy) -> Result<Self, WorldError> {
        let world = StoredWorld::open_in(file, policy)?;
        Ok(Self {
            name: world.name().into(),
            materials: world.materials().clone(),
            more_materials: None,
            policy,
            path: file.name().to_owned().into(),
            stamp: None,
            state: RwLock::new(State::Write(world)),
            looked: Mutex::default(),
        })
    }

    /// Makes the world in an empty file in memory, if nobody has said before where.
    ///
    /// # Errors
    /// No memory: then nobody has said yet.
    pub(crate) fn make_in(&self, file: &MemoryFile) -> Result<(), WorldError> {
        let mut state = self.lock();
        if self.place().is_none() {
            StoredWorld::create_in(file, &self.name, &self.materials)?;
            *state = State::Write(StoredWorld::open_in(file, self.policy)?);
            let _ = self.path.set(file.name().into());
        }
        Ok(())
    }
}
