/// Path by which writes reach GPU-visible memory. The choice determines how the pool protects frames in
/// flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Access {
    /// The GPU copies data in the order in which frames are submitted. Freed memory can be written
    /// again at once.
    #[default]
    Staged,
    /// The CPU stores into mapped memory, which is visible to frames in flight. Freed memory stays
    /// reserved until the last frame that could read it has completed.
    Direct,
}

impl Access {
    /// Returns the lower-case name, as used in settings and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Direct => "direct",
        }
    }
}
