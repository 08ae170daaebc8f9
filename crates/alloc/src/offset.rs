use core::{
    fmt::Debug,
    hash::Hash,
    ops::{Add, AddAssign, Sub, SubAssign},
};

/// Integer type of offsets and sizes: `u32`, or `u64` for a space of more than 2³² − 1 units.
pub trait Offset:
    sealed::Sealed
    + Copy
    + Ord
    + Hash
    + Debug
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + AddAssign
    + SubAssign
    + Into<u64>
    + TryFrom<u64>
{
    /// The largest value.
    const MAX: Self;
    /// Number of bits of a value.
    const BITS: u32;
}

impl Offset for u32 {
    const MAX: Self = Self::MAX;
    const BITS: u32 = Self::BITS;
}

impl Offset for u64 {
    const MAX: Self = Self::MAX;
    const BITS: u32 = Self::BITS;
}

mod sealed {
    /// Restricts the trait to the two types that the arithmetic is tested for.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}
