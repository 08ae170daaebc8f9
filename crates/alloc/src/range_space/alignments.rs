use alloc::vec::Vec;

use crate::Offset;

/// Alignments of live ranges, indexed by node. Ranges beyond the end of the list have none, so a
/// space without aligned ranges stores nothing.
#[derive(Clone, Debug)]
pub(super) struct Alignments<O>(Vec<O>);

impl<O: Offset> Alignments<O> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the alignment of a range, or 0 if it has none.
    #[inline]
    pub(super) fn get(&self, at: u32) -> O {
        self.0.get(at as usize).copied().unwrap_or_default()
    }

    /// Removes the alignment of a range.
    #[inline]
    pub(super) fn clear(&mut self, at: u32) {
        if let Some(align) = self.0.get_mut(at as usize) {
            *align = O::default();
        }
    }

    /// Sets the alignment of a range. Returns `None` if the heap is out of memory.
    pub(super) fn set(&mut self, at: u32, align: O) -> Option<()> {
        let len = at as usize + 1;
        if self.0.len() < len && align.into() > 1 {
            self.0.try_reserve(len - self.0.len()).ok()?;
            self.0.resize(len, O::default());
        }
        if let Some(entry) = self.0.get_mut(at as usize) {
            *entry = align;
        }
        Some(())
    }

    /// Returns the heap memory in use, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.capacity() * size_of::<O>()
    }
}

/// Returns the number of units from `offset` to the next multiple of `align`. An `align` of 0 means
/// no alignment. `None` if the multiple is not representable.
pub(super) fn padding<O: Offset>(offset: O, align: O) -> Option<O> {
    let align = align.into().max(1);
    match offset.into() % align {
        0 => Some(O::default()),
        over => O::try_from(align - over).ok(),
    }
}
