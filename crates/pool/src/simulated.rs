use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use core::fmt;

use bytemuck::Pod;

use crate::{
    backend::{ALIGNMENT_BYTES, Access, Backend, BackendError},
    command::{CommandRun, DrawCommand},
    vertex_pool::VertexPool,
};

mod memory;

use memory::Memory;
pub use memory::SimulatedPicture;

/// GPU in plain memory, for tests. It runs each submitted frame with a delay, and reads the memory
/// as it is at that time.
///
/// ```text
///  staged writes, copies, draw data ─┐
///  direct writes ─► memory now       ├─► frame 7 ─► frame 8 ─► run: memory, picture
///  submit(commands) ─────────────────┘   not run yet
/// ```
/// A picture contains all bytes that a shader would read: those of each drawn element and of its
/// per-draw data. It reveals writes that are too early, too late or out of bounds, for any content.
///
/// Several pools can share one GPU. Each has its own [part](Self::part), [draws](Self::draw) in any
/// frame, and can be [dropped](Self::drop_part) while frames read it. The GPU is the backend of the
/// part that was selected last; of part 0 at first.
///
/// # Examples
/// ```
/// use drystone_pool::{Access, DrawList, PoolConfig, SimulatedGpu, VertexPool};
///
/// let mut gpu = SimulatedGpu::new(Access::Direct, 2);
/// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default())?;
/// let mut list = DrawList::new();
/// list.insert(pool.insert(&[1, 2], &[2], 7, &mut gpu)?)?;
///
/// let (runs, commands) = list.runs(&pool);
/// pool.frame_submitted(gpu.submit(&pool, &[(runs, commands)]));
/// assert!(gpu.completed_picture().is_none());
/// gpu.finish();
/// let (frame, picture) = gpu.completed_picture().unwrap();
/// pool.frames_completed(frame, &mut gpu);
/// assert_eq!(picture.drawn(0), (&7u32.to_le_bytes()[..], &1u64.to_le_bytes()[..]));
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Debug, Default)]
pub struct SimulatedGpu {
    access: Access,
    frames_in_flight: usize,
    /// Limit for the size of all buffers, in bytes.
    limit_bytes: u64,
    /// Memory of each part, by its number.
    memories: Vec<Memory>,
    /// Part that the GPU is the backend of.
    selected: usize,
    /// Operations of the next frame, in order.
    pending: Vec<Work>,
    frames: VecDeque<Vec<Work>>,
    submitted: u64,
    pictures: VecDeque<(u64, SimulatedPicture)>,
    stats: SimulatedStats,
    is_lost: bool,
    /// Number of element writes and copies that still succeed.
    writes_left: u64,
}

/// Counters of the operations of a simulated GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulatedStats {
    /// Number of buffers created.
    pub created: u32,
    /// Number of buffers destroyed.
    pub destroyed: u32,
    /// Bytes of elements written.
    pub written_bytes: u64,
    /// Bytes of elements copied.
    pub copied_bytes: u64,
    /// Number of times that the table of per-draw data was resized.
    pub table_resizes: u32,
}

/// Operation on the memory of a part. Returns a picture if it draws.
type Operation = dyn FnOnce(&mut Memory) -> Option<SimulatedPicture> + Send + Sync;

/// Operation of a frame.
struct Work {
    part: usize,
    run: Box<Operation>,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "work of part {}", self.part)
    }
}

impl SimulatedGpu {
    /// Creates a GPU that runs at most `frames_in_flight` frames behind.
    pub fn new(access: Access, frames_in_flight: usize) -> Self {
        let (limit_bytes, writes_left) = (u64::MAX, u64::MAX);
        Self { access, frames_in_flight, limit_bytes, writes_left, ..Self::default() }
    }

    /// Limits the size of all buffers together, to simulate lack of memory.
    pub const fn set_limit_bytes(&mut self, limit_bytes: u64) {
        self.limit_bytes = limit_bytes;
    }

    /// Refuses writes and copies of elements after `writes_left` more.
    pub const fn set_writes_left(&mut self, writes_left: u64) {
        self.writes_left = writes_left;
    }

    /// Simulates a lost device: later operations fail or do nothing.
    pub const fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Returns the counters of operations.
    pub const fn stats(&self) -> SimulatedStats {
        self.stats
    }

    /// Returns the size of all buffers, in bytes.
    pub fn used_bytes(&self) -> u64 {
        self.memories.iter().map(Memory::bytes).sum()
    }

    /// Selects the part of one of several pools, with `data_bytes` bytes of per-draw data per mesh.
    /// Returns the backend of that pool.
    pub fn part(&mut self, number: usize, data_bytes: usize) -> &mut Self {
        self.selected = number;
        self.memory(number).data_bytes = data_bytes;
        self
    }

    /// Releases the memory of a dropped pool, after all frames submitted before have run.
    pub fn drop_part(&mut self, number: usize) {
        self.push(number, |memory| *memory = Memory::default());
    }

    /// Adds lists of a pool to the frame being built. One call gives one picture.
    pub fn draw<V: Pod, D: Pod>(
        &mut self,
        number: usize,
        pool: &VertexPool<V, D>,
        lists: &[(&[CommandRun], &[DrawCommand])],
    ) {
        let mut commands = Vec::new();
        for (runs, all) in lists {
            for run in *runs {
                let of_run = &all[run.commands.clone()];
                commands.extend(of_run.iter().map(|command| (run.buffer, *command)));
            }
        }
        let element_bytes = size_of::<V>();
        let config = pool.config();
        let (indices, vertices) = (config.indices_per_element, config.vertices_per_element);
        self.memory(number).data_bytes = size_of::<D>();
        let run = move |memory: &mut Memory| {
            let mut picture = SimulatedPicture::new(element_bytes, memory.data_bytes);
            for (buffer, command) in &commands {
                assert_eq!((command.instance_count, command.first_index), (1, 0), "{command:?}");
                let first = (command.base_vertex as u32 / vertices) as usize;
                let count = (command.index_count / indices) as usize;
                memory.draw(*buffer, first..first + count, command.first_instance, &mut picture);
            }
            Some(picture)
        };
        self.pending.push(Work { part: number, run: Box::new(run) });
    }

    /// Submits the frame being built, and returns its number. Runs the oldest frames if more than
    /// the maximum number are in flight.
    pub fn end_frame(&mut self) -> u64 {
        self.frames.push_back(core::mem::take(&mut self.pending));
        self.submitted += 1;
        while self.frames.len() > self.frames_in_flight {
            self.run_frame();
        }
        self.submitted
    }

    /// Submits a frame that draws lists of part 0 in sequence, and returns its number. Runs the
    /// oldest frames if more than the maximum number are in flight.
    pub fn submit<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        lists: &[(&[CommandRun], &[DrawCommand])],
    ) -> u64 {
        self.draw(0, pool, lists);
        self.end_frame()
    }

    /// Runs the oldest submitted frame, if any.
    pub fn run_frame(&mut self) {
        let Some(works) = self.frames.pop_front() else { return };
        for Work { part, run } in works {
            let picture = run(self.memory(part));
            let frame = self.completed();
            self.pictures.extend(picture.map(|picture| (frame, picture)));
        }
    }

    /// Runs all submitted frames.
    pub fn finish(&mut self) {
        while !self.frames.is_empty() {
            self.run_frame();
        }
    }

    /// Returns the number of the last frame that was run.
    pub fn completed(&self) -> u64 {
        self.submitted - self.frames.len() as u64
    }

    /// Removes and returns the oldest picture, with the number of its frame.
    pub fn completed_picture(&mut self) -> Option<(u64, SimulatedPicture)> {
        self.pictures.pop_front()
    }

    /// Counts a write or copy, and fails if no more are allowed.
    fn spend_write(&mut self, requested_bytes: u64) -> Result<(), BackendError> {
        if self.is_lost {
            return Err(BackendError::Lost);
        }
        let left = self.writes_left.checked_sub(1);
        self.writes_left = left.ok_or(BackendError::OutOfMemory { requested_bytes })?;
        Ok(())
    }

    /// Adds an operation of a part to the next frame.
    fn push(&mut self, part: usize, work: impl FnOnce(&mut Memory) + Send + Sync + 'static) {
        let run = |memory: &mut Memory| {
            work(memory);
            None
        };
        self.pending.push(Work { part, run: Box::new(run) });
    }

    fn memory(&mut self, number: usize) -> &mut Memory {
        if self.memories.len() <= number {
            self.memories.resize_with(number + 1, Memory::default);
        }
        &mut self.memories[number]
    }
}

/// Backend of the selected part.
impl Backend for SimulatedGpu {
    fn access(&self) -> Access {
        self.access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        expect_aligned(&[size_bytes]);
        if self.is_lost {
            return Err(BackendError::Lost);
        }
        if size_bytes > self.limit_bytes.saturating_sub(self.used_bytes()) {
            return Err(BackendError::OutOfMemory { requested_bytes: size_bytes });
        }
        self.memory(self.selected).create(buffer, size_bytes);
        self.stats.created += 1;
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        if self.is_lost {
            return;
        }
        self.memory(self.selected).destroy(buffer);
        self.stats.destroyed += 1;
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        expect_aligned(&[offset_bytes, bytes.len() as u64]);
        self.spend_write(bytes.len() as u64)?;
        self.stats.written_bytes += bytes.len() as u64;
        let offset = offset_bytes as usize;
        match self.access {
            Access::Direct => self.memory(self.selected).store(buffer, offset, bytes),
            Access::Staged => {
                let bytes = bytes.to_vec();
                self.push(self.selected, move |memory| memory.store(buffer, offset, &bytes));
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
        expect_aligned(&[offset_bytes, size_bytes]);
        if self.is_lost || self.access == Access::Staged {
            return None;
        }
        let start = offset_bytes as usize;
        Some(self.memory(self.selected).map(buffer, start..start + size_bytes as usize))
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
        self.stats.copied_bytes += size_bytes;
        self.push(self.selected, move |memory| memory.copy(from, to, size_bytes as usize));
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        if self.is_lost {
            return Err(BackendError::Lost);
        }
        self.stats.table_resizes += 1;
        self.push(self.selected, move |memory| memory.resize_table(slots));
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        expect_aligned(&[bytes.len() as u64]);
        let bytes = bytes.to_vec();
        self.push(self.selected, move |memory| memory.write_table(slot, &bytes));
    }
}

/// Panics if a value violates the alignment that backends may require.
fn expect_aligned(values: &[u64]) {
    let is_aligned = values.iter().all(|it| it.is_multiple_of(ALIGNMENT_BYTES as u64));
    assert!(is_aligned, "{values:?} are not all multiples of {ALIGNMENT_BYTES} bytes");
}
