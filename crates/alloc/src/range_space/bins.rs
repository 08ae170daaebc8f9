use alloc::{vec, vec::Vec};

use super::nodes::{NONE, Nodes};
use crate::{Offset, bit_tree::WORD_BITS};

/// Bins per power of two, as a power of two. Finer bins waste less of a gap and have shorter lists.
/// With 32 bins, a space is 99 % full before the first failure, and the bits and heads (4 KiB) stay
/// in the L1 cache.
const FINE_BITS: u32 = 5;
const FINE: u64 = 1 << FINE_BITS;

/// Gaps of a space, by size: one list per bin, 32 bins per power of two (sizes below 32 have a bin
/// each). Two levels of bits mark the bins that have gaps.
///
/// ```text
///  words   1 0 0 1 …            which words of `bits` are not zero: one bit scan
///  bits    0010…0, 0…, …        which bins are not empty: a second bit scan
///  heads   bin ─► node ─► node  lists through the nodes before the gaps
/// ```
#[derive(Clone, Debug)]
pub(super) struct Bins {
    words: u64,
    bits: Vec<u64>,
    heads: Vec<u32>,
    len: u32,
}

/// Returns the bin of gaps of `size` units. A larger size never has a smaller bin.
#[inline]
pub(crate) fn bin_of(size: u64) -> usize {
    // Sizes below 32 also have exponent 5; their bin is the size itself.
    let exponent = (size | FINE).ilog2();
    let shift = exponent - FINE_BITS;
    (((u64::from(shift)) << FINE_BITS) + (size >> shift)) as usize
}

impl Bins {
    pub(super) fn new<O: Offset>() -> Self {
        let count = bin_of(O::MAX.into()) + 1;
        Self {
            words: 0,
            bits: vec![0; count.div_ceil(WORD_BITS)],
            heads: vec![NONE; count],
            len: 0,
        }
    }

    /// Removes all gaps and keeps the memory.
    pub(super) fn reset(&mut self) {
        (self.words, self.len) = (0, 0);
        self.bits.fill(0);
        self.heads.fill(NONE);
    }

    /// Number of gaps in all lists.
    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    /// Returns the first node of a bin's list, or [`NONE`].
    #[inline]
    pub(super) fn head(&self, bin: usize) -> u32 {
        self.heads.get(bin).copied().unwrap_or(NONE)
    }

    /// Returns the lowest bin, from `bin` on, that has gaps.
    #[inline]
    pub(super) fn first_from(&self, bin: usize) -> Option<usize> {
        let word = bin / WORD_BITS;
        let here = self.bits.get(word)? & (u64::MAX << (bin % WORD_BITS));
        if here != 0 {
            return Some(word * WORD_BITS + here.trailing_zeros() as usize);
        }
        // Two shifts, because the word may be the 64th.
        let above = self.words & (u64::MAX << word << 1);
        let bits = self.bits.get(above.trailing_zeros() as usize)?;
        Some(above.trailing_zeros() as usize * WORD_BITS + bits.trailing_zeros() as usize)
    }

    /// Returns the highest bin that has gaps.
    pub(super) fn last(&self) -> Option<usize> {
        let word = self.words.checked_ilog2()? as usize;
        Some(word * WORD_BITS + self.bits[word].checked_ilog2()? as usize)
    }

    /// Adds the gap after a node to its list.
    #[inline]
    pub(super) fn insert<O: Offset>(&mut self, nodes: &mut Nodes<O>, at: u32) {
        let bin = bin_of(nodes[at].gap.into());
        let next = core::mem::replace(&mut self.heads[bin], at);
        let node = &mut nodes[at];
        (node.bin_prev, node.bin_next) = (NONE, next);
        self.len += 1;
        if next != NONE {
            nodes[next].bin_prev = at;
        } else {
            self.bits[bin / WORD_BITS] |= 1 << (bin % WORD_BITS);
            self.words |= 1 << (bin / WORD_BITS);
        }
    }

    /// Gives the place of one node in its list to another, if the gap of the other belongs to the same bin.
    /// Returns whether it does. The other node must be in no list.
    #[inline]
    pub(super) fn replace<O: Offset>(&mut self, nodes: &mut Nodes<O>, old: u32, new: u32) -> bool {
        let bin = bin_of(nodes[old].gap.into());
        if bin_of(nodes[new].gap.into()) != bin {
            return false;
        }
        let (prev, next) = (nodes[old].bin_prev, nodes[old].bin_next);
        let node = &mut nodes[new];
        (node.bin_prev, node.bin_next) = (prev, next);
        if next != NONE {
            nodes[next].bin_prev = new;
        }
        match prev {
            NONE => self.heads[bin] = new,
            prev => nodes[prev].bin_next = new,
        }
        true
    }

    /// Removes the gap after a node from its list.
    #[inline]
    pub(super) fn remove<O: Offset>(&mut self, nodes: &mut Nodes<O>, at: u32) {
        let node = &nodes[at];
        let (prev, next) = (node.bin_prev, node.bin_next);
        self.len -= 1;
        if next != NONE {
            nodes[next].bin_prev = prev;
        }
        if prev != NONE {
            nodes[prev].bin_next = next;
            return;
        }
        let bin = bin_of(nodes[at].gap.into());
        self.heads[bin] = next;
        if next == NONE {
            let word = bin / WORD_BITS;
            self.bits[word] &= !(1 << (bin % WORD_BITS));
            self.words &= !(u64::from(self.bits[word] == 0) << word);
        }
    }

    /// Returns the heap memory in use, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>() + self.heads.capacity() * size_of::<u32>()
    }

    /// Iterates over all bins: index, head, and whether the bits mark the bin as not empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, u32, bool)> {
        self.heads.iter().enumerate().map(|(bin, &head)| {
            let bits = self.bits[bin / WORD_BITS];
            let in_words = self.words >> (bin / WORD_BITS) & 1 == u64::from(bits != 0);
            (bin, head, in_words && bits >> (bin % WORD_BITS) & 1 == 1)
        })
    }
}
