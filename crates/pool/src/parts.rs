/// The most parts a mesh can have.
pub const MAX_PARTS: usize = 8;

/// A set of a mesh's parts, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartSet(u8);

impl PartSet {
    /// No part: the mesh is not drawn.
    pub const EMPTY: Self = Self(0);
    /// Every part.
    pub const ALL: Self = Self(u8::MAX);

    /// The parts whose bits are set, bit `n` for part `n`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The set as bits.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with part `part` added; parts from [`MAX_PARTS`] on do not exist.
    #[inline]
    #[must_use]
    pub const fn with(self, part: usize) -> Self {
        if part < MAX_PARTS { Self(self.0 | 1 << part) } else { self }
    }

    /// Whether part `part` is in the set.
    #[inline]
    pub const fn contains(self, part: usize) -> bool {
        part < MAX_PARTS && self.0 >> part & 1 != 0
    }

    /// Whether no part is in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
