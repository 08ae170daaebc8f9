use bytemuck::Pod;
use drystone_pool::{Access, Backend, BackendError};

/// Memory of a GPU as the processor sees it, without a GPU: buffers of a pool in plain memory.
///
/// Direct writes store into the buffers. Staged writes are appended to a block, and copied to the
/// buffers by [`run_copies`](Self::run_copies).
#[derive(Default)]
pub(crate) struct PlainMemory {
    access: Access,
    buffers: Vec<Vec<u64>>,
    /// Staged bytes of the frame, and where the GPU copies them: buffer, offset and size in bytes.
    staged: Vec<u8>,
    copies: Vec<(u32, u64, usize)>,
}

impl PlainMemory {
    pub(crate) fn new(access: Access) -> Self {
        Self { access, ..Self::default() }
    }

    /// Returns the content of a buffer.
    pub(crate) fn elements<V: Pod>(&self, buffer: u32) -> &[V] {
        bytemuck::cast_slice(&self.buffers[buffer as usize])
    }

    fn bytes(&mut self, buffer: u32, offset_bytes: u64, size_bytes: usize) -> &mut [u8] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.buffers[buffer as usize]);
        &mut bytes[offset_bytes as usize..][..size_bytes]
    }

    /// Copies what was staged to the buffers, as a GPU does when a frame runs.
    pub(crate) fn run_copies(&mut self) {
        let (staged, copies) = (std::mem::take(&mut self.staged), std::mem::take(&mut self.copies));
        let mut rest = &staged[..];
        for &(buffer, offset_bytes, size_bytes) in &copies {
            let (bytes, others) = rest.split_at(size_bytes);
            self.bytes(buffer, offset_bytes, size_bytes).copy_from_slice(bytes);
            rest = others;
        }
        (self.staged, self.copies) = (staged, copies);
        self.staged.clear();
        self.copies.clear();
    }
}

impl Backend for PlainMemory {
    fn access(&self) -> Access {
        self.access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        self.buffers.resize_with(self.buffers.len().max(buffer as usize + 1), Vec::new);
        self.buffers[buffer as usize] = vec![1; size_bytes as usize / size_of::<u64>()];
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.buffers[buffer as usize] = Vec::new();
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        match self.access {
            Access::Direct => self.bytes(buffer, offset_bytes, bytes.len()).copy_from_slice(bytes),
            Access::Staged => {
                self.staged.extend_from_slice(bytes);
                self.copies.push((buffer, offset_bytes, bytes.len()));
            }
        }
        Ok(())
    }

    fn map_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        size_bytes: u64,
    ) -> Option<&mut [u8]> {
        let is_mapped = self.access == Access::Direct;
        is_mapped.then(|| self.bytes(buffer, offset_bytes, size_bytes as usize))
    }

    fn copy_elements(
        &mut self,
        _from: (u32, u64),
        _to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        Err(BackendError::OutOfMemory { requested_bytes: size_bytes })
    }

    fn resize_draw_data(&mut self, _slots: u32) -> Result<(), BackendError> {
        Ok(())
    }

    fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
}
