use alloc::vec::Vec;

/// A set of slots, a bit each; keeps its memory.
#[derive(Debug, Default)]
pub(super) struct SlotSet {
    words: Vec<u64>,
    len: usize,
}

impl SlotSet {
    pub(super) const fn new() -> Self {
        Self { words: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    #[inline]
    pub(super) fn insert(&mut self, slot: u32) {
        let (word, bit) = place(slot);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.len += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let (word, bit) = place(slot);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.len -= 1;
        }
    }
}

/// The word and the bit of a slot.
#[inline]
const fn place(slot: u32) -> (usize, u64) {
    ((slot / u64::BITS) as usize, 1 << (slot % u64::BITS))
}
