use alloc::{collections::VecDeque, vec, vec::Vec};
use core::ops::Range;

use bytemuck::Pod;

use crate::{Access, Backend, BackendError, CommandRun, DrawCommand, VertexPool};

/// What memory that nobody has written holds.
const GARBAGE: u8 = 0xDD;

/// A GPU made of memory, for tests: it runs each submitted frame later, some frames behind,
/// and reads what its memory holds by then.
///
/// ```text
///  staged writes, copies, draw data ─┐
///  direct writes ─► memory now       ├─► frame 7 ─► frame 8 ─► run: memory, picture
///  submit(commands) ─────────────────┘   not run yet
/// ```
/// A picture is all that the shader would get to see: for each element drawn its bytes,
/// and those of its draw's data. So a picture tells whether a place was written too early,
/// too late or past its end, whatever is in it.
///
/// # Examples
/// ```
/// use drystone_pool::{Access, Config, DrawList, SimulatedGpu, VertexPool};
///
/// let mut gpu = SimulatedGpu::new(Access::Direct, 2);
/// let mut pool = VertexPool::<u64, u32>::new(Config::default())?;
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
#[derive(Debug)]
pub struct SimulatedGpu {
    access: Access,
    frames_in_flight: usize,
    /// Bytes of all buffers, at most.
    limit_bytes: u64,
    used_bytes: u64,
    buffers: Vec<Option<Vec<u8>>>,
    table: Vec<u8>,
    table_slots: u32,
    /// Bytes of a slot.
    data_bytes: usize,
    /// What the next frame is going to do first.
    pending: Vec<Work>,
    frames: VecDeque<Vec<Work>>,
    submitted: u64,
    pictures: VecDeque<(u64, Picture)>,
    stats: SimulatedStats,
    is_lost: bool,
}

/// What a simulated GPU was asked to do so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedStats {
    /// Buffers made.
    pub created: u32,
    /// Buffers given back.
    pub destroyed: u32,
    /// Bytes of elements written.
    pub written_bytes: u64,
    /// Bytes of elements copied.
    pub copied_bytes: u64,
    /// Times the table of per-draw data was made larger.
    pub table_resizes: u32,
}

/// Something that a frame does, in order.
#[derive(Clone, Debug)]
enum Work {
    Write { buffer: u32, offset: usize, bytes: Vec<u8> },
    Copy { from: (u32, usize), to: (u32, usize), size: usize },
    ResizeTable { slots: u32 },
    WriteTable { slot: u32, bytes: Vec<u8> },
    Draw(Draw),
}

/// The commands of one list.
#[derive(Clone, Debug)]
struct Draw {
    commands: Vec<(u32, DrawCommand)>,
    element_bytes: usize,
    data_bytes: usize,
    indices_per_element: u32,
    vertices_per_element: u32,
}

/// What one frame has drawn: elements in order, each with its draw's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    bytes: Vec<u8>,
    data_bytes: usize,
    element_bytes: usize,
}

impl Picture {
    /// An empty picture of elements and per-draw data of these sizes.
    pub const fn new(element_bytes: usize, data_bytes: usize) -> Self {
        Self { bytes: Vec::new(), data_bytes, element_bytes }
    }

    /// Draws an element.
    pub fn push(&mut self, data: &[u8], element: &[u8]) {
        self.bytes.extend_from_slice(data);
        self.bytes.extend_from_slice(element);
    }

    /// Elements drawn.
    pub const fn len(&self) -> usize {
        match self.bytes.len().checked_div(self.data_bytes + self.element_bytes) {
            Some(count) => count,
            None => 0,
        }
    }

    /// Whether nothing was drawn.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of the n-th draw's data and element.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn drawn(&self, nth: usize) -> (&[u8], &[u8]) {
        let start = nth * (self.data_bytes + self.element_bytes);
        self.bytes[start..start + self.data_bytes + self.element_bytes].split_at(self.data_bytes)
    }

    /// The picture with its elements in an order that does not depend on that of drawing.
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

impl SimulatedGpu {
    /// A GPU that is up to `frames_in_flight` frames behind.
    pub const fn new(access: Access, frames_in_flight: usize) -> Self {
        Self {
            access,
            frames_in_flight,
            limit_bytes: u64::MAX,
            used_bytes: 0,
            buffers: Vec::new(),
            table: Vec::new(),
            table_slots: 0,
            data_bytes: 0,
            pending: Vec::new(),
            frames: VecDeque::new(),
            submitted: 0,
            pictures: VecDeque::new(),
            stats: SimulatedStats {
                created: 0,
                destroyed: 0,
                written_bytes: 0,
                copied_bytes: 0,
                table_resizes: 0,
            },
            is_lost: false,
        }
    }

    /// Lets it run out of memory: buffers have at most so many bytes in all.
    pub const fn set_limit_bytes(&mut self, limit_bytes: u64) {
        self.limit_bytes = limit_bytes;
    }

    /// Loses the device: whatever is asked of it from now on is refused or does nothing.
    pub const fn lose(&mut self) {
        self.is_lost = true;
    }

    /// What it was asked to do so far.
    pub const fn stats(&self) -> SimulatedStats {
        self.stats
    }

    /// Bytes of all buffers.
    pub const fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Submits a frame that draws lists of a pool one after the other, and runs those that
    /// are too far behind. Returns the frame's number.
    pub fn submit<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        lists: &[(&[CommandRun], &[DrawCommand])],
    ) -> u64 {
        let mut commands = Vec::new();
        for (runs, all) in lists {
            for run in *runs {
                let of_run = &all[run.commands.clone()];
                commands.extend(of_run.iter().map(|command| (run.buffer, *command)));
            }
        }
        let draw = Draw {
            commands,
            element_bytes: size_of::<V>(),
            data_bytes: size_of::<D>(),
            indices_per_element: pool.config().indices_per_element,
            vertices_per_element: pool.config().vertices_per_element,
        };
        self.data_bytes = size_of::<D>();
        let mut work = core::mem::take(&mut self.pending);
        work.push(Work::Draw(draw));
        self.frames.push_back(work);
        self.submitted += 1;
        while self.frames.len() > self.frames_in_flight {
            self.run_frame();
        }
        self.submitted
    }

    /// Runs the frame that has waited longest, if one does.
    pub fn run_frame(&mut self) {
        let Some(works) = self.frames.pop_front() else { return };
        let frame = self.submitted - self.frames.len() as u64;
        for work in works {
            self.run(work, frame);
        }
    }

    /// Runs all frames.
    pub fn finish(&mut self) {
        while !self.frames.is_empty() {
            self.run_frame();
        }
    }

    /// The number of the last frame that was run.
    pub fn completed(&self) -> u64 {
        self.submitted - self.frames.len() as u64
    }

    /// The oldest picture that was not taken yet, with its frame's number.
    pub fn completed_picture(&mut self) -> Option<(u64, Picture)> {
        self.pictures.pop_front()
    }

    fn run(&mut self, work: Work, frame: u64) {
        match work {
            Work::Write { buffer, offset, bytes } => self.store(buffer, offset, &bytes),
            Work::Copy { from, to, size } => {
                let bytes = self.load(from.0, from.1..from.1 + size).to_vec();
                self.store(to.0, to.1, &bytes);
            }
            Work::ResizeTable { slots } => {
                // A new table: what the pool does not write again is lost.
                self.table.fill(GARBAGE);
                self.table_slots = slots;
            }
            Work::WriteTable { slot, bytes } => {
                self.write_table(slot as usize * self.data_bytes, &bytes);
            }
            Work::Draw(draw) => {
                let picture = self.draw(&draw);
                self.pictures.push_back((frame, picture));
            }
        }
    }

    fn write_table(&mut self, start: usize, bytes: &[u8]) {
        let end = start + bytes.len();
        if self.table.len() < end {
            self.table.resize(end, GARBAGE);
        }
        self.table[start..end].copy_from_slice(bytes);
    }

    fn draw(&self, draw: &Draw) -> Picture {
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
            _ => panic!("buffer {buffer} is read and does not exist"),
        }
    }

    fn store(&mut self, buffer: u32, offset: usize, bytes: &[u8]) {
        match self.buffers.get_mut(buffer as usize) {
            Some(Some(buffer)) => buffer[offset..offset + bytes.len()].copy_from_slice(bytes),
            _ => panic!("buffer {buffer} is written and does not exist"),
        }
    }
}

impl Backend for SimulatedGpu {
    fn access(&self) -> Access {
        self.access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        if self.is_lost {
            return Err(BackendError::Lost);
        }
        if size_bytes > self.limit_bytes.saturating_sub(self.used_bytes) {
            return Err(BackendError::OutOfMemory { requested_bytes: size_bytes });
        }
        let at = buffer as usize;
        if self.buffers.len() <= at {
            self.buffers.resize(at + 1, None);
        }
        assert!(self.buffers[at].is_none(), "buffer {buffer} exists already");
        self.buffers[at] = Some(vec![GARBAGE; size_bytes as usize]);
        self.used_bytes += size_bytes;
        self.stats.created += 1;
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        if self.is_lost {
            return;
        }
        let bytes = self.buffers.get_mut(buffer as usize).and_then(Option::take);
        let Some(bytes) = bytes else { panic!("buffer {buffer} is destroyed and does not exist") };
        self.used_bytes -= bytes.len() as u64;
        self.stats.destroyed += 1;
    }

    fn write_elements(&mut self, buffer: u32, offset_bytes: u64, bytes: &[u8]) {
        self.stats.written_bytes += bytes.len() as u64;
        let offset = offset_bytes as usize;
        match self.access {
            Access::Direct => self.store(buffer, offset, bytes),
            Access::Staged => {
                self.pending.push(Work::Write { buffer, offset, bytes: bytes.to_vec() });
            }
        }
    }

    fn copy_elements(&mut self, from: (u32, u64), to: (u32, u64), size_bytes: u64) {
        let overlaps = from.0 == to.0 && from.1.abs_diff(to.1) < size_bytes;
        assert!(!overlaps, "{from:?} and {to:?} overlap in {size_bytes} bytes");
        self.stats.copied_bytes += size_bytes;
        let at = |(buffer, offset): (u32, u64)| (buffer, offset as usize);
        let size = size_bytes as usize;
        self.pending.push(Work::Copy { from: at(from), to: at(to), size });
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        if self.is_lost {
            return Err(BackendError::Lost);
        }
        self.stats.table_resizes += 1;
        self.pending.push(Work::ResizeTable { slots });
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        self.pending.push(Work::WriteTable { slot, bytes: bytes.to_vec() });
    }
}
