use alloc::{vec, vec::Vec};
use core::ops::Range;

/// Content of memory before the first write.
const GARBAGE: u8 = 0xDD;

/// Memory of one pool on a simulated GPU.
#[derive(Debug, Default)]
pub(super) struct Memory {
    buffers: Vec<Option<Vec<u8>>>,
    table: Vec<u8>,
    table_slots: u32,
    /// Size of a slot, in bytes.
    pub(super) data_bytes: usize,
}

impl Memory {
    pub(super) fn copy(&mut self, from: (u32, u64), to: (u32, u64), size: usize) {
        let start = from.1 as usize;
        let bytes = self.load(from.0, start..start + size).to_vec();
        self.store(to.0, to.1 as usize, &bytes);
    }

    /// Creates a new table. Data that the pool does not write again is lost.
    pub(super) fn resize_table(&mut self, slots: u32) {
        self.table.fill(GARBAGE);
        self.table_slots = slots;
    }

    pub(super) fn write_table(&mut self, slot: u32, bytes: &[u8]) {
        let start = slot as usize * self.data_bytes;
        let end = start + bytes.len();
        if self.table.len() < end {
            self.table.resize(end, GARBAGE);
        }
        self.table[start..end].copy_from_slice(bytes);
    }

    /// Draws elements of a buffer with the per-draw data of a slot.
    pub(super) fn draw(
        &self,
        buffer: u32,
        elements: Range<usize>,
        slot: u32,
        picture: &mut SimulatedPicture,
    ) {
        assert!(slot < self.table_slots, "slot {slot} has no draw data");
        let start = slot as usize * self.data_bytes;
        let data = &self.table[start..start + self.data_bytes];
        let size = picture.element_bytes;
        let elements = self.load(buffer, elements.start * size..elements.end * size);
        for element in elements.chunks_exact(size.max(1)) {
            picture.push(data, element);
        }
    }

    fn load(&self, buffer: u32, range: Range<usize>) -> &[u8] {
        match self.buffers.get(buffer as usize) {
            Some(Some(bytes)) => &bytes[range],
            _ => panic!("buffer {buffer} does not exist and cannot be read"),
        }
    }

    pub(super) fn store(&mut self, buffer: u32, offset: usize, bytes: &[u8]) {
        self.map(buffer, offset..offset + bytes.len()).copy_from_slice(bytes);
    }

    /// Returns bytes of a buffer that are written in place.
    pub(super) fn map(&mut self, buffer: u32, range: Range<usize>) -> &mut [u8] {
        match self.buffers.get_mut(buffer as usize) {
            Some(Some(bytes)) => &mut bytes[range],
            _ => panic!("buffer {buffer} does not exist and cannot be written"),
        }
    }

    pub(super) fn create(&mut self, buffer: u32, size_bytes: u64) {
        let at = buffer as usize;
        if self.buffers.len() <= at {
            self.buffers.resize(at + 1, None);
        }
        assert!(self.buffers[at].is_none(), "buffer {buffer} exists already");
        self.buffers[at] = Some(vec![GARBAGE; size_bytes as usize]);
    }

    pub(super) fn destroy(&mut self, buffer: u32) {
        let bytes = self.buffers.get_mut(buffer as usize).and_then(Option::take);
        assert!(bytes.is_some(), "buffer {buffer} does not exist and cannot be destroyed");
    }

    /// Returns the size of all buffers, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.iter().flatten().map(|bytes| bytes.len() as u64).sum()
    }
}

/// Content drawn by one frame: elements in draw order, each with its per-draw data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedPicture {
    bytes: Vec<u8>,
    data_bytes: usize,
    element_bytes: usize,
}

impl SimulatedPicture {
    /// Creates an empty picture for elements and per-draw data of these sizes.
    pub(crate) const fn new(element_bytes: usize, data_bytes: usize) -> Self {
        Self { bytes: Vec::new(), data_bytes, element_bytes }
    }

    /// Adds an element with its per-draw data.
    pub(crate) fn push(&mut self, data: &[u8], element: &[u8]) {
        self.bytes.extend_from_slice(data);
        self.bytes.extend_from_slice(element);
    }

    /// Number of drawn elements.
    pub const fn len(&self) -> usize {
        match self.bytes.len().checked_div(self.data_bytes + self.element_bytes) {
            Some(count) => count,
            None => 0,
        }
    }

    /// Returns whether nothing was drawn.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the per-draw data and the element of draw number `nth`.
    ///
    /// # Panics
    /// If `nth` is not below [`len`](Self::len).
    pub fn drawn(&self, nth: usize) -> (&[u8], &[u8]) {
        let start = nth * (self.data_bytes + self.element_bytes);
        self.bytes[start..start + self.data_bytes + self.element_bytes].split_at(self.data_bytes)
    }

    /// Returns the picture with its elements sorted, independent of the draw order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        let mut drawn: Vec<_> = (0..self.len()).map(|nth| self.drawn(nth)).collect();
        drawn.sort_unstable();
        let mut sorted = Self::new(self.element_bytes, self.data_bytes);
        for (data, element) in drawn {
            sorted.push(data, element);
        }
        sorted
    }
}
