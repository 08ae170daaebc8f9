/// Maximum number of parts per mesh.
pub const MAX_PARTS: usize = 8;

/// Set of a mesh's parts, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartSet(u8);

impl PartSet {
    /// Empty set: the mesh is not drawn.
    pub const EMPTY: Self = Self(0);
    /// Set of all parts.
    pub const ALL: Self = Self(u8::MAX);

    /// Creates a set from bits: bit `n` for part `n`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the set as bits: bit `n` for part `n`.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set with `part` added. Values of [`MAX_PARTS`] and above are ignored.
    #[inline]
    #[must_use]
    pub const fn with(self, part: usize) -> Self {
        if part < MAX_PARTS { Self(self.0 | 1 << part) } else { self }
    }

    /// Returns whether `part` is in the set.
    #[inline]
    pub const fn contains(self, part: usize) -> bool {
        part < MAX_PARTS && self.0 >> part & 1 != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
