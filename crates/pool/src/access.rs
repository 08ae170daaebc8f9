/// How writes reach memory that the GPU reads, and so what keeps a frame that still runs
/// from seeing the next one's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// The GPU copies, in the order in which frames are submitted: a place may be written
    /// again as soon as it is freed.
    #[default]
    Staged,
    /// Plain stores into mapped memory, seen by frames that still run: a freed place waits
    /// until the last frame that could read it has completed.
    Direct,
}

impl Access {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Direct => "direct",
        }
    }
}
