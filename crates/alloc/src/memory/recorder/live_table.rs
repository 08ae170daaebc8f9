use super::super::MemorySource;
use super::super::zeroed::{Zeroable, ZeroedSlice};

/// What is remembered of a live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Birth {
    pub(super) address: u64,
    pub(super) size_bytes: u64,
    /// Allocations and bytes before this one.
    pub(super) allocations_before: u64,
    pub(super) bytes_before: u64,
}

// SAFETY: only numbers, whose bytes may be anything.
unsafe impl Zeroable for Birth {}

/// Places of the first table.
const FIRST_PLACES: usize = 1 << 10;
/// 2⁶⁴ divided by the golden ratio: multiplied by it, addresses that differ little differ in
/// the high bits.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Births by address: a hash table with linear probing. A place with address 0 is free.
///
/// Removing moves later entries of a run back instead of leaving a mark, so that a table in
/// which much comes and goes stays as quick as a new one.
pub(super) struct LiveTable {
    /// A power of two, or none yet.
    places: ZeroedSlice<Birth>,
    len: usize,
}

impl LiveTable {
    pub(super) const fn new() -> Self {
        Self { places: ZeroedSlice::empty(), len: 0 }
    }

    /// Remembers a birth; false if there is no memory for it.
    pub(super) fn insert(&mut self, source: &'static dyn MemorySource, birth: Birth) -> bool {
        let is_crowded = self.len >= self.places.len() / 4 * 3;
        if is_crowded && !self.grow(source) && self.len + 1 >= self.places.len() {
            return false;
        }
        let place = self.find(birth.address);
        self.len += usize::from(self.places[place].address == 0);
        self.places[place] = birth;
        true
    }

    pub(super) fn remove(&mut self, address: u64) -> Option<Birth> {
        if self.places.is_empty() {
            return None;
        }
        let mut hole = self.find(address);
        let birth = self.places[hole];
        if birth.address == 0 {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            if self.places[place].address == 0 {
                break;
            }
            // It may move back to the hole unless its home lies after the hole.
            let home = self.home(self.places[place].address);
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                self.places[hole] = self.places[place];
                hole = place;
            }
        }
        self.places[hole].address = 0;
        self.len -= 1;
        Some(birth)
    }

    /// All that live, to be changed but for their address.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Birth> {
        self.places.iter_mut().filter(|birth| birth.address != 0)
    }

    fn home(&self, address: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        (address.wrapping_mul(GOLDEN) >> (u64::BITS - bits)) as usize
    }

    /// The place of this address, or the free one where it would stand. There is one.
    fn find(&self, address: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut place = self.home(address);
        while self.places[place].address != 0 && self.places[place].address != address {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self, source: &'static dyn MemorySource) -> bool {
        let count = (self.places.len() * 2).max(FIRST_PLACES);
        let Some(places) = ZeroedSlice::new(source, count) else { return false };
        let old = core::mem::replace(&mut self.places, places);
        for birth in old.iter().filter(|birth| birth.address != 0) {
            let place = self.find(birth.address);
            self.places[place] = *birth;
        }
        true
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use drystone_testing::Random;

    use super::*;
    use std::{alloc::System, collections::HashMap, vec::Vec};

    fn birth(address: u64, size_bytes: u64) -> Birth {
        Birth { address, size_bytes, allocations_before: address * 3, bytes_before: 7 }
    }

    #[test]
    fn it_does_what_a_map_does() {
        let (mut table, mut twin) = (LiveTable::new(), HashMap::new());
        let mut random = Random::new(1);
        for step in 0..200_000u64 {
            // Few addresses, so that runs form and wrap around.
            let address = (random.below(3000_u64) + 1) * 16;
            if random.below(2) == 0 {
                assert!(table.insert(&System, birth(address, step)));
                twin.insert(address, birth(address, step));
            } else {
                assert_eq!(table.remove(address), twin.remove(&address));
            }
            assert_eq!(table.len, twin.len());
        }
        assert!(table.places.len() > FIRST_PLACES);
        let mut live: Vec<_> = table.iter_mut().map(|birth| *birth).collect();
        live.sort_by_key(|birth| birth.address);
        let mut expected: Vec<_> = twin.into_values().collect();
        expected.sort_by_key(|birth| birth.address);
        assert_eq!(live, expected);
    }
}
