use drystone_pool::{Access, Backend, BackendError, CommandRun, DrawCommand, PoolError};

use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::Device,
    draw_data::DrawData,
    error::RenderError,
    passes::Batch,
};

/// The device's geometries, indexed by the pool's buffer numbers. All share one table of per-draw
/// data.
pub struct PoolGeometries<G> {
    kind: BufferKind,
    /// Size of the pool's data for each mesh, which begins with the data that shaders read. 0 means
    /// no table.
    data_bytes: usize,
    all: Vec<Option<G>>,
    /// Number of slots of the table, also while no geometry has the table.
    slots: u32,
    /// Per-draw data that is not on the device yet, in the order of the writes.
    unwritten: Vec<(u32, DrawData)>,
    /// The device's last error, unless it was out of memory.
    failure: Option<RenderError>,
}

impl<G> Default for PoolGeometries<G> {
    /// Buffers for a pool of quads with [`DrawData`].
    fn default() -> Self {
        Self::new(BufferKind::Quads, size_of::<DrawData>())
    }
}

impl<G> PoolGeometries<G> {
    pub(super) fn new(kind: BufferKind, data_bytes: usize) -> Self {
        let unwritten = Vec::new();
        Self { kind, data_bytes, all: Vec::new(), slots: 0, unwritten, failure: None }
    }

    /// Writes the per-draw data gathered since the last frame to the device, with one write for
    /// each run of consecutive slots. Must be called before each frame.
    pub fn flush<D: Device<Geometry = G>>(&mut self, device: &mut D) -> FlushedBuffers<'_, G> {
        if let Some(geometry) = self.all.iter_mut().flatten().next() {
            // The last of several writes to one slot counts.
            self.unwritten.reverse();
            self.unwritten.sort_by_key(|(slot, _)| *slot);
            self.unwritten.dedup_by_key(|(slot, _)| *slot);
            let data: Vec<DrawData> = self.unwritten.iter().map(|(_, data)| *data).collect();
            let mut written = 0;
            for run in self.unwritten.chunk_by(|(slot, _), (next, _)| slot + 1 == *next) {
                let end = written + run.len();
                device.write(geometry, run[0].0, BufferData::DrawData(&data[written..end]));
                written = end;
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

/// The geometries of [`PoolGeometries`] after all per-draw data was written: what a frame can draw.
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

    /// The runs of a draw list, each with its buffer's geometry.
    pub(crate) fn batches(
        self,
        (runs, commands): (&[CommandRun], &'a [DrawCommand]),
    ) -> Vec<Batch<'a, G>> {
        let batch = |run: &CommandRun| {
            let geometry = self.get(run.buffer)?;
            Some(Batch::new(geometry, &commands[run.commands.clone()]).trusted())
        };
        runs.iter().filter_map(batch).collect()
    }

    /// The geometry of each buffer, by number.
    #[cfg(feature = "wgpu")]
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
    pub buffers: &'a mut PoolGeometries<D::Geometry>,
}

impl<D: Device> PoolUpload<'_, D> {
    /// The entry at an offset in bytes.
    fn entry_at(&self, offset_bytes: u64) -> u32 {
        (offset_bytes / self.buffers.kind.entry_bytes()) as u32
    }
}

impl<D: Device> Backend for PoolUpload<'_, D> {
    fn access(&self) -> Access {
        self.device.info().access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        let count = self.entry_at(size_bytes);
        let PoolGeometries { kind, all, slots, .. } = &mut *self.buffers;
        // If the table was freed with the last buffer, nothing of it is needed: every mesh with
        // elements is in a buffer, and meshes that come into this one write their slots.
        let slots = match all.iter().flatten().next() {
            Some(other) => DrawSlots::SharedWith(other),
            None => DrawSlots::New(*slots),
        };
        let geometry = self.device.create(*kind, count, slots);
        let geometry = geometry.map_err(|error| self.buffers.refusal(error, size_bytes))?;
        let (all, at) = (&mut self.buffers.all, buffer as usize);
        if all.len() <= at {
            all.resize_with(at + 1, || None);
        }
        all[at] = Some(geometry);
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
        let (first, kind) = (self.entry_at(offset_bytes), self.buffers.kind);
        let geometry = self.buffers.get_mut(buffer).ok_or(BackendError::Lost)?;
        self.device.write(geometry, first, kind.data(bytes));
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let [first, at, count] = [from.1, to.1, size_bytes].map(|bytes| self.entry_at(bytes));
        let copy_range = CopyRange { from: first, to: at, count };
        if from.0 == to.0 {
            let geometry = self.buffers.get_mut(from.0).ok_or(BackendError::Lost)?;
            self.device.copy(None, geometry, copy_range);
            return Ok(());
        }
        let both = self.buffers.all.get_disjoint_mut([from.0 as usize, to.0 as usize]);
        let Ok([Some(from), Some(to)]) = both else { return Err(BackendError::Lost) };
        self.device.copy(Some(from), to, copy_range);
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        if self.buffers.data_bytes == 0 {
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
        let PoolGeometries { data_bytes, unwritten, .. } = &mut *self.buffers;
        if *data_bytes == 0 {
            return;
        }
        let data = bytes
            .chunks_exact(*data_bytes)
            .map(|data| bytemuck::pod_read_unaligned::<DrawData>(&data[..size_of::<DrawData>()]));
        unwritten.extend((slot..).zip(data));
    }
}
