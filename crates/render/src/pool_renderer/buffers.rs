use drystone_pool::{Access, Backend, BackendError, PoolError};

use crate::{Device, DrawData, RenderError, device::Entries};

/// The device's geometries, indexed by the pool's buffer numbers. All share one table of per-draw
/// data.
pub struct PoolBuffers<G> {
    all: Vec<Option<G>>,
    /// Number of slots of the table, also while no geometry has the table.
    slots: u32,
    /// Per-draw data that is not on the device yet, in the order of the writes.
    unwritten: Vec<(u32, DrawData)>,
    /// The device's last error, unless it was out of memory.
    failure: Option<RenderError>,
}

impl<G> Default for PoolBuffers<G> {
    fn default() -> Self {
        Self { all: Vec::new(), slots: 0, unwritten: Vec::new(), failure: None }
    }
}

impl<G> PoolBuffers<G> {
    /// Writes the per-draw data gathered since the last frame to the device, with one write for
    /// each run of consecutive slots. Must be called before each frame.
    pub fn flush<D: Device<Geometry = G>>(&mut self, device: &mut D) -> FlushedBuffers<'_, G> {
        if let Some(geometry) = self.all.iter_mut().flatten().next() {
            // The last of several writes to one slot counts.
            self.unwritten.reverse();
            self.unwritten.sort_by_key(|(slot, _)| *slot);
            self.unwritten.dedup_by_key(|(slot, _)| *slot);
            for run in self.unwritten.chunk_by(|(slot, _), (next, _)| slot + 1 == *next) {
                let data: Vec<DrawData> = run.iter().map(|(_, data)| *data).collect();
                device.write_draw_data(geometry, run[0].0, &data);
            }
        }
        // Without a geometry there is no table, and no mesh that would need it.
        self.unwritten.clear();
        FlushedBuffers(&self.all)
    }

    /// Converts an error of the pool, and restores the device's error where the pool only reports
    /// that the device was lost.
    pub(crate) fn explain(&mut self, error: PoolError) -> RenderError {
        match error {
            PoolError::Stale => RenderError::StaleMesh,
            PoolError::Backend(BackendError::Lost) => self.failure.take().unwrap_or(error.into()),
            _ => error.into(),
        }
    }

    /// Converts the device's error for the pool: out of memory, or lost. Stores other errors for
    /// [`explain`](Self::explain).
    fn refusal(&mut self, error: RenderError, requested_bytes: u64) -> BackendError {
        match error {
            RenderError::OutOfMemory { .. } | RenderError::TooLarge { .. } => {
                BackendError::OutOfMemory { requested_bytes }
            }
            other => {
                self.failure = Some(other);
                BackendError::Lost
            }
        }
    }

    fn get_mut(&mut self, buffer: u32) -> Option<&mut G> {
        self.all.get_mut(buffer as usize)?.as_mut()
    }
}

/// The geometries of [`PoolBuffers`] after all per-draw data was written: what a frame can draw.
#[derive(Debug)]
pub struct FlushedBuffers<'a, G>(&'a [Option<G>]);

impl<G> Clone for FlushedBuffers<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> Copy for FlushedBuffers<'_, G> {}

impl<'a, G> FlushedBuffers<'a, G> {
    /// The geometry of a pool buffer; `None` if the buffer does not exist.
    pub fn get(self, buffer: u32) -> Option<&'a G> {
        self.0.get(buffer as usize)?.as_ref()
    }

    /// The geometry of each buffer, by number.
    pub(super) fn all(self) -> Vec<Option<&'a G>> {
        self.0.iter().map(Option::as_ref).collect()
    }
}

/// Connects a pool to a device. [`PoolRenderer`](crate::PoolRenderer) passes one to its pool; other
/// renderers with pools can do the same.
pub struct PoolUpload<'a, D: Device> {
    /// The device.
    pub device: &'a mut D,
    /// The geometries that the device has created for this pool.
    pub buffers: &'a mut PoolBuffers<D::Geometry>,
}

impl<D: Device> PoolUpload<'_, D> {
    fn quads(&mut self) -> EntriesUpload<'_, D> {
        let PoolUpload { device, buffers } = self;
        EntriesUpload {
            device,
            buffers,
            entries: Entries::Quads,
            data_bytes: size_of::<DrawData>(),
        }
    }
}

impl<D: Device> Backend for PoolUpload<'_, D> {
    fn access(&self) -> Access {
        self.device.access()
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        self.quads().create_buffer(buffer, size_bytes)
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.quads().destroy_buffer(buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        self.quads().write_elements(buffer, offset_bytes, bytes)
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        self.quads().copy_elements(from, to, size_bytes)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        self.quads().resize_draw_data(slots)
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        self.quads().write_draw_data(slot, bytes);
    }
}

/// Connects a pool to a device, for any kind of entries.
pub(super) struct EntriesUpload<'a, D: Device> {
    pub(super) device: &'a mut D,
    pub(super) buffers: &'a mut PoolBuffers<D::Geometry>,
    pub(super) entries: Entries,
    /// Size of the pool's data for each mesh, which begins with the data that shaders read. 0 means
    /// no table.
    pub(super) data_bytes: usize,
}

impl<D: Device> EntriesUpload<'_, D> {
    /// The entry at an offset in bytes.
    fn entry_at(&self, offset_bytes: u64) -> u32 {
        (offset_bytes / self.entries.bytes()) as u32
    }

    fn create(&mut self, count: u32) -> Result<D::Geometry, RenderError> {
        if let Some(other) = self.buffers.all.iter().flatten().next() {
            return self.device.create_sharing(other, count);
        }
        // The table was freed with the last buffer. Nothing of it is needed: every mesh with
        // elements is in a buffer, and meshes that come into this one write their slots.
        let slots = self.buffers.slots;
        match self.entries {
            Entries::Quads => self.device.create_geometry(count, slots),
            Entries::Cubes => self.device.create_cubes(count, slots),
            Entries::Vertices => self.device.create_vertices(count, slots),
            Entries::Indices => self.device.create_indices(count),
        }
    }
}

impl<D: Device> Backend for EntriesUpload<'_, D> {
    fn access(&self) -> Access {
        self.device.access()
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        let geometry = self.create(self.entry_at(size_bytes));
        let geometry = geometry.map_err(|error| self.buffers.refusal(error, size_bytes))?;
        let at = buffer as usize;
        if self.buffers.all.len() <= at {
            self.buffers.all.resize_with(at + 1, || None);
        }
        self.buffers.all[at] = Some(geometry);
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        if let Some(geometry) = self.buffers.all.get_mut(buffer as usize) {
            *geometry = None;
        }
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let first = self.entry_at(offset_bytes);
        let geometry = self.buffers.get_mut(buffer).ok_or(BackendError::Lost)?;
        // The bytes are slices of such elements, so the casts succeed.
        match self.entries {
            Entries::Quads => self.device.write_quads(geometry, first, bytemuck::cast_slice(bytes)),
            Entries::Cubes => self.device.write_cubes(geometry, first, bytemuck::cast_slice(bytes)),
            Entries::Vertices => {
                self.device.write_vertices(geometry, first, bytemuck::cast_slice(bytes));
            }
            Entries::Indices => {
                self.device.write_indices(geometry, first, bytemuck::cast_slice(bytes));
            }
        }
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let (first, to_first) = (self.entry_at(from.1), self.entry_at(to.1));
        let count = self.entry_at(size_bytes);
        if from.0 == to.0 {
            let geometry = self.buffers.get_mut(from.0).ok_or(BackendError::Lost)?;
            self.device.copy_quads_within(geometry, first, to_first, count);
            return Ok(());
        }
        let both = self.buffers.all.get_disjoint_mut([from.0 as usize, to.0 as usize]);
        let Ok([Some(from), Some(to)]) = both else { return Err(BackendError::Lost) };
        self.device.copy_quads(from, first, to, to_first, count);
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        if self.data_bytes == 0 {
            return Ok(());
        }
        let mut sharing: Vec<&mut D::Geometry> = self.buffers.all.iter_mut().flatten().collect();
        if !sharing.is_empty() {
            let requested_bytes = u64::from(slots) * DrawData::SHADER_BYTES as u64;
            let resized = self.device.resize_draw_data(&mut sharing, slots);
            resized.map_err(|error| self.buffers.refusal(error, requested_bytes))?;
        }
        self.buffers.slots = slots;
        // The pool writes the whole table next.
        self.buffers.unwritten.clear();
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        if self.data_bytes == 0 {
            return;
        }
        let data = bytes
            .chunks_exact(self.data_bytes)
            .map(|data| bytemuck::pod_read_unaligned::<DrawData>(&data[..size_of::<DrawData>()]));
        self.buffers.unwritten.extend((slot..).zip(data));
    }
}
