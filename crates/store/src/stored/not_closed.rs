use drystone_formats::SourceError;

use super::StoredWorld;

/// Error of [`StoredWorld::close`]. Contains the world, which is still open.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct NotClosed {
    /// The world, with its pending changes.
    pub world: StoredWorld,
    /// Why the world could not be closed.
    pub error: SourceError,
}

impl From<Box<NotClosed>> for SourceError {
    fn from(not_closed: Box<NotClosed>) -> Self {
        not_closed.error
    }
}
