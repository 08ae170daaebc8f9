use alloc::vec::Vec;
use core::cmp::Ordering;

#[cfg(feature = "rayon")]
use rayon::prelude::*;

/// Sorts indices by their 64-bit keys, moving 8 bytes per index.
///
/// ```text
///  keys     …000 1011 0110…0     common leading and trailing bits are removed
///                └──────┘
///  words    [ 32 bits of key | 32 bits of index ]      sorted as plain numbers
/// ```
/// Keys of one frame differ in few bits: distances share the sign and most of the exponent. The
/// difference to the lowest key mostly fits 32 bits, so key and index are sorted as one number. If
/// it does not fit, or there are few keys, the upper 32 or 24 bits are sorted first. The few
/// indices with equal upper bits are then sorted by the rest. Equal keys keep the order of their
/// indices, so the order is total.
///
/// # Cost
/// A few passes over 8 bytes per key. Short lists are sorted by comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct KeySort {
    words: Vec<u64>,
    spare: Vec<u64>,
}

/// Position of the key in a word.
const INDEX_BITS: u32 = u32::BITS;

/// Below this number of words, sorting uses comparisons.
const SMALL: usize = 256;
/// From this number of words on, a digit has 11 bits instead of 8. This saves one pass, but needs
/// 2,048 counters, which fill most of the L1 cache.
const LARGE: usize = 1 << 13;
/// Bits of a key in the first sort below `LARGE`: three digits.
const FEW_KEYS_BITS: u32 = 24;

impl KeySort {
    /// Sorts the indices of `keys`.
    pub(super) fn sort(&mut self, keys: &[u64]) {
        let spread = Spread::of(keys, if keys.len() < LARGE { FEW_KEYS_BITS } else { INDEX_BITS });
        self.words.clear();
        let words = keys.iter().zip(0u32..);
        self.words.extend(words.map(|(&key, index)| word(spread.upper(key), index)));
        self.spare.resize(self.words.len(), 0);
        sort_words(&mut self.words, &mut self.spare, spread.upper_bits());
        if spread.lower_bits > 0 {
            self.sort_equals(keys, &spread);
        }
    }

    /// Does the same as [`sort`](Self::sort), on several threads: each sorts a piece, and pieces are merged.
    #[cfg(feature = "rayon")]
    pub(super) fn par_sort(&mut self, keys: &[u64], pieces: usize) {
        let piece = keys.len().div_ceil(pieces).max(1);
        let spread = Spread::of(keys, INDEX_BITS);
        self.words.resize(keys.len(), 0);
        self.spare.resize(keys.len(), 0);
        let memory = self.words.par_chunks_mut(piece).zip(self.spare.par_chunks_mut(piece));
        memory.zip(keys.par_chunks(piece)).enumerate().for_each(
            |(number, ((words, spare), keys))| {
                for ((to, &key), index) in words.iter_mut().zip(keys).zip((number * piece) as u32..)
                {
                    *to = word(spread.upper(key), index);
                }
                sort_words(words, spare, spread.upper_bits());
            },
        );
        let mut sorted = piece;
        while sorted < keys.len() {
            let pairs =
                self.words.par_chunks(2 * sorted).zip(self.spare.par_chunks_mut(2 * sorted));
            pairs.for_each(|(from, to)| {
                let (low, high) = from.split_at(sorted.min(from.len()));
                par_merge(low, high, to);
            });
            core::mem::swap(&mut self.words, &mut self.spare);
            sorted *= 2;
        }
        if spread.lower_bits > 0 {
            self.sort_equals(keys, &spread);
        }
    }

    /// Sorts the indices below `count` with a comparator. Equal ones keep their order.
    pub(super) fn sort_by(&mut self, count: u32, mut compare: impl FnMut(u32, u32) -> Ordering) {
        self.words.clear();
        self.words.extend((0..count).map(u64::from));
        self.words.sort_unstable_by(|&a, &b| compare(a as u32, b as u32).then(a.cmp(&b)));
    }

    /// The sorted indices, each in the lower half of a word.
    #[cfg(feature = "rayon")]
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the sorted indices.
    #[inline]
    pub(super) fn indices(&self) -> impl Iterator<Item = u32> {
        self.words.iter().map(|&word| word as u32)
    }

    /// Sorts words with equal upper bits by their lower bits.
    fn sort_equals(&mut self, keys: &[u64], spread: &Spread) {
        let mut rest = &mut self.words[..];
        while let Some(&first) = rest.first() {
            let upper = first >> INDEX_BITS;
            let count = rest.iter().take_while(|&&word| word >> INDEX_BITS == upper).count();
            let (equals, after) = rest.split_at_mut(count);
            if count > 1 {
                for equal in &mut *equals {
                    let index = *equal as u32;
                    *equal = word(spread.lower(keys[index as usize]), index);
                }
                sort_words(equals, &mut self.spare[..count], spread.lower_bits);
            }
            rest = after;
        }
    }
}

#[inline]
fn word(key: u32, index: u32) -> u64 {
    u64::from(key) << INDEX_BITS | u64::from(index)
}

/// Bits in which keys differ, relative to the lowest key.
struct Spread {
    min: u64,
    /// Number of trailing bits that all keys share.
    shift: u32,
    /// Number of bits that do not fit the first sort.
    lower_bits: u32,
    bits: u32,
}

impl Spread {
    fn of(keys: &[u64], max_upper_bits: u32) -> Self {
        let first = keys.first().copied().unwrap_or(0);
        let (mut min, mut max, mut differing) = (first, first, 0);
        for &key in keys {
            min = min.min(key);
            max = max.max(key);
            differing |= key ^ first;
        }
        let shift = differing.trailing_zeros() % u64::BITS;
        let bits = u64::BITS - ((max - min) >> shift).leading_zeros();
        let lower_bits = bits.saturating_sub(max_upper_bits).min(INDEX_BITS);
        Self { min, shift, lower_bits, bits }
    }

    const fn upper_bits(&self) -> u32 {
        self.bits - self.lower_bits
    }

    #[inline]
    const fn upper(&self, key: u64) -> u32 {
        ((key - self.min) >> self.shift >> self.lower_bits) as u32
    }

    /// Returns the bits below the upper ones.
    const fn lower(&self, key: u64) -> u32 {
        let mask = !(!0 << self.lower_bits);
        ((key - self.min) >> self.shift & mask) as u32
    }
}

/// Sorts words whose keys have `key_bits` bits. `spare` must have the same length.
fn sort_words(words: &mut [u64], spare: &mut [u64], key_bits: u32) {
    match words.len() {
        0..SMALL => words.sort_unstable(),
        SMALL..LARGE => sort_by_digits::<256, 4>(words, spare, key_bits),
        _ => sort_by_digits::<2048, 3>(words, spare, key_bits),
    }
}

/// Sorts by digits of `DIGITS` values. `PASSES` digits cover 32 bits.
fn sort_by_digits<const DIGITS: usize, const PASSES: usize>(
    words: &mut [u64],
    spare: &mut [u64],
    key_bits: u32,
) {
    const { assert!(DIGITS.is_power_of_two() && DIGITS.ilog2() as usize * PASSES >= 32) };
    // Least significant digit first; each pass is stable. Words start in the order of their
    // indices, so no pass needs the index bits.
    let passes = key_bits.div_ceil(DIGITS.ilog2());
    let digit_bits = key_bits.div_ceil(passes.max(1));
    let mut starts = [[0u32; DIGITS]; PASSES];
    let starts = &mut starts[..passes as usize];
    count_digits(words, starts, digit_bits);
    let (mut from, mut to) = (&mut *words, &mut *spare);
    for (pass, starts) in (0..).zip(starts) {
        let shift = INDEX_BITS + pass * digit_bits;
        for &word in &*from {
            let start = &mut starts[digit::<DIGITS>(word, shift, digit_bits)];
            to[*start as usize] = word;
            *start += 1;
        }
        (from, to) = (to, from);
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Computes the first output position of each digit, for each pass.
fn count_digits<const DIGITS: usize>(words: &[u64], starts: &mut [[u32; DIGITS]], digit_bits: u32) {
    for &word in words {
        for (pass, counts) in (0..).zip(&mut *starts) {
            counts[digit::<DIGITS>(word, INDEX_BITS + pass * digit_bits, digit_bits)] += 1;
        }
    }
    for counts in starts {
        let mut start = 0;
        for count in &mut counts[..1 << digit_bits] {
            start += core::mem::replace(count, start);
        }
    }
}

#[inline]
const fn digit<const DIGITS: usize>(word: u64, shift: u32, digit_bits: u32) -> usize {
    // The second mask lets the compiler omit the bounds check.
    (word >> shift) as usize & ((1 << digit_bits) - 1) & (DIGITS - 1)
}

/// Merges sorted words on several threads: the middle of the longer half divides both.
#[cfg(feature = "rayon")]
fn par_merge(low: &[u64], high: &[u64], to: &mut [u64]) {
    /// Number of words that one thread merges.
    const FEW: usize = if cfg!(test) { 100 } else { 1 << 14 };
    if to.len() <= FEW {
        merge(low, high, to);
        return;
    }
    let (longer, other) = if low.len() < high.len() { (high, low) } else { (low, high) };
    let middle = longer.len() / 2;
    let at = other.partition_point(|&word| word < longer[middle]);
    let ((longer, longer_end), (other, other_end)) = (longer.split_at(middle), other.split_at(at));
    let (to, to_end) = to.split_at_mut(middle + at);
    rayon::join(|| par_merge(longer, other, to), || par_merge(longer_end, other_end, to_end));
}

/// Merges sorted words. No two are equal. The comparison compiles to no branch, which the processor could not predict.
#[cfg(feature = "rayon")]
fn merge(mut low: &[u64], mut high: &[u64], to: &mut [u64]) {
    let mut at = 0;
    while let ([first, ..], [second, ..]) = (low, high) {
        let is_low = first < second;
        to[at] = if is_low { *first } else { *second };
        at += 1;
        (low, high) = (&low[usize::from(is_low)..], &high[usize::from(!is_low)..]);
    }
    let (of_low, of_high) = to[at..].split_at_mut(low.len());
    of_low.copy_from_slice(low);
    of_high.copy_from_slice(high);
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use super::*;

    fn assert_sorted(keys: &[u64], sort: &mut KeySort) {
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&index| keys[index as usize]);
        sort.sort(keys);
        assert!(sort.indices().eq(expected.iter().copied()), "{} keys", keys.len());
        #[cfg(feature = "rayon")]
        {
            for pieces in [1, 2, 3, 8] {
                sort.par_sort(keys, pieces);
                let expected = expected.iter().copied();
                assert!(sort.indices().eq(expected), "{} keys, {pieces} pieces", keys.len());
            }
        }
    }

    /// Lengths on both sides of every threshold; keys that differ in few, many and all bits, high
    /// and low; and many equal keys.
    #[test]
    fn sorts_like_a_stable_sort() {
        let mut random = Random::new(11);
        let mut sort = KeySort::default();
        for length in [0, 1, 2, 3, 17, SMALL - 1, SMALL, SMALL + 1, 1000, LARGE - 1, LARGE] {
            for (bits, shift) in
                [(0, 0), (1, 63), (3, 7), (8, 24), (11, 32), (12, 0), (22, 0), (26, 32), (32, 9)]
                    .into_iter()
                    .chain([(33, 31), (33, 0), (45, 12), (63, 1), (64, 0)])
            {
                let base = random.bits();
                let mask = if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
                let keys: Vec<u64> = (0..length)
                    .map(|_| ((random.bits() & mask) << shift).wrapping_add(base))
                    .collect();
                assert_sorted(&keys, &mut sort);
            }
        }
    }

    /// Many keys share their upper half, as in layers of chunks at equal depth.
    #[test]
    fn keys_with_equal_upper_halves_are_sorted_by_the_lower() {
        let mut random = Random::new(12);
        let mut sort = KeySort::default();
        for layers in [1, 2, 5, 900] {
            let mut key = |_| random.below(layers) << 40 | random.below(1_u64 << 30);
            for length in [3000, 2 * LARGE] {
                let keys: Vec<u64> = (0..length).map(&mut key).collect();
                assert_sorted(&keys, &mut sort);
            }
        }
    }
}
