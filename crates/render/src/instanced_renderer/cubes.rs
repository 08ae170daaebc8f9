use std::ops::Range;

use drystone_alloc::Error;
use drystone_mesh::Cube;

use super::places::{Places, SlotPolicy};

/// Names a cube of the renderer that gave it, which another may take for one of its own;
/// stale once it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CubeId {
    place: u32,
    generation: u32,
}

/// Cubes by place, as the GPU has them or is about to, and which have changed.
///
/// ```text
///  places   0    1    2    3   ...        a block of 64 is uploaded whole
///  cubes    A    –    C    D   ...  H │ never drawn again until it is used
///                │                    └ high-water mark: drawn are those before it
///                └ freed: draws nothing, and is the next to be handed out
/// ```
///
/// # Cost
/// To insert, change or remove a cube is O(1): a look at a few words of the address space,
/// a store, and a bit for its block. 12 bytes a place, side by side, so that a place costs
/// one wait for memory.
#[derive(Debug)]
pub struct CubeBuffer {
    places: Places,
    slots: Vec<Slot>,
    /// Places that are not used again.
    worn_out: u32,
    /// A bit for each block in which a cube has changed.
    changed: Vec<u64>,
    /// Cubes on their way to the device.
    outgoing: Vec<Cube>,
}

/// A place.
#[derive(Clone, Copy, Debug)]
struct Slot {
    cube: Cube,
    /// How many have come or gone here: odd while a cube is here.
    generation: u32,
}

/// Cubes that are uploaded together: 512 bytes.
const BLOCK: u32 = 64;
/// Blocks in between that have not changed are uploaded too, up to so many: a call costs
/// as much as their bytes.
const GAP_BLOCKS: u32 = 4;

impl CubeId {
    pub(super) const fn place(self) -> u32 {
        self.place
    }
}

impl CubeBuffer {
    /// An empty one.
    pub const fn new(policy: SlotPolicy) -> Self {
        Self {
            places: Places::new(policy),
            slots: Vec::new(),
            worn_out: 0,
            changed: Vec::new(),
            outgoing: Vec::new(),
        }
    }

    /// Takes a cube in.
    ///
    /// # Errors
    /// `Full` after 2³² − 1 cubes. Where the program itself has no memory, it ends as with
    /// any vector: what runs out sooner is the device's, and that is the renderer's to ask for
    /// (see [`InstancedRenderer::insert_cube`](super::InstancedRenderer::insert_cube)).
    #[inline]
    pub fn insert(&mut self, cube: Cube) -> Result<CubeId, Error> {
        let place = self.places.allocate()?;
        let at = place as usize;
        if at >= self.slots.len() {
            self.grow(at + 1);
        }
        let slot = &mut self.slots[at];
        let generation = slot.generation + 1;
        *slot = Slot { cube, generation };
        self.touch(place);
        Ok(CubeId { place, generation })
    }

    /// Puts another cube in a cube's place, and returns what was there.
    ///
    /// # Errors
    /// `Stale` when it was removed before.
    #[inline]
    pub fn set(&mut self, id: CubeId, cube: Cube) -> Result<Cube, Error> {
        let slot = self.slot(id)?;
        let old = std::mem::replace(&mut slot.cube, cube);
        self.touch(id.place);
        Ok(old)
    }

    /// Takes a cube out, and returns it. Its place draws nothing until it is used again.
    ///
    /// # Errors
    /// `Stale` when it was removed before.
    #[inline]
    pub fn remove(&mut self, id: CubeId) -> Result<Cube, Error> {
        let slot = self.slot(id)?;
        let generation = id.generation.wrapping_add(1);
        let gone = std::mem::replace(slot, Slot { cube: Cube::NOTHING, generation });
        self.touch(id.place);
        // Where generations have run out, the place is not used again: its first handle
        // would live again.
        if generation == 0 {
            self.worn_out += 1;
        } else {
            self.places.free(id.place, id.generation)?;
        }
        Ok(gone.cube)
    }

    /// A cube; `None` when it was removed.
    #[inline]
    pub fn get(&self, id: CubeId) -> Option<Cube> {
        let slot = self.slots.get(id.place as usize)?;
        (slot.generation == id.generation).then_some(slot.cube)
    }

    /// How many cubes there are.
    pub const fn len(&self) -> u32 {
        self.places.len() - self.worn_out
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One past the highest place in use: how many places are drawn.
    pub const fn high_water(&self) -> u32 {
        self.places.high_water(self.slots.len() as u32)
    }

    /// Hands out the stretches of places in which cubes have changed since this was called
    /// before, each with its cubes.
    pub fn take_changes(&mut self, mut each: impl FnMut(u32, &[Cube])) {
        let mut pending: Option<Range<u32>> = None;
        let (slots, outgoing) = (&self.slots, &mut self.outgoing);
        let mut flush = |blocks: Range<u32>| {
            let start = (blocks.start * BLOCK) as usize;
            let end = ((blocks.end * BLOCK) as usize).min(slots.len());
            outgoing.clear();
            outgoing.extend(slots[start..end].iter().map(|slot| slot.cube));
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

    /// Has all cubes of these places uploaded again.
    pub(super) fn touch_all(&mut self, places: Range<u32>) {
        let end = places.end.min(self.slots.len() as u32);
        let first = places.start / BLOCK * BLOCK;
        (first..end).step_by(BLOCK as usize).for_each(|place| self.touch(place));
    }

    /// Walks all places and says what is wrong, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.places.check()?;
        let live = |slot: &&Slot| slot.generation % 2 == 1;
        let count = self.slots.iter().filter(live).count();
        if count != self.len() as usize {
            return Err("the cubes are miscounted");
        }
        if self.slots.iter().any(|slot| !live(&slot) && slot.cube != Cube::NOTHING) {
            return Err("a free place draws something");
        }
        match self.slots.iter().rposition(|slot| live(&slot)) {
            Some(last) if last >= self.high_water() as usize => Err("a cube is not drawn"),
            _ => Ok(()),
        }
    }

    #[inline]
    fn slot(&mut self, id: CubeId) -> Result<&mut Slot, Error> {
        match self.slots.get_mut(id.place as usize) {
            Some(slot) if slot.generation == id.generation => Ok(slot),
            _ => Err(Error::Stale),
        }
    }

    #[inline]
    fn touch(&mut self, place: u32) {
        let block = place / BLOCK;
        self.changed[(block / u64::BITS) as usize] |= 1 << (block % u64::BITS);
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.slots.resize(len, Slot { cube: Cube::NOTHING, generation: 0 });
        self.changed.resize(len.div_ceil((BLOCK * u64::BITS) as usize), 0);
    }
}

#[cfg(test)]
mod tests;
