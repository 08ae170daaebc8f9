use alloc::vec::Vec;

/// Set of slots, one bit each. Reuses its memory.
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
        let (word, bit) = word_and_bit(slot);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.len += usize::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let (word, bit) = word_and_bit(slot);
        if let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) {
            *word &= !bit;
            self.len -= 1;
        }
    }
}

/// Returns the word index and the bit of a slot.
#[inline]
const fn word_and_bit(slot: u32) -> (usize, u64) {
    ((slot / u64::BITS) as usize, 1 << (slot % u64::BITS))
}
