use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::{Draw, Picture, SimulatedGpu, Work};
use crate::{ALIGNMENT_BYTES, Access, Backend, BackendError};

/// Content of memory before the first write.
const GARBAGE: u8 = 0xDD;

/// Memory of one pool on a [`SimulatedGpu`].
#[derive(Debug, Default)]
pub(super) struct Memory {
    buffers: Vec<Option<Vec<u8>>>,
    table: Vec<u8>,
    table_slots: u32,
    /// Size of a slot, in bytes.
    pub(super) data_bytes: usize,
}

impl Memory {
    pub(super) fn copy(&mut self, from: (u32, usize), to: (u32, usize), size: usize) {
        let bytes = self.load(from.0, from.1..from.1 + size).to_vec();
        self.store(to.0, to.1, &bytes);
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

    pub(super) fn draw(&self, draw: &Draw) -> Picture {
        let mut picture = Picture::new(draw.element_bytes, draw.data_bytes);
        for (buffer, command) in &draw.commands {
            assert_eq!((command.instance_count, command.first_index), (1, 0), "{command:?}");
            let first = (command.base_vertex as u32 / draw.vertices_per_element) as usize;
            let count = (command.index_count / draw.indices_per_element) as usize;
            let slot = command.first_instance as usize;
            assert!(command.first_instance < self.table_slots, "{command:?} has no draw data");
            let data = &self.table[slot * draw.data_bytes..(slot + 1) * draw.data_bytes];
            let range = first * draw.element_bytes..(first + count) * draw.element_bytes;
            let elements = self.load(*buffer, range);
            for element in elements.chunks_exact(draw.element_bytes.max(1)) {
                picture.push(data, element);
            }
        }
        picture
    }

    fn load(&self, buffer: u32, range: Range<usize>) -> &[u8] {
        match self.buffers.get(buffer as usize) {
            Some(Some(bytes)) => &bytes[range],
            _ => panic!("buffer {buffer} does not exist and cannot be read"),
        }
    }

    pub(super) fn store(&mut self, buffer: u32, offset: usize, bytes: &[u8]) {
        match self.buffers.get_mut(buffer as usize) {
            Some(Some(buffer)) => buffer[offset..offset + bytes.len()].copy_from_slice(bytes),
            _ => panic!("buffer {buffer} does not exist and cannot be written"),
        }
    }

    fn create(&mut self, buffer: u32, size_bytes: u64) {
        let at = buffer as usize;
        if self.buffers.len() <= at {
            self.buffers.resize(at + 1, None);
        }
        assert!(self.buffers[at].is_none(), "buffer {buffer} exists already");
        self.buffers[at] = Some(vec![GARBAGE; size_bytes as usize]);
    }

    /// Destroys a buffer and returns its size in bytes.
    fn destroy(&mut self, buffer: u32) -> u64 {
        let bytes = self.buffers.get_mut(buffer as usize).and_then(Option::take);
        let Some(bytes) = bytes else {
            panic!("buffer {buffer} does not exist and cannot be destroyed")
        };
        bytes.len() as u64
    }

    /// Returns the size of all buffers, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.iter().flatten().map(|bytes| bytes.len() as u64).sum()
    }
}

/// Panics if a value violates the alignment that backends may require.
fn expect_aligned(values: &[u64]) {
    let is_aligned = values.iter().all(|it| it.is_multiple_of(ALIGNMENT_BYTES as u64));
    assert!(is_aligned, "{values:?} are not all multiples of {ALIGNMENT_BYTES} bytes");
}

/// Backend of one of the pools that share a [`SimulatedGpu`].
#[derive(Debug)]
pub struct SimulatedPart<'a> {
    pub(super) gpu: &'a mut SimulatedGpu,
    pub(super) number: usize,
}

impl SimulatedPart<'_> {
    fn memory(&mut self) -> &mut Memory {
        self.gpu.memory(self.number)
    }

    /// Counts a write or copy, and fails if no more are allowed.
    fn spend_write(&mut self, requested_bytes: u64) -> Result<(), BackendError> {
        if self.gpu.is_lost {
            return Err(BackendError::Lost);
        }
        let left = self.gpu.writes_left.checked_sub(1);
        self.gpu.writes_left = left.ok_or(BackendError::OutOfMemory { requested_bytes })?;
        Ok(())
    }

    /// Adds an operation to the next frame.
    fn push(&mut self, work: Work) {
        self.gpu.pending.push((self.number, work));
    }
}

impl Backend for SimulatedPart<'_> {
    fn access(&self) -> Access {
        self.gpu.access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        expect_aligned(&[size_bytes]);
        if self.gpu.is_lost {
            return Err(BackendError::Lost);
        }
        if size_bytes > self.gpu.limit_bytes.saturating_sub(self.gpu.used_bytes) {
            return Err(BackendError::OutOfMemory { requested_bytes: size_bytes });
        }
        self.memory().create(buffer, size_bytes);
        self.gpu.used_bytes += size_bytes;
        self.gpu.stats.created += 1;
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        if self.gpu.is_lost {
            return;
        }
        self.gpu.used_bytes -= self.memory().destroy(buffer);
        self.gpu.stats.destroyed += 1;
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        expect_aligned(&[offset_bytes, bytes.len() as u64]);
        self.spend_write(bytes.len() as u64)?;
        self.gpu.stats.written_bytes += bytes.len() as u64;
        let offset = offset_bytes as usize;
        match self.gpu.access {
            Access::Direct => self.memory().store(buffer, offset, bytes),
            Access::Staged => self.push(Work::Write { buffer, offset, bytes: bytes.to_vec() }),
        }
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        expect_aligned(&[from.1, to.1, size_bytes]);
        self.spend_write(size_bytes)?;
        let overlaps = from.0 == to.0 && from.1.abs_diff(to.1) < size_bytes;
        assert!(!overlaps, "{from:?} and {to:?} overlap in {size_bytes} bytes");
        self.gpu.stats.copied_bytes += size_bytes;
        let at = |(buffer, offset): (u32, u64)| (buffer, offset as usize);
        self.push(Work::Copy { from: at(from), to: at(to), size: size_bytes as usize });
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        if self.gpu.is_lost {
            return Err(BackendError::Lost);
        }
        self.gpu.stats.table_resizes += 1;
        self.push(Work::ResizeTable { slots });
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        expect_aligned(&[bytes.len() as u64]);
        self.push(Work::WriteTable { slot, bytes: bytes.to_vec() });
    }
}
