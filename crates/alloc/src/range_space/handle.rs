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

    /// The handle as a number, to be kept where its type has no place.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << u32::BITS | self.index as u64
    }

    /// The handle of that number: give it back only to the space that it came from.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self { index: bits as u32, generation: (bits >> u32::BITS) as u32 }
    }
}

impl fmt::Debug for RangeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeHandle({}v{})", self.index, self.generation)
    }
}
