use alloc::vec::Vec;

use crate::Offset;

/// The alignment of each live range, by the index of its node. Ranges beyond the end of the
/// list have none, so a space without aligned ranges stores nothing here.
#[derive(Clone, Debug)]
pub(super) struct Alignments<O>(Vec<O>);

impl<O: Offset> Alignments<O> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// The alignment of a range; 0 for a range that has none.
    #[inline]
    pub(super) fn get(&self, at: u32) -> O {
        self.0.get(at as usize).copied().unwrap_or_default()
    }

    /// Forgets the alignment of a range.
    #[inline]
    pub(super) fn clear(&mut self, at: u32) {
        if let Some(align) = self.0.get_mut(at as usize) {
            *align = O::default();
        }
    }

    /// Sets the alignment of a range. `None` when there is no memory for it.
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

    /// Bytes of heap memory held.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.capacity() * size_of::<O>()
    }
}

/// Units from `offset` to the next multiple of `align`, none of which is needed where `align`
/// is 0; `None` when that lies beyond all numbers.
pub(super) fn padding<O: Offset>(offset: O, align: O) -> Option<O> {
    let align = align.into().max(1);
    match offset.into() % align {
        0 => Some(O::default()),
        over => O::try_from(align - over).ok(),
    }
}
