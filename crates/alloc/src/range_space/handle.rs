use core::fmt;

use super::nodes::START;

/// Handle of a live range of a [`RangeSpace`](super::RangeSpace): index and generation. After the
/// range is freed, the handle is stale, even if a new range has the same index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeHandle {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl RangeHandle {
    /// Index of the range. At most the largest number of ranges that were ever live at once.
    /// Indices are reused, so an index alone does not identify a range.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the handle as an integer, for storage in untyped data.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << u32::BITS | self.index as u64
    }

    /// Returns the handle of an integer from [`to_bits`](Self::to_bits), or `None` if no handle has
    /// this integer. Generations of handles are odd, and indices are above 0. Use the handle only
    /// with the space that returned it.
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
