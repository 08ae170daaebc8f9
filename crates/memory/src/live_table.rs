use core::alloc::Layout;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use crate::{MemorySource, Region};

/// Recorded data of a live object. The address is not 0.
pub(crate) trait Entry: Zeroable + Default {
    fn address(&self) -> u64;
}

/// Address and layout of a live block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) size_bytes: u64,
    pub(crate) align: u64,
}

// SAFETY: integers, all of whose bit patterns are valid.
unsafe impl Zeroable for Block {}

impl Entry for Block {
    fn address(&self) -> u64 {
        self.address
    }
}

impl Block {
    pub(crate) fn new(start: NonNull<u8>, layout: Layout) -> Self {
        let address = start.addr().get() as u64;
        Self { address, size_bytes: layout.size() as u64, align: layout.align() as u64 }
    }
}

/// Number of entries of the first table.
const FIRST_ENTRIES: usize = 1 << 6;
/// 2⁶⁴ divided by the golden ratio. Products of nearby numbers with it differ in the high bits.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Two to this power is the size in bytes of a group: addresses of one group have neighbouring
/// entries, because neighbouring objects are often used one after another.
const GROUP_SHIFT: u32 = 7;
/// Two to this power is the usual alignment of objects in bytes.
const ALIGN_SHIFT: u32 = 4;

/// Live objects by address: a hash table with linear probing. An entry with address 0 is free.
///
/// Removal moves later entries of a run back instead of leaving a mark, so the table does not slow
/// down with time.
pub(crate) struct LiveTable<E: Entry> {
    /// A power of two, or empty before the first insertion.
    entries: ZeroedSlice<E>,
    len: usize,
}

impl<E: Entry> LiveTable<E> {
    pub(crate) const fn new() -> Self {
        Self { entries: ZeroedSlice::empty(), len: 0 }
    }

    /// Inserts a live object. Returns `false` if there is no memory for it.
    pub(crate) fn insert(&mut self, source: &'static dyn MemorySource, entry: E) -> bool {
        let is_crowded = self.len >= self.entries.len() / 4 * 3;
        if is_crowded && !self.grow(source) && self.len + 1 >= self.entries.len() {
            return false;
        }
        let index = self.find(entry.address());
        self.len += usize::from(self.entries[index].address() == 0);
        self.entries[index] = entry;
        true
    }

    pub(crate) fn remove(&mut self, address: u64) -> Option<E> {
        self.remove_if(address, |_| true)
    }

    /// Removes the live object at an address if it `is_right`.
    pub(crate) fn remove_if(
        &mut self,
        address: u64,
        is_right: impl FnOnce(&E) -> bool,
    ) -> Option<E> {
        let mut hole = self.index_of(address)?;
        let removed = self.entries[hole];
        if !is_right(&removed) {
            return None;
        }
        let mask = self.entries.len() - 1;
        let mut index = hole;
        loop {
            index = (index + 1) & mask;
            if self.entries[index].address() == 0 {
                break;
            }
            // An entry may move back to the hole unless its hash index is behind the hole.
            let hash_index = self.hash_index(self.entries[index].address());
            if (index.wrapping_sub(hash_index) & mask) >= (index.wrapping_sub(hole) & mask) {
                self.entries[hole] = self.entries[index];
                hole = index;
            }
        }
        self.entries[hole] = E::default();
        self.len -= 1;
        Some(removed)
    }

    /// Returns the live object at an address.
    pub(crate) fn get(&self, address: u64) -> Option<E> {
        self.index_of(address).map(|index| self.entries[index])
    }

    /// Number of live objects.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Iterates mutably over all live objects. Their addresses must not be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.entries.iter_mut().filter(|entry| entry.address() != 0)
    }

    /// Returns the index of the entry in which the object at `address` is stored if that is free.
    fn hash_index(&self, address: u64) -> usize {
        let bits = self.entries.len().trailing_zeros();
        let group = (address >> GROUP_SHIFT).wrapping_mul(GOLDEN) >> (u64::BITS - bits);
        let within_group = (address >> ALIGN_SHIFT) & ((1 << (GROUP_SHIFT - ALIGN_SHIFT)) - 1);
        (group + within_group) as usize & (self.entries.len() - 1)
    }

    /// Returns the index of the live object at an address.
    fn index_of(&self, address: u64) -> Option<usize> {
        if self.entries.is_empty() || address == 0 {
            return None;
        }
        Some(self.find(address)).filter(|&index| self.entries[index].address() != 0)
    }

    /// Returns the index of the entry of `address`, or of the free entry in which it would be
    /// stored. The table must contain a free entry.
    fn find(&self, address: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut index = self.hash_index(address);
        while ![0, address].contains(&self.entries[index].address()) {
            index = (index + 1) & mask;
        }
        index
    }

    fn grow(&mut self, source: &'static dyn MemorySource) -> bool {
        let count = (self.entries.len() * 2).max(FIRST_ENTRIES);
        let Some(entries) = ZeroedSlice::new(source, count) else { return false };
        let old = core::mem::replace(&mut self.entries, entries);
        for entry in old.iter().filter(|entry| entry.address() != 0) {
            let index = self.find(entry.address());
            self.entries[index] = *entry;
        }
        true
    }
}

/// Plain data type whose value may have all bytes zero.
///
/// # Safety
/// - All bytes zero is a valid value.
/// - The type needs no drop.
pub(crate) unsafe trait Zeroable: Copy {}

// SAFETY: an integer, all of whose bit patterns are valid.
unsafe impl Zeroable for u64 {}

/// Slice in memory of a source, initially zero. Replaces `Vec` in code that implements the
/// program's allocator and therefore cannot use it.
pub(crate) struct ZeroedSlice<T: Zeroable> {
    region: Option<Region<'static>>,
    len: usize,
    values: PhantomData<T>,
}

impl<T: Zeroable> ZeroedSlice<T> {
    pub(crate) const fn empty() -> Self {
        Self { region: None, len: 0, values: PhantomData }
    }

    /// Allocates `len` zeroes. `None` if the source cannot allocate them.
    pub(crate) fn new(source: &'static dyn MemorySource, len: usize) -> Option<Self> {
        let layout = Layout::array::<T>(len).ok()?;
        let region = Region::from_source(source, layout).ok()?;
        // SAFETY: the region's bytes are ours to write, and it is as large as the layout.
        unsafe { region.start().write_bytes(0, layout.size()) };
        Some(Self { region: Some(region), len, values: PhantomData })
    }
}

impl<T: Zeroable> Deref for ZeroedSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let Some(region) = &self.region else { return &[] };
        // SAFETY: the region is aligned and large enough for `len` values of `T`. Its bytes were
        // zeroed, which is a valid value, and it is borrowed as long as the slice.
        unsafe { slice::from_raw_parts(region.start().cast().as_ptr(), self.len) }
    }
}

impl<T: Zeroable> DerefMut for ZeroedSlice<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let Some(region) = &self.region else { return &mut [] };
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(region.start().cast().as_ptr(), self.len) }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use drystone_testing::Random;

    use super::*;
    use std::{alloc::System, collections::HashMap, vec::Vec};

    fn block(address: u64, size_bytes: u64) -> Block {
        Block { address, size_bytes, align: address * 3 }
    }

    #[test]
    fn the_table_behaves_like_a_hash_map() {
        let (mut table, mut expected_map) = (LiveTable::new(), HashMap::new());
        let mut random = Random::new(1);
        for step in 0..200_000u64 {
            // Few addresses, so that runs form and wrap around.
            let address = (random.below(3000_u64) + 1) * 16;
            if random.below(2) == 0 {
                assert!(table.insert(&System, block(address, step)));
                assert_eq!(table.get(address), Some(block(address, step)));
                expected_map.insert(address, block(address, step));
            } else {
                assert_eq!(table.remove(address), expected_map.remove(&address));
            }
            assert_eq!(table.len, expected_map.len());
        }
        assert!(table.entries.len() > FIRST_ENTRIES);
        let mut live: Vec<_> = table.iter_mut().map(|block| *block).collect();
        live.sort_by_key(|block| block.address);
        let mut expected: Vec<_> = expected_map.into_values().collect();
        expected.sort_by_key(|block| block.address);
        assert_eq!(live, expected);
    }
}
