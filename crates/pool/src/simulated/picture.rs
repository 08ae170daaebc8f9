use alloc::vec::Vec;

/// Content drawn by one frame: elements in draw order, each with its per-draw data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    bytes: Vec<u8>,
    data_bytes: usize,
    element_bytes: usize,
}

impl Picture {
    /// Creates an empty picture for elements and per-draw data of these sizes.
    pub const fn new(element_bytes: usize, data_bytes: usize) -> Self {
        Self { bytes: Vec::new(), data_bytes, element_bytes }
    }

    /// Adds an element with its per-draw data.
    pub fn push(&mut self, data: &[u8], element: &[u8]) {
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
