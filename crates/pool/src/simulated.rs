use alloc::{collections::VecDeque, vec::Vec};

use bytemuck::Pod;

use crate::{Access, Backend, BackendError, CommandRun, DrawCommand, VertexPool};

mod memory;
mod picture;

use memory::Memory;
pub use memory::SimulatedPart;
pub use picture::Picture;

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
/// Several pools can use one GPU: each has a [part](Self::part) of its own, [draws](Self::draw)
/// in any frame or in none, and may be [dropped](Self::drop_part) while frames read it. The GPU
/// itself is the backend of part 0.
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
    /// By the number of the part.
    memories: Vec<Memory>,
    /// What the next frame is going to do first, each with the number of its part.
    pending: Vec<(usize, Work)>,
    frames: VecDeque<Vec<(usize, Work)>>,
    submitted: u64,
    pictures: VecDeque<(u64, Picture)>,
    stats: SimulatedStats,
    is_lost: bool,
    /// Writes and copies of elements that succeed before all others are refused.
    writes_left: u64,
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
    Write {
        buffer: u32,
        offset: usize,
        bytes: Vec<u8>,
    },
    Copy {
        from: (u32, usize),
        to: (u32, usize),
        size: usize,
    },
    ResizeTable {
        slots: u32,
    },
    WriteTable {
        slot: u32,
        bytes: Vec<u8>,
    },
    Draw(Draw),
    /// Gives back all that the part has.
    Drop,
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

impl SimulatedGpu {
    /// A GPU that is up to `frames_in_flight` frames behind.
    pub const fn new(access: Access, frames_in_flight: usize) -> Self {
        Self {
            access,
            frames_in_flight,
            limit_bytes: u64::MAX,
            used_bytes: 0,
            memories: Vec::new(),
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
            writes_left: u64::MAX,
        }
    }

    /// Lets it run out of memory: buffers have at most so many bytes in all.
    pub const fn set_limit_bytes(&mut self, limit_bytes: u64) {
        self.limit_bytes = limit_bytes;
    }

    /// Lets it refuse writes and copies of elements after so many more.
    pub const fn set_writes_left(&mut self, writes_left: u64) {
        self.writes_left = writes_left;
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

    /// The backend of one of several pools, whose per-draw data has `data_bytes` bytes a mesh.
    pub fn part(&mut self, number: usize, data_bytes: usize) -> SimulatedPart<'_> {
        self.memory(number).data_bytes = data_bytes;
        SimulatedPart { gpu: self, number }
    }

    /// Gives back all that a dropped pool had, once the frames that were submitted before have
    /// run.
    pub fn drop_part(&mut self, number: usize) {
        self.pending.push((number, Work::Drop));
    }

    /// Adds lists of a pool to the frame being built; they are one picture.
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
        let draw = Draw {
            commands,
            element_bytes: size_of::<V>(),
            data_bytes: size_of::<D>(),
            indices_per_element: pool.config().indices_per_element,
            vertices_per_element: pool.config().vertices_per_element,
        };
        self.memory(number).data_bytes = size_of::<D>();
        self.pending.push((number, Work::Draw(draw)));
    }

    /// Submits the frame being built, and runs those that are too far behind. Returns the
    /// frame's number.
    pub fn end_frame(&mut self) -> u64 {
        self.frames.push_back(core::mem::take(&mut self.pending));
        self.submitted += 1;
        while self.frames.len() > self.frames_in_flight {
            self.run_frame();
        }
        self.submitted
    }

    /// Submits a frame that draws lists of the only pool one after the other, and runs those
    /// that are too far behind. Returns the frame's number.
    pub fn submit<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        lists: &[(&[CommandRun], &[DrawCommand])],
    ) -> u64 {
        self.draw(0, pool, lists);
        self.end_frame()
    }

    /// Runs the frame that has waited longest, if one does.
    pub fn run_frame(&mut self) {
        let Some(works) = self.frames.pop_front() else { return };
        let frame = self.submitted - self.frames.len() as u64;
        for (number, work) in works {
            self.run(number, work, frame);
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

    fn memory(&mut self, number: usize) -> &mut Memory {
        if self.memories.len() <= number {
            self.memories.resize_with(number + 1, Memory::default);
        }
        &mut self.memories[number]
    }

    fn run(&mut self, number: usize, work: Work, frame: u64) {
        let memory = self.memory(number);
        match work {
            Work::Write { buffer, offset, bytes } => memory.store(buffer, offset, &bytes),
            Work::Copy { from, to, size } => memory.copy(from, to, size),
            Work::ResizeTable { slots } => memory.resize_table(slots),
            Work::WriteTable { slot, bytes } => memory.write_table(slot, &bytes),
            Work::Draw(draw) => {
                let picture = memory.draw(&draw);
                self.pictures.push_back((frame, picture));
            }
            Work::Drop => {
                let bytes = core::mem::take(memory).bytes();
                self.used_bytes -= bytes;
            }
        }
    }
}

/// The only pool's backend: part 0.
impl Backend for SimulatedGpu {
    fn access(&self) -> Access {
        self.access
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        SimulatedPart { gpu: self, number: 0 }.create_buffer(buffer, size_bytes)
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        SimulatedPart { gpu: self, number: 0 }.destroy_buffer(buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        SimulatedPart { gpu: self, number: 0 }.write_elements(buffer, offset_bytes, bytes)
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        SimulatedPart { gpu: self, number: 0 }.copy_elements(from, to, size_bytes)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        SimulatedPart { gpu: self, number: 0 }.resize_draw_data(slots)
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        SimulatedPart { gpu: self, number: 0 }.write_draw_data(slot, bytes);
    }
}
