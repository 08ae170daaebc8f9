/// One of the six axis-aligned facings, in the project's fixed order −X −Y −Z +X +Y +Z.
///
/// The order is chosen so that the facings a camera sees lie side by side as often as
/// possible: seen from outside a box, the three visible ones make 1.75 runs on average,
/// where ± pairs would make 2.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Face {
    /// Facing −X.
    NegX,
    /// Facing −Y (down).
    NegY,
    /// Facing −Z.
    NegZ,
    /// Facing +X.
    PosX,
    /// Facing +Y (up).
    PosY,
    /// Facing +Z.
    PosZ,
}

impl Face {
    /// How many facings there are.
    pub const COUNT: usize = 6;

    /// All facings in their order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::NegX, Self::NegY, Self::NegZ, Self::PosX, Self::PosY, Self::PosZ];

    /// The facing's place in [`Face::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The facing at a place in [`Face::ALL`], or `None` from 6 on.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self::ALL[index]) } else { None }
    }

    /// The axis that the facing is perpendicular to: 0 for X, 1 for Y, 2 for Z.
    #[inline]
    pub const fn axis(self) -> usize {
        self as usize % 3
    }

    /// The two axes that span the face, so that `u × v` points along the positive axis.
    /// A [`Quad`](crate::Quad)'s width runs along the first, its height along the second.
    #[inline]
    pub const fn span_axes(self) -> [usize; 2] {
        [(self.axis() + 1) % 3, (self.axis() + 2) % 3]
    }

    /// Whether the facing looks along its axis rather than against it.
    #[inline]
    pub const fn is_positive(self) -> bool {
        self as usize >= 3
    }

    /// The facing that looks the other way.
    #[inline]
    pub const fn opposite(self) -> Self {
        Self::ALL[(self as usize + 3) % Self::COUNT]
    }

    /// The outward unit normal.
    #[inline]
    pub const fn normal(self) -> [i32; 3] {
        let mut normal = [0; 3];
        normal[self.axis()] = if self.is_positive() { 1 } else { -1 };
        normal
    }
}

/// A set of facings, one bit each, bit `n` for `Face::ALL[n]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaceSet(u8);

impl FaceSet {
    /// No facing.
    pub const EMPTY: Self = Self(0);
    /// All six.
    pub const ALL: Self = Self(0x3f);

    /// Whether `face` is in the set.
    #[inline]
    pub const fn contains(self, face: Face) -> bool {
        self.0 >> face as u8 & 1 != 0
    }

    /// The set with `face` added.
    #[inline]
    #[must_use]
    pub const fn with(self, face: Face) -> Self {
        Self(self.0 | 1 << face as u8)
    }

    /// The facings of either.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The facings that `other` has not.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set of these bits; those beyond the sixth name no facing.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The set as bits.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Face> for FaceSet {
    fn from_iter<I: IntoIterator<Item = Face>>(faces: I) -> Self {
        faces.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_joined_and_taken_apart() {
        let [a, b] = [0b10_1101, 0b01_1001].map(FaceSet::from_bits);
        assert_eq!(a.union(b).bits(), 0b11_1101);
        assert_eq!(a.without(b).bits(), 0b10_0100);
    }

    #[test]
    fn order_axes_and_opposites_agree() {
        for (i, face) in Face::ALL.into_iter().enumerate() {
            assert_eq!(face.index(), i);
            assert_eq!(Face::from_index(i), Some(face));
            assert_eq!(face.opposite().opposite(), face);
            assert_eq!(face.opposite().axis(), face.axis());
            assert_ne!(face.opposite().is_positive(), face.is_positive());
            let sum: i32 = face.normal().iter().sum();
            assert_eq!(sum, if face.is_positive() { 1 } else { -1 });
        }
        assert_eq!(Face::from_index(6), None);
    }

    #[test]
    fn span_axes_are_right_handed() {
        for face in Face::ALL {
            let [u, v] = face.span_axes();
            assert_eq!([(u + 1) % 3, (v + 1) % 3], [v, face.axis()]);
        }
    }

    #[test]
    fn set_holds_what_was_put_in() {
        let set = FaceSet::EMPTY.with(Face::NegX).with(Face::PosZ);
        assert_eq!(set.bits(), 0b10_0001);
        assert!(set.contains(Face::PosZ) && !set.contains(Face::PosX));
        assert_eq!(FaceSet::from_iter(Face::ALL), FaceSet::ALL);
        assert_eq!(FaceSet::from_bits(0xff), FaceSet::ALL);
    }
}
