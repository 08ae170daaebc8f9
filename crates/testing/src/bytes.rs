use std::alloc::Layout;

/// Reader of a program of operations that is a byte string, as property tests and fuzz targets make
/// them. After the end of the program, every byte is 0.
#[derive(Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Starts at the first byte.
    pub fn new(program: &'a [u8]) -> Self {
        Self(program)
    }

    /// Whether all bytes have been read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    /// Reads a number of 16 bits.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Reads a number below `end`, or 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.word()) % end.max(1)
    }

    /// Reads a size: mostly small, sometimes large, sometimes at an edge of 32 or 64 bits.
    pub fn size(&mut self) -> u64 {
        let (kind, value) = (self.byte(), u64::from(self.byte()));
        match kind {
            0..=191 => value % 64,
            192..=239 => value << (kind % 8),
            240..=247 => u64::from(u32::MAX) - value % 4,
            248..=251 => u64::from(u32::MAX) + value % 4,
            _ => u64::MAX - value % 4,
        }
    }

    /// Reads a [`size`](Self::size) of at most `u32::MAX`.
    pub fn size_u32(&mut self) -> u32 {
        self.size().min(u32::MAX.into()) as u32
    }

    /// Reads a layout: mostly a few words, sometimes aligned to a page or more, sometimes larger
    /// than any memory.
    #[allow(clippy::expect_used)]
    pub fn layout(&mut self) -> Layout {
        let align = match self.byte() {
            byte @ 0..=223 => 1usize << (byte % 6),
            byte @ 224..=251 => 1 << (byte % 13),
            byte => 1 << (usize::BITS - 2 - u32::from(byte % 4)),
        };
        // As a layout, a size rounded up to its alignment is no larger than isize::MAX.
        let max_size = (isize::MAX as usize) & !(align - 1);
        let size = self.size().min(max_size as u64) as usize;
        Layout::from_size_align(size, align).expect("a size that fits its alignment")
    }
}
