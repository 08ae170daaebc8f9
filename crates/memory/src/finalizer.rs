//! Destructors of values in a [`Bump`]: a list of finalizers between the values.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;

use crate::bump::Bump;
use crate::{Error, typed};

/// Header in front of values that need dropping.
struct Finalizer {
    /// Drops the values behind this header.
    ///
    /// # Safety
    /// - The finalizer is part of an `Entry<T>` or `Entries<T>` with the `T` that the function was
    ///   instantiated for. Its values were not dropped before and are not in use.
    run: unsafe fn(NonNull<Finalizer>),
    before: Option<NonNull<Finalizer>>,
}

/// A value and its finalizer.
#[repr(C)]
struct Entry<T> {
    finalizer: Finalizer,
    value: T,
}

impl<T> Entry<T> {
    /// Returns the address of the value.
    #[inline]
    const fn value_ptr(entry: NonNull<Self>) -> NonNull<T> {
        // SAFETY: a field within the memory of the entry; nothing is read.
        unsafe { NonNull::new_unchecked(&raw mut (*entry.as_ptr()).value) }
    }
}

/// Several values with one finalizer. The values follow the struct.
#[repr(C)]
struct Entries<T> {
    finalizer: Finalizer,
    /// Number of values written so far.
    len: usize,
    values: [T; 0],
}

impl<T> Entries<T> {
    /// Returns the layout of `len` values and their finalizer.
    fn layout(len: usize) -> Result<Layout, Error> {
        let values = Layout::array::<T>(len).map_err(|_| Error::InvalidSize)?;
        // Both sizes are multiples of the alignment of `T`, so there is no padding between them.
        let (layout, _) = Layout::new::<Self>().extend(values).map_err(|_| Error::InvalidSize)?;
        Ok(layout)
    }

    /// Fills `block` with values and registers them to be dropped. The finalizer is in the list
    /// from the start and counts the values, so that a panic of `make` leaks no value.
    ///
    /// # Safety
    /// - `block` is valid for [`layout`](Self::layout) of `len`, and nothing else uses it until the
    ///   list has run.
    /// - The values live until then.
    unsafe fn fill<'s>(
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
            // SAFETY: the values have space for `len`, the entries are written. No reference into
            // them exists yet.
            unsafe {
                values.add(index).write(make(index));
                (*entries.as_ptr()).len = index + 1;
            }
        }
        // SAFETY: all values are written, and nothing else refers to them.
        Ok(unsafe { NonNull::slice_from_raw_parts(values, len).as_mut() })
    }

    fn values(entries: NonNull<Self>) -> NonNull<T> {
        // SAFETY: a field within the memory of the entries; nothing is read.
        unsafe { NonNull::new_unchecked((&raw mut (*entries.as_ptr()).values).cast()) }
    }

    /// # Safety
    /// - The conditions of [`Finalizer::run`].
    unsafe fn drop_values(finalizer: NonNull<Finalizer>) {
        let entries = finalizer.cast::<Self>();
        // SAFETY: the finalizer is part of entries that have `len` written values.
        unsafe {
            let len = (*entries.as_ptr()).len;
            NonNull::slice_from_raw_parts(Self::values(entries), len).drop_in_place();
        }
    }
}

/// List of the finalizers of a scope, the last one first.
pub(super) struct Chain {
    last: Cell<Option<NonNull<Finalizer>>>,
}

impl Chain {
    #[inline]
    pub(super) const fn new() -> Self {
        Self { last: Cell::new(None) }
    }

    /// Allocates a value that `make` returns, and registers it to be dropped if its type needs it.
    /// The value is constructed in place. If `make` panics, nothing is dropped.
    ///
    /// # Safety
    /// - The memory of `bump` is valid, and nothing else uses the value, for `'s`. From then on
    ///   nothing but the list uses the value until the list has run.
    /// - What the value borrows lives until then.
    #[inline]
    pub(super) unsafe fn alloc_with<'s, T>(
        &self,
        bump: &Bump,
        make: impl FnOnce() -> T,
    ) -> Result<&'s mut T, Error> {
        if !core::mem::needs_drop::<T>() {
            let target = typed::allocate_for::<T>(bump)?;
            // SAFETY: the target is aligned, of the right size, and used only here.
            return Ok(unsafe { typed::write(target, make) });
        }
        let entry = bump.allocate_multiple(Layout::new::<Entry<T>>())?.cast::<Entry<T>>();
        let target = Entry::value_ptr(entry);
        // SAFETY: the target is aligned, of the right size, and used only here.
        let value = unsafe { typed::write(target, make) };
        // SAFETY: the entry's value is written, and nothing else drops it. The caller guarantees
        // that it lives until the list has run.
        unsafe { self.add(entry) }
        Ok(value)
    }

    /// Allocates a slice of `len` values, where `make` returns the value of each index, and
    /// registers it to be dropped if its type needs it.
    ///
    /// # Safety
    /// - The conditions of [`alloc_with`](Self::alloc_with), for each of the values.
    #[inline]
    pub(super) unsafe fn alloc_slice_with<'s, T>(
        &self,
        bump: &Bump,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'s mut [T], Error> {
        if !core::mem::needs_drop::<T>() {
            let slice: *mut [T] = typed::slice_with(bump, len, make)?;
            // SAFETY: the bytes belong to this slice for `'s`, not just for this call.
            return Ok(unsafe { &mut *slice });
        }
        let block = bump.allocate(Entries::<T>::layout(len)?)?;
        // SAFETY: the block has the layout of the entries, and is used only here. The rest is
        // guaranteed by the caller.
        unsafe { Entries::fill(block, len, make, self) }
    }

    /// # Safety
    /// - The entry's value is written. The entry is valid, and nothing else uses it, until the list
    ///   has run. The value lives until then.
    #[inline]
    unsafe fn add<T>(&self, entry: NonNull<Entry<T>>) {
        /// # Safety
        /// - The conditions of [`Finalizer::run`].
        unsafe fn drop_value<T>(finalizer: NonNull<Finalizer>) {
            // SAFETY: the finalizer is part of an entry, whose value is to be dropped.
            unsafe { Entry::value_ptr(finalizer.cast::<Entry<T>>()).drop_in_place() }
        }
        let finalizer = Finalizer { run: drop_value::<T>, before: self.last.get() };
        // SAFETY: the entry's first field; the memory is valid for it.
        unsafe { entry.cast::<Finalizer>().write(finalizer) }
        self.last.set(Some(entry.cast()));
    }

    /// Drops each value once, the last one first.
    ///
    /// # Safety
    /// - Nothing uses the values, and no more are added.
    #[inline]
    pub(super) unsafe fn run(&self) {
        if let Some(last) = self.last.take() {
            // SAFETY: guaranteed by the caller.
            unsafe { run_from(last) }
        }
    }
}

/// # Safety
/// - The conditions of [`Chain::run`].
#[inline(never)]
unsafe fn run_from(last: NonNull<Finalizer>) {
    /// Finalizers that are still to run. If one of them panics, the rest run while it unwinds.
    struct Rest(Option<NonNull<Finalizer>>);

    impl Rest {
        #[inline(always)]
        fn run(&mut self) {
            // One jump per finalizer, half of those in a loop with its test at the start.
            let Some(mut finalizer) = self.0 else { return };
            loop {
                // SAFETY: the finalizers of a list are valid until it has run. This one is off the
                // list before it runs, so that it runs once.
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
