use core::fmt;

/// Names one live range of a [`RangeSpace`](super::RangeSpace): index and generation. Once
/// the range is freed the handle is stale for good, whoever gets the place next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeHandle {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl RangeHandle {
    /// The range's number, below the largest number of ranges that ever lived at once,
    /// plus one. Numbers are reused: the number alone names whatever has it now.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }
}

impl fmt::Debug for RangeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeHandle({}v{})", self.index, self.generation)
    }
}
