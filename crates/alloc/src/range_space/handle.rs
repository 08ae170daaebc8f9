use core::fmt;

use super::nodes::START;

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

    /// The handle of that number, or `None` for a number that no handle has: generations of
    /// handles are odd, and indices are above 0. Use it only with the space that the handle
    /// came from.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        let (index, generation) = (bits as u32, (bits >> u32::BITS) as u32);
        if index != START && generation % 2 == 1 { Some(Self { index, generation }) } else { None }
    }
}

impl fmt::Debug for RangeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeHandle({}v{})", self.index, self.generation)
    }
}
