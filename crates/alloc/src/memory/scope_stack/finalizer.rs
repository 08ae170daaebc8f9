use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use crate::Error;

/// What stands in front of values that need dropping.
pub(super) struct Finalizer {
    /// Drops what this stands in front of.
    ///
    /// # Safety
    /// - The finalizer is part of an `Entry<T>` or `Entries<T>` with the `T` that the
    ///   function was made for, whose values were not dropped before and are not in use.
    run: unsafe fn(NonNull<Finalizer>),
    before: Option<NonNull<Finalizer>>,
}

/// One value and its finalizer.
#[repr(C)]
pub(super) struct Entry<T> {
    finalizer: Finalizer,
    value: T,
}

impl<T> Entry<T> {
    /// Where the value lies.
    #[inline]
    pub(super) const fn place(entry: NonNull<Self>) -> NonNull<T> {
        // SAFETY: a field of what an entry's place is large enough for; nothing is read.
        unsafe { NonNull::new_unchecked(&raw mut (*entry.as_ptr()).value) }
    }
}

/// Many values and their one finalizer; the values follow.
#[repr(C)]
pub(super) struct Entries<T> {
    finalizer: Finalizer,
    /// How many values there are so far.
    len: usize,
    values: [T; 0],
}

impl<T> Entries<T> {
    /// Room for `len` values.
    pub(super) fn layout(len: usize) -> Result<Layout, Error> {
        let values = Layout::array::<T>(len).map_err(|_| Error::InvalidSize)?;
        // Both are multiples of the alignment of `T`, so there is nothing between them.
        let (layout, _) = Layout::new::<Self>().extend(values).map_err(|_| Error::InvalidSize)?;
        Ok(layout)
    }

    /// Fills `block` with values, and sees to it that they are dropped. They are in the
    /// list from the start and counted one by one, so that a panic leaves none behind.
    ///
    /// # Safety
    /// - `block` is valid for [`layout`](Self::layout) of `len`, and nobody else's until
    ///   the list has run.
    /// - The values live until then.
    pub(super) unsafe fn fill<'s>(
        block: NonNull<u8>,
        len: usize,
        mut make: impl FnMut(usize) -> T,
        list: &Chain,
    ) -> Result<&'s mut [T], Error> {
        let entries = block.cast::<Self>();
        let finalizer = Finalizer { run: Self::drop_values, before: list.last.get() };
        // SAFETY: the block is large enough and aligned.
        unsafe { entries.write(Self { finalizer, len: 0, values: [] }) }
        list.last.set(Some(entries.cast()));
        let values = Self::values(entries);
        for index in 0..len {
            // SAFETY: the values have room for `len`, the entries are written. No reference
            // into them exists yet.
            unsafe {
                values.add(index).write(make(index));
                (*entries.as_ptr()).len = index + 1;
            }
        }
        // SAFETY: all values are written, and nobody else refers to them.
        Ok(unsafe { NonNull::slice_from_raw_parts(values, len).as_mut() })
    }

    fn values(entries: NonNull<Self>) -> NonNull<T> {
        // SAFETY: a field of what the entries' place is large enough for; nothing is read.
        unsafe { NonNull::new_unchecked((&raw mut (*entries.as_ptr()).values).cast()) }
    }

    /// # Safety
    /// - As [`Finalizer::run`] asks.
    unsafe fn drop_values(finalizer: NonNull<Finalizer>) {
        let entries = finalizer.cast::<Self>();
        // SAFETY: the finalizer is part of entries, of which `len` values are written.
        unsafe {
            let len = (*entries.as_ptr()).len;
            NonNull::slice_from_raw_parts(Self::values(entries), len).drop_in_place();
        }
    }
}

/// The finalizers of a scope, the last one first.
pub(super) struct Chain {
    last: Cell<Option<NonNull<Finalizer>>>,
}

impl Chain {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { last: Cell::new(None) }
    }

    /// # Safety
    /// - The entry's value is written; the entry is valid, and nobody else's, until the list
    ///   has run; the value lives until then.
    #[inline]
    pub(super) unsafe fn add<T>(&self, entry: NonNull<Entry<T>>) {
        /// # Safety
        /// - As [`Finalizer::run`] asks.
        unsafe fn drop_value<T>(finalizer: NonNull<Finalizer>) {
            // SAFETY: the finalizer is part of an entry, whose value is to be dropped.
            unsafe { Entry::place(finalizer.cast::<Entry<T>>()).drop_in_place() }
        }
        let finalizer = Finalizer { run: drop_value::<T>, before: self.last.get() };
        // SAFETY: the entry's first field; the place is valid for it.
        unsafe { entry.cast::<Finalizer>().write(finalizer) }
        self.last.set(Some(entry.cast()));
    }

    /// Drops all values, the last one first, each of them once.
    ///
    /// # Safety
    /// - Nobody uses the values, nor adds any more.
    #[inline]
    pub(super) unsafe fn run(&self) {
        if let Some(last) = self.last.take() {
            // SAFETY: as the caller says.
            unsafe { run_from(last) }
        }
    }
}

/// # Safety
/// - As for [`Chain::run`].
#[inline(never)]
unsafe fn run_from(last: NonNull<Finalizer>) {
    /// Those that are still to run; when one of them panics, the rest run while it unwinds.
    struct Rest(Option<NonNull<Finalizer>>);

    impl Rest {
        #[inline(always)]
        fn run(&mut self) {
            // One jump a finalizer: half of what a loop that asks first takes.
            let Some(mut finalizer) = self.0 else { return };
            loop {
                // SAFETY: the finalizers of a list are valid until it has run. This one is
                // off the list when it runs, so that it does so once.
                unsafe {
                    self.0 = (*finalizer.as_ptr()).before;
                    ((*finalizer.as_ptr()).run)(finalizer);
                }
                match self.0 {
                    Some(next) => finalizer = next,
                    None => return,
                }
            }
        }
    }

    impl Drop for Rest {
        fn drop(&mut self) {
            self.run();
        }
    }

    Rest(Some(last)).run();
}
