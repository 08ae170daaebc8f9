use std::alloc::Layout;

/// Reads a program; past the end every byte is 0.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(program: &'a [u8]) -> Self {
        Self(program)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    pub(crate) fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number below `end`, or 0 if there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.word()) % end.max(1)
    }

    /// A size: mostly small, sometimes large, sometimes at an edge of 32 or 64 bits.
    pub(crate) fn size(&mut self) -> u64 {
        let (kind, value) = (self.byte(), u64::from(self.byte()));
        match kind {
            0..=191 => value % 64,
            192..=239 => value << (kind % 8),
            240..=247 => u64::from(u32::MAX) - value % 4,
            248..=251 => u64::from(u32::MAX) + value % 4,
            _ => u64::MAX - value % 4,
        }
    }

    pub(crate) fn size_u32(&mut self) -> u32 {
        self.size().min(u32::MAX.into()) as u32
    }

    /// A layout: mostly a few words, sometimes aligned to a page or more, sometimes larger
    /// than any memory.
    pub(crate) fn layout(&mut self) -> Layout {
        let align = match self.byte() {
            byte @ 0..=223 => 1usize << (byte % 6),
            byte @ 224..=251 => 1 << (byte % 13),
            byte => 1 << (usize::BITS - 2 - u32::from(byte % 4)),
        };
        // As a layout, a size rounded up to its alignment is no larger than isize::MAX.
        let max_size = (isize::MAX as usize) & !(align - 1);
        let size = self.size().min(max_size as u64) as usize;
        Layout::from_size_align(size, align).unwrap()
    }
}
