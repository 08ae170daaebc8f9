//! Objects with random lifetimes: each step frees a random object and allocates another.

use std::{alloc::Layout, ptr::NonNull};

use super::{allocator::Allocator, tree::Objects};
use crate::Random;

/// Work of all contenders: sizes of the document, in random order.
pub(super) struct Churn {
    sizes: Vec<Size>,
    /// Live object to replace in each step.
    victims: Vec<u32>,
}

/// A layout in half a word.
#[derive(Clone, Copy)]
struct Size {
    bytes: u16,
    align: u16,
}

impl Size {
    fn of(layout: Layout) -> Self {
        Self { bytes: layout.size() as u16, align: layout.align() as u16 }
    }

    #[inline]
    fn layout(self) -> Layout {
        // SAFETY: a size is that of a layout, whose numbers are small.
        unsafe { Layout::from_size_align_unchecked(self.bytes.into(), self.align.into()) }
    }
}

/// The live objects of a churn.
pub(super) struct Live {
    objects: Vec<Object>,
    sizes_used: usize,
}

#[derive(Clone, Copy)]
struct Object {
    start: NonNull<u8>,
    size: Size,
}

impl Churn {
    /// Plans `live_count` objects. Each of `steps` steps replaces one.
    pub(super) fn new(layouts: &[Layout], live_count: usize, steps: usize) -> Self {
        let mut random = Random::new(4);
        let mut next_size = || Size::of(layouts[random.below(layouts.len())]);
        let sizes = (0..live_count + steps).map(|_| next_size()).collect();
        let victims = (0..steps).map(|_| random.below(live_count) as u32).collect();
        Self { sizes, victims }
    }

    /// Plans `live_count` objects of one size. The steps replace the first and the last of them in
    /// turn.
    pub(super) fn of_both_ends(layout: Layout, live_count: usize, steps: usize) -> Self {
        let sizes = vec![Size::of(layout); live_count + steps];
        let ends = [0, live_count.saturating_sub(1) as u32];
        Self { sizes, victims: (0..steps).map(|step| ends[step % 2]).collect() }
    }

    pub(super) fn steps(&self) -> usize {
        self.victims.len()
    }

    /// Creates resident memory for the pointers to the objects.
    pub(super) fn allocate_live(&self) -> Live {
        let live_count = self.sizes.len() - self.victims.len();
        let nothing = Object { start: NonNull::dangling(), size: Size::of(Layout::new::<()>()) };
        Live { objects: vec![nothing; live_count], sizes_used: live_count }
    }

    /// Allocates the first objects. Returns `None` if memory runs out.
    pub(super) fn start<O: Objects>(&self, objects: &mut O, live: &mut Live) -> Option<()> {
        for (object, &size) in live.objects.iter_mut().zip(&self.sizes) {
            // SAFETY: sizes of the documents are small and not zero.
            let start = unsafe { objects.allocate(size.layout()) }?;
            *object = Object { start, size };
        }
        Some(())
    }

    /// Replaces objects one after another. Like a program, it reads an object before it frees it
    /// (the first byte), and writes every byte of a new one. Returns `None` if memory runs out or
    /// an object has lost its content. All objects must have been filled before.
    pub(super) fn run<O: Objects>(&self, objects: &mut O, live: &mut Live) -> Option<()> {
        for (&victim, &size) in self.victims.iter().zip(&self.sizes[live.sizes_used..]) {
            let index = victim as usize;
            let object = &mut live.objects[index];
            // SAFETY: the object is live, has at least one byte, and was filled.
            let is_intact = unsafe { object.start.read() } == index as u8;
            // SAFETY: the object is live, and replaced by the next.
            let is_freed = unsafe { objects.free(object.start, object.size.layout()) };
            (is_intact && is_freed).then_some(())?;
            // SAFETY: sizes of the documents are small and not zero.
            let start = unsafe { objects.allocate(size.layout()) }?;
            *object = Object { start, size };
            object.fill(index);
        }
        Some(())
    }

    /// Replaces objects like [`run`](Self::run), and compares their whole content, to find
    /// overlapping objects. `None` if one changed.
    pub(super) fn run_checked<O: Objects>(&self, objects: &mut O, live: &mut Live) -> Option<()> {
        live.objects.iter().enumerate().for_each(|(index, object)| object.fill(index));
        for (&victim, &size) in self.victims.iter().zip(&self.sizes[live.sizes_used..]) {
            let index = victim as usize;
            let object = &mut live.objects[index];
            let is_intact = object.is_filled(index);
            // SAFETY: the object is live, and replaced by the next.
            let is_freed = unsafe { objects.free(object.start, object.size.layout()) };
            // SAFETY: sizes of the documents are small and not zero.
            let start = unsafe { objects.allocate(size.layout()) }?;
            *object = Object { start, size };
            object.fill(index);
            (is_intact && is_freed && start.addr().get().is_multiple_of(size.align.into()))
                .then_some(())?;
        }
        let mut all = live.objects.iter().enumerate();
        all.all(|(index, object)| object.is_filled(index)).then_some(())
    }
}

impl Live {
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns the sum of the requested sizes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.objects.iter().map(|object| usize::from(object.size.bytes)).sum()
    }

    /// Returns the sum of the sizes of the objects' blocks, in bytes.
    pub(super) fn block_bytes<A: Allocator>(&self, objects: &A) -> usize {
        let block_bytes = |object: &Object| {
            // SAFETY: the object is live.
            unsafe { objects.block_bytes(object.start, object.size.layout()) }
        };
        self.objects.iter().map(block_bytes).sum()
    }

    /// Frees all objects.
    pub(super) fn end<O: Objects>(self, objects: &mut O) -> Option<()> {
        for object in &self.objects {
            // SAFETY: the object is live, and not used after this.
            unsafe { objects.free(object.start, object.size.layout()) }.then_some(())?;
        }
        Some(())
    }
}

impl Object {
    fn fill(&self, index: usize) {
        // SAFETY: the object is live and of that size.
        unsafe { self.start.write_bytes(index as u8, self.size.bytes.into()) };
    }

    fn is_filled(&self, index: usize) -> bool {
        // SAFETY: the object is live, of that size, and was filled.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size.bytes.into()) };
        bytes.iter().all(|&byte| byte == index as u8)
    }
}
