//! Memory of the tree.

use allocator_api2::alloc::Allocator;

use super::AddressSpace;
use crate::Error;
use crate::bit_tree::WORD_BITS;

impl<A: Allocator + Clone> AddressSpace<A> {
    /// Reserves memory for `additional` more indices: allocating them needs no more memory. The
    /// memory is reserved exactly, without a surplus for later growth.
    ///
    /// # Cost
    /// O(reserved leaves).
    ///
    /// # Errors
    /// `Full` if fewer indices are free below the limit, or if the memory is exhausted. Indices that
    /// are allocated stay valid.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::AddressSpace;
    ///
    /// let mut space = AddressSpace::default();
    /// space.reserve(100_000)?;
    /// let size_bytes = space.size_bytes();
    /// space.allocate_many(100_000, &mut Vec::new())?;
    /// assert_eq!(space.size_bytes(), size_bytes);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn reserve(&mut self, additional: u32) -> Result<(), Error> {
        let Some(needed) = self.len().checked_add(additional).filter(|it| *it <= self.limit) else {
            return Err(self.full(additional));
        };
        let missing = (needed as usize).div_ceil(WORD_BITS);
        let missing = missing.saturating_sub(self.tree.leaves().len());
        let reserved = self.tree.reserve(missing);
        let grown = reserved.and_then(|()| (0..missing).try_for_each(|_| self.grow().map(drop)));
        grown.ok_or_else(|| self.full(additional))
    }

    /// Releases the memory above the highest used index.
    ///
    /// # Cost
    /// O(leaves).
    pub fn shrink_to_fit(&mut self) {
        self.finish_appending();
        self.tree.truncate((self.high_water as usize).div_ceil(WORD_BITS));
        self.block = 0;
    }

    /// Number of indices that the tree covers now. The tree grows automatically.
    pub fn capacity(&self) -> u32 {
        (self.tree.leaves().len() * WORD_BITS).min(self.limit as usize) as u32
    }

    /// Returns the size of the tree's memory, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.tree.size_bytes()
    }
}
