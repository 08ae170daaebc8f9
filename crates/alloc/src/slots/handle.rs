use core::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    num::{NonZeroU32, NonZeroU64},
};

/// Handle of a value in a [`Slots`](super::Slots): index and generation. After the value is
/// removed, the handle is stale, even if a new value has the same slot.
pub struct Handle<T> {
    /// Generation (never 0) in the upper half, index in the lower half.
    bits: NonZeroU64,
    value: PhantomData<fn() -> T>,
}

/// Number of bits below the generation.
const INDEX_BITS: u32 = u32::BITS;

impl<T> Handle<T> {
    #[inline]
    pub(super) const fn new(index: u32, generation: NonZeroU32) -> Self {
        let generation = (generation.get() as u64) << INDEX_BITS;
        // The generation is not 0, so the sum is not 0 either.
        let bits = match NonZeroU64::new(generation | index as u64) {
            Some(bits) => bits,
            None => NonZeroU64::MIN,
        };
        Self { bits, value: PhantomData }
    }

    /// Index of the slot, below [`Slots::slot_count`](super::Slots::slot_count). Slots are reused,
    /// so an index alone does not identify a value.
    #[inline]
    pub const fn index(self) -> u32 {
        self.bits.get() as u32
    }

    /// Converts the handle to one for values of type `U`, for storage where the type of the values
    /// cannot be named. Convert it back before use, and use it only with the table that returned
    /// it.
    #[inline]
    pub const fn cast<U>(self) -> Handle<U> {
        Handle { bits: self.bits, value: PhantomData }
    }

    /// Returns the handle as an integer, which is never 0, for storage in untyped data.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.bits.get()
    }

    /// Returns the handle of an integer from [`to_bits`](Self::to_bits), or `None` if no handle has
    /// this integer. Generations of handles begin at 1. Use the handle only with the table that
    /// returned it.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits) if bits.get() >> INDEX_BITS > 0 => Some(Self { bits, value: PhantomData }),
            _ => None,
        }
    }

    /// Number of this use of the slot, counted from 1.
    #[inline]
    pub(super) const fn generation(self) -> u32 {
        (self.bits.get() >> INDEX_BITS) as u32
    }
}

// Implemented by hand, because a derive would require the same traits of `T`.
impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<T> Eq for Handle<T> {}

impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.index(), self.generation()).cmp(&(other.index(), other.generation()))
    }
}

impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({}v{})", self.index(), self.generation())
    }
}
