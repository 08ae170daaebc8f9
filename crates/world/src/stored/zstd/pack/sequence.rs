use super::fse::BitWriter;

/// A number as the format has it: a code, and bits of how far it lies above the least of its code.
#[derive(Clone, Copy)]
pub(super) struct Coded {
    pub(super) code: u8,
    rest: u32,
    bits: u32,
}

impl Coded {
    /// Of codes whose rests take so many bits, the first of which is that of `least`.
    fn of(value: u32, least: u32, bits: &[u8]) -> Self {
        let (mut rest, mut found) = (value.saturating_sub(least), 0);
        while let (true, Some(&bits)) = (found + 1 < bits.len(), bits.get(found))
            && rest >= 1 << bits
        {
            rest -= 1 << bits;
            found += 1;
        }
        let bits = bits.get(found).copied().unwrap_or_default().into();
        Self { code: found as u8, rest, bits }
    }
}

/// Literals, and then so many bytes again of what was there so far before.
#[derive(Clone, Copy)]
pub(super) struct Sequence {
    pub(super) literals: Coded,
    pub(super) offset: Coded,
    pub(super) length: Coded,
}

impl Sequence {
    /// `offset` is a [value](Offsets::value); a match has at least three bytes.
    pub(super) fn new(literal_count: usize, offset: u32, len: usize) -> Self {
        let log = offset.max(1).ilog2();
        Self {
            literals: Coded::of(literal_count as u32, 0, &LITERAL_BITS),
            offset: Coded { code: log as u8, rest: offset, bits: log },
            length: Coded::of(len as u32, 3, &MATCH_BITS),
        }
    }

    /// What the codes do not tell.
    pub(super) fn put_bits(&self, bits: &mut BitWriter<'_>) {
        for it in [self.literals, self.length, self.offset] {
            bits.put(it.rest, it.bits);
        }
    }
}

/// The last three offsets, which are told of in a few bits.
pub(super) struct Offsets([usize; 3]);

impl Default for Offsets {
    fn default() -> Self {
        Self([1, 4, 8])
    }
}

impl Offsets {
    /// The number for an offset; `is_bare` where no literals precede it.
    pub(super) fn value(&mut self, offset: usize, is_bare: bool) -> u32 {
        // Without literals the last one would have been a longer match: its number means another.
        let first = usize::from(is_bare);
        let known = (first..self.0.len()).find(|&place| self.0[place] == offset);
        self.0[..=known.unwrap_or(2)].rotate_right(1);
        self.0[0] = offset;
        match known {
            Some(place) => (place - first) as u32 + 1,
            None => offset as u32 + 3,
        }
    }
}

/// Bits of the rests, and shares of the codes in the format's own tables.
const LITERAL_BITS: [u8; 36] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11,
    12, 13, 14, 15, 16,
];
pub(super) const LITERAL_SHARES: [i8; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1,
];
const MATCH_BITS: [u8; 53] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
];
pub(super) const MATCH_SHARES: [i8; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
pub(super) const OFFSET_SHARES: [i8; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
