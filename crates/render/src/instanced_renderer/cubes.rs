use std::ops::Range;

use drystone_alloc::Error;
use drystone_mesh::Cube;

use super::slots::{SlotAllocator, SlotPolicy};

/// Id of a cube of one renderer; stale once the cube is removed. Another renderer cannot detect it
/// as foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CubeId {
    slot: u32,
    generation: u32,
}

/// Cubes indexed by slot, as on the GPU or about to be uploaded, and which of them have changed.
///
/// ```text
/// slots   0 1 2 3   ...    a block of 64 is uploaded at once
/// cubes   A – C D   ...  H │ not drawn until it is used again
/// │              └ high-water mark: slots before it are drawn
/// └ freed: draws nothing, and is allocated next
/// ```
///
/// # Cost
/// Inserting, changing and removing a cube are O(1): reads of a few words of the allocator, one
/// store, and one bit for its block. 12 bytes for each slot, stored together, so that a slot costs
/// one cache miss.
#[derive(Debug)]
pub struct CubeBuffer {
    allocator: SlotAllocator,
    entries: Vec<CubeEntry>,
    /// Number of slots that are never used again.
    worn_out: u32,
    /// One bit for each block in which a cube has changed.
    changed: Vec<u64>,
    /// Cubes that are being uploaded.
    outgoing: Vec<Cube>,
}

/// A slot.
#[derive(Clone, Copy, Debug)]
struct CubeEntry {
    cube: Cube,
    /// Number of insertions and removals in this slot: odd while it contains a cube.
    generation: u32,
}

/// Number of cubes that are uploaded together: 512 bytes.
const BLOCK: u32 = 64;
/// Maximum number of unchanged blocks between changed ones that are uploaded too: a call costs as
/// much as their bytes.
const GAP_BLOCKS: u32 = 4;

impl CubeId {
    pub(super) const fn slot(self) -> u32 {
        self.slot
    }
}

impl CubeBuffer {
    /// Creates an empty buffer.
    pub(super) const fn new(policy: SlotPolicy) -> Self {
        Self {
            allocator: SlotAllocator::new(policy),
            entries: Vec::new(),
            worn_out: 0,
            changed: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// Inserts a cube.
    ///
    /// # Errors
    /// `Full` after 2³² − 1 cubes. If the program is out of memory, it aborts as with any vector.
    /// The device runs out earlier, and the renderer allocates its memory (see
    /// [`InstancedRenderer::insert_cube`](super::InstancedRenderer::insert_cube)).
    #[inline]
    pub(super) fn insert(&mut self, cube: Cube) -> Result<CubeId, Error> {
        let slot = self.allocator.allocate()?;
        let at = slot as usize;
        if at >= self.entries.len() {
            self.grow(at + 1);
        }
        let entry = &mut self.entries[at];
        let generation = entry.generation + 1;
        *entry = CubeEntry { cube, generation };
        self.touch(slot);
        Ok(CubeId { slot, generation })
    }

    /// Replaces a cube, and returns the old one.
    ///
    /// # Errors
    /// `Stale` when it was already removed.
    #[inline]
    pub(super) fn set(&mut self, id: CubeId, cube: Cube) -> Result<Cube, Error> {
        let entry = self.entry(id)?;
        let old = std::mem::replace(&mut entry.cube, cube);
        self.touch(id.slot);
        Ok(old)
    }

    /// Removes a cube, and returns it. Its slot draws nothing until it is used again.
    ///
    /// # Errors
    /// `Stale` when it was already removed.
    #[inline]
    pub(super) fn remove(&mut self, id: CubeId) -> Result<Cube, Error> {
        let entry = self.entry(id)?;
        let generation = id.generation.wrapping_add(1);
        let gone = std::mem::replace(entry, CubeEntry { cube: Cube::NOTHING, generation });
        self.touch(id.slot);
        // When its generations are used up, a slot is not used again: its first id would become
        // valid again.
        if generation == 0 {
            self.worn_out += 1;
        } else {
            self.allocator.free(id.slot, id.generation)?;
        }
        Ok(gone.cube)
    }

    /// Returns a cube; `None` when it was removed.
    #[inline]
    pub fn get(&self, id: CubeId) -> Option<Cube> {
        let entry = self.entries.get(id.slot as usize)?;
        (entry.generation == id.generation).then_some(entry.cube)
    }

    /// Number of cubes.
    pub const fn len(&self) -> u32 {
        self.allocator.len() - self.worn_out
    }

    /// Whether there are no cubes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One past the highest slot in use: the number of slots that are drawn.
    pub const fn high_water(&self) -> u32 {
        self.allocator.high_water(self.entries.len() as u32)
    }

    /// Calls `each` with the ranges of slots in which cubes have changed since the last call: the
    /// first slot, and the cubes.
    pub(super) fn take_changes(&mut self, mut each: impl FnMut(u32, &[Cube])) {
        let mut pending: Option<Range<u32>> = None;
        let (entries, outgoing) = (&self.entries, &mut self.outgoing);
        let mut flush = |blocks: Range<u32>| {
            let start = (blocks.start * BLOCK) as usize;
            let end = ((blocks.end * BLOCK) as usize).min(entries.len());
            outgoing.clear();
            outgoing.extend(entries[start..end].iter().map(|entry| entry.cube));
            each(blocks.start * BLOCK, outgoing);
        };
        for (word, bits) in self.changed.iter_mut().enumerate() {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                let block = word as u32 * u64::BITS + rest.trailing_zeros();
                rest &= rest - 1;
                match &mut pending {
                    Some(blocks) if block <= blocks.end + GAP_BLOCKS => blocks.end = block + 1,
                    _ => {
                        if let Some(blocks) = pending.replace(block..block + 1) {
                            flush(blocks);
                        }
                    }
                }
            }
        }
        if let Some(blocks) = pending {
            flush(blocks);
        }
    }

    /// Marks all cubes of these slots as changed.
    pub(super) fn touch_all(&mut self, allocator: Range<u32>) {
        let end = allocator.end.min(self.entries.len() as u32);
        let first = allocator.start / BLOCK * BLOCK;
        (first..end).step_by(BLOCK as usize).for_each(|slot| self.touch(slot));
    }

    /// Checks all slots, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.allocator.validate()?;
        let live = |entry: &&CubeEntry| entry.generation % 2 == 1;
        let count = self.entries.iter().filter(live).count();
        if count != self.len() as usize {
            return Err("the number of cubes is wrong");
        }
        if self.entries.iter().any(|entry| !live(&entry) && entry.cube != Cube::NOTHING) {
            return Err("a free entry draws something");
        }
        match self.entries.iter().rposition(|entry| live(&entry)) {
            Some(last) if last >= self.high_water() as usize => {
                Err("a cube is above the high-water mark")
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn entry(&mut self, id: CubeId) -> Result<&mut CubeEntry, Error> {
        match self.entries.get_mut(id.slot as usize) {
            Some(entry) if entry.generation == id.generation => Ok(entry),
            _ => Err(Error::Stale),
        }
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let block = slot / BLOCK;
        self.changed[(block / u64::BITS) as usize] |= 1 << (block % u64::BITS);
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.entries.resize(len, CubeEntry { cube: Cube::NOTHING, generation: 0 });
        self.changed.resize(len.div_ceil((BLOCK * u64::BITS) as usize), 0);
    }
}

#[cfg(test)]
mod tests;
