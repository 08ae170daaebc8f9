//! Readback of the totals, without waiting: they arrive a frame or more late.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release},
};

use super::region::Region;
use crate::{error::GpuError, gpu::Gpu};

/// Counts of the meshes that a [`Culler`](crate::Culler) drew in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CullCounts {
    /// Number of the frame, as the caller counts them.
    pub frame: u64,
    /// Number of draw commands.
    pub commands: u32,
    /// Number of meshes.
    pub meshes: u32,
    /// Number of elements.
    pub elements: u64,
}

/// Maximum number of frames with totals in flight. Those of further frames are skipped.
const IN_FLIGHT: usize = 4;

/// The staging buffer is unused.
const IDLE: u8 = 0;
/// Totals are in flight.
const AWAITED: u8 = 1;
/// Totals have arrived.
const ARRIVED: u8 = 2;

/// Reads totals back from the GPU.
#[derive(Debug, Default)]
pub(super) struct Readback {
    staging: Vec<Staging>,
    latest: Option<CullCounts>,
}

#[derive(Debug)]
struct Staging {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
    frame: u64,
    size_bytes: u64,
}

impl Readback {
    pub(super) fn encode(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        regions: &[Region],
        frame: u64,
    ) -> Result<(), GpuError> {
        let size_bytes = regions.len() as u64 * Region::TOTALS_BYTES;
        if regions.is_empty() {
            self.latest = Some(CullCounts { frame, ..CullCounts::default() });
            return Ok(());
        }
        let Some(index) = self.idle(gpu, size_bytes)? else { return Ok(()) };
        let staging = &mut self.staging[index];
        (staging.frame, staging.size_bytes) = (frame, size_bytes);
        for (n, region) in (0..).zip(regions) {
            let offset_bytes = n * Region::TOTALS_BYTES;
            let size_bytes = Region::TOTALS_BYTES;
            encoder.copy_buffer_to_buffer(
                &region.totals,
                0,
                &staging.buffer,
                offset_bytes,
                size_bytes,
            );
        }
        let awaited = Awaited::new(&staging.state);
        let mapped = move |mapped: Result<(), wgpu::BufferAsyncError>| {
            if mapped.is_ok() {
                awaited.0.store(ARRIVED, Release);
            }
        };
        encoder.map_buffer_on_submit(&staging.buffer, wgpu::MapMode::Read, .., mapped);
        Ok(())
    }

    /// Index of an idle buffer of at least this size; `None` if all are in flight.
    fn idle(&mut self, gpu: &Gpu, size_bytes: u64) -> Result<Option<usize>, GpuError> {
        let is_idle = |staging: &Staging| staging.state.load(Acquire) == IDLE;
        let index = match self.staging.iter().position(is_idle) {
            Some(index) if self.staging[index].buffer.size() >= size_bytes => {
                return Ok(Some(index));
            }
            Some(index) => index,
            None if self.staging.len() < IN_FLIGHT => self.staging.len(),
            None => return Ok(None),
        };
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let buffer = gpu.buffer("totals to read back", size_bytes, usage)?;
        let state = Arc::new(AtomicU8::new(IDLE));
        let staging = Staging { buffer, state, frame: 0, size_bytes };
        match self.staging.get_mut(index) {
            Some(old) => *old = staging,
            None => self.staging.push(staging),
        }
        Ok(Some(index))
    }

    /// Collects arrived totals, and returns the newest ever collected.
    pub(super) fn collect(&mut self) -> Option<CullCounts> {
        for staging in &self.staging {
            if staging.state.compare_exchange(ARRIVED, IDLE, AcqRel, Acquire).is_err() {
                continue;
            }
            if let Ok(view) = staging.buffer.get_mapped_range(..staging.size_bytes) {
                let counts = sum(&view, staging.frame);
                if self.latest.is_none_or(|latest| latest.frame < counts.frame) {
                    self.latest = Some(counts);
                }
            }
            staging.buffer.unmap();
        }
        self.latest
    }
}

/// Totals that are in flight. Their buffer is idle again if they do not arrive, because the encoder was
/// dropped or the device is lost.
struct Awaited(Arc<AtomicU8>);

impl Awaited {
    fn new(state: &Arc<AtomicU8>) -> Self {
        state.store(AWAITED, Release);
        Self(Arc::clone(state))
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let _ = self.0.compare_exchange(AWAITED, IDLE, AcqRel, Acquire);
    }
}

/// Sums the totals of all lists of all regions.
fn sum(bytes: &[u8], frame: u64) -> CullCounts {
    let mut counts = CullCounts { frame, ..CullCounts::default() };
    for list in bytes.chunks_exact(Region::LIST_BYTES as usize) {
        let [commands, meshes, elements, _]: [u32; 4] = bytemuck::pod_read_unaligned(list);
        counts.commands += commands;
        counts.meshes += meshes;
        counts.elements += u64::from(elements);
    }
    counts
}
