use alloc::vec::Vec;

use crate::{Error, Offset, RangeHandle, RangeSpace};

/// Maximum number of buckets of a slab: one bit each in a word.
const MAX_BUCKETS: u32 = u64::BITS;
/// A slab takes at most 1/64 of the space, so that slabs with few used buckets do not fill it.
const SLABS_PER_SPACE: u64 = 64;
/// Index that stands for no slab.
const NONE: u32 = u32::MAX;

/// Origin of an allocation.
#[derive(Clone, Copy, Debug)]
pub(super) enum ClassSlot {
    Range(RangeHandle),
    Bucket { slab: u32, bucket: u32 },
}

/// Size class: one bucket size.
#[derive(Clone, Debug)]
pub(super) struct Class<O> {
    pub(super) size: O,
    buckets_per_slab: u32,
    /// Slabs with free buckets. The last one is used next.
    open: Vec<u32>,
}

impl<O: Offset> Class<O> {
    pub(super) fn new(size: O, capacity: O) -> Self {
        let max_buckets = capacity.into() / SLABS_PER_SPACE / size.into().max(1);
        let buckets_per_slab = max_buckets.clamp(1, MAX_BUCKETS.into()) as u32;
        Self { size, buckets_per_slab, open: Vec::new() }
    }

    /// Returns the `free` word of a slab whose buckets are all free.
    fn all_free(&self) -> u64 {
        u64::MAX >> (MAX_BUCKETS - self.buckets_per_slab)
    }
}

/// Contiguous buckets of equal size.
#[derive(Clone, Debug)]
struct Slab<O> {
    range: RangeHandle,
    offset: O,
    /// One bit per bucket, set while the bucket is free.
    free: u64,
    class: u32,
    /// Position in the class's list of open slabs, or [`NONE`] if the slab is full. For a released
    /// slab: index of the next released slab.
    link: u32,
    is_live: bool,
}

/// Slabs of all classes.
#[derive(Clone, Debug)]
pub(super) struct Slabs<O> {
    slabs: Vec<Slab<O>>,
    first_unused: u32,
}

impl<O: Offset> Slabs<O> {
    pub(super) const fn new() -> Self {
        Self { slabs: Vec::new(), first_unused: NONE }
    }

    /// Takes a free bucket of a class, from a new slab if necessary. `None` if the space is full.
    pub(super) fn take_bucket(
        &mut self,
        class: usize,
        classes: &mut [Class<O>],
        ranges: &mut RangeSpace<O>,
    ) -> Option<ClassSlot> {
        let of_class = classes.get_mut(class)?;
        if of_class.open.is_empty() {
            self.open_slab(class, of_class, ranges)?;
        }
        let at = *of_class.open.last()?;
        let slab = &mut self.slabs[at as usize];
        let bucket = slab.free.trailing_zeros();
        slab.free &= slab.free - 1;
        if slab.free == 0 {
            slab.link = NONE;
            of_class.open.pop();
        }
        Some(ClassSlot::Bucket { slab: at, bucket })
    }

    /// Frees a bucket. A slab whose buckets are all free is released, unless it is the only open
    /// slab of its class, which the next allocation would reserve again.
    pub(super) fn release(
        &mut self,
        at: u32,
        bucket: u32,
        classes: &mut [Class<O>],
        ranges: &mut RangeSpace<O>,
    ) -> Result<(), Error> {
        let slab = self.slabs.get_mut(at as usize).ok_or(Error::NotAllocated)?;
        let class = classes.get_mut(slab.class as usize).ok_or(Error::NotAllocated)?;
        if slab.free == 0 {
            slab.link = class.open.len() as u32;
            class.open.push(at);
        }
        slab.free |= 1 << bucket;
        if slab.free != class.all_free() || class.open.len() == 1 {
            return Ok(());
        }
        let (position, range) = (slab.link as usize, slab.range);
        (slab.is_live, slab.link) = (false, self.first_unused);
        self.first_unused = at;
        class.open.swap_remove(position);
        if let Some(&moved) = class.open.get(position) {
            self.slabs[moved as usize].link = position as u32;
        }
        ranges.free(range)
    }

    pub(super) fn bucket_size(&self, at: u32, classes: &[Class<O>]) -> Option<O> {
        let slab = self.slabs.get(at as usize)?;
        Some(classes.get(slab.class as usize)?.size)
    }

    pub(super) fn bucket_offset(&self, at: u32, bucket: u32, classes: &[Class<O>]) -> Option<O> {
        let slab = self.slabs.get(at as usize)?;
        let size: u64 = self.bucket_size(at, classes)?.into();
        // The offset is within the slab's range, so the conversion succeeds.
        let inside = O::try_from(size * u64::from(bucket)).ok()?;
        Some(slab.offset + inside)
    }

    pub(super) fn used_buckets(&self, classes: &[Class<O>]) -> u32 {
        let live = self.slabs.iter().filter(|slab| slab.is_live);
        let used = live.map(|slab| classes[slab.class as usize].all_free() & !slab.free);
        used.map(u64::count_ones).sum()
    }

    pub(super) fn validate(&self, classes: &[Class<O>]) -> Result<(), &'static str> {
        for (at, slab) in self.slabs.iter().enumerate().filter(|(_, slab)| slab.is_live) {
            let class = classes.get(slab.class as usize).ok_or("a slab has an invalid class")?;
            let listed = class.open.get(slab.link as usize) == Some(&(at as u32));
            if listed != (slab.free != 0) || slab.free & !class.all_free() != 0 {
                return Err("a slab's position in its list, or its bits, are wrong");
            }
        }
        let open: usize = classes.iter().map(|class| class.open.len()).sum();
        let with_free = self.slabs.iter().filter(|slab| slab.is_live && slab.free != 0).count();
        match open == with_free {
            true => Ok(()),
            false => Err("a list of open slabs holds full slabs"),
        }
    }

    fn open_slab(
        &mut self,
        class: usize,
        of_class: &mut Class<O>,
        ranges: &mut RangeSpace<O>,
    ) -> Option<()> {
        of_class.open.try_reserve(1).ok()?;
        self.slabs.try_reserve(1).ok()?;
        let units = of_class.size.into().checked_mul(of_class.buckets_per_slab.into())?;
        let range = ranges.allocate(O::try_from(units).ok()?).ok()?;
        let slab = Slab {
            range,
            offset: ranges.range(range)?.start,
            free: of_class.all_free(),
            class: class as u32,
            link: of_class.open.len() as u32,
            is_live: true,
        };
        let at = self.first_unused;
        match self.slabs.get_mut(at as usize) {
            Some(unused) => {
                self.first_unused = unused.link;
                *unused = slab;
                of_class.open.push(at);
            }
            None => {
                of_class.open.push(self.slabs.len() as u32);
                self.slabs.push(slab);
            }
        }
        Some(())
    }
}
