use core::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
    num::{NonZeroU32, NonZeroU64},
};

/// Names one value in a [`Slots`](super::Slots): index and generation. Once the value is
/// removed the handle is stale for good, whoever gets the slot next.
pub struct Handle<T> {
    /// The generation, which is never 0, above the index.
    bits: NonZeroU64,
    value: PhantomData<fn() -> T>,
}

/// Where the generation begins.
const INDEX_BITS: u32 = u32::BITS;

impl<T> Handle<T> {
    #[inline]
    pub(super) const fn new(index: u32, generation: NonZeroU32) -> Self {
        let generation = (generation.get() as u64) << INDEX_BITS;
        // With any generation the whole is not 0, so that the index is only added.
        let bits = match NonZeroU64::new(generation | index as u64) {
            Some(bits) => bits,
            None => NonZeroU64::MIN,
        };
        Self { bits, value: PhantomData }
    }

    /// The slot's number, below [`Slots::slot_count`](super::Slots::slot_count). Slots are
    /// reused: the number alone names whatever lives there now.
    #[inline]
    pub const fn index(self) -> u32 {
        self.bits.get() as u32
    }

    /// The same handle for a table of another type: to keep a handle where the type of
    /// its values cannot be named. Give it back only to the table that it came from.
    #[inline]
    pub const fn cast<U>(self) -> Handle<U> {
        Handle { bits: self.bits, value: PhantomData }
    }

    /// The handle as a number, never 0, to be kept where its type has no place.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.bits.get()
    }

    /// The handle of that number, if it is one: give it back only to the table that it
    /// came from.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits) => Some(Self { bits, value: PhantomData }),
            None => None,
        }
    }

    /// Which use of the slot this is, from 1 on.
    #[inline]
    pub(super) const fn generation(self) -> u32 {
        (self.bits.get() >> INDEX_BITS) as u32
    }
}

// By hand and not derived: a handle is all of this whatever its value's type is.
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
