//! Pools next to an immediate renderer, which copies everything when it draws.

use alloc::collections::VecDeque;

use super::*;

/// Size of a mesh's per-draw data, in bytes.
const DATA_BYTES: usize = size_of::<u32>();

/// Mesh of the immediate renderer: elements by part.
struct MeshCopy {
    handle: MeshHandle,
    data: u32,
    parts: Vec<Vec<u32>>,
}

/// Expected content of a frame.
struct Expected {
    picture: SimulatedPicture,
    is_sorted: bool,
}

/// Pool that shares the scene's GPU and is not the chosen one.
struct InactivePool {
    pool: Pool,
    part: usize,
    list: DrawList,
    copies: Vec<MeshCopy>,
}

/// A pool with a list of all its meshes, a GPU that runs behind, and the expected content of each
/// frame. Other pools can share the GPU. Operations apply to the [chosen](Self::choose) pool.
pub(crate) struct Scene {
    pub(crate) pool: Pool,
    pub(crate) gpu: SimulatedGpu,
    /// Number of the pool's part of the GPU.
    part: usize,
    list: DrawList,
    copies: Vec<MeshCopy>,
    inactive: Vec<InactivePool>,
    /// Total number of pools created.
    pools: usize,
    expected: VecDeque<Expected>,
    /// Number of frames drawn; each uses another mask and order.
    frame: u32,
    /// Number of frames with wrong content.
    pub(crate) wrong: u32,
}

impl Scene {
    pub(crate) fn new(config: PoolConfig, access: Access, frames_in_flight: usize) -> Self {
        Self {
            pool: Pool::new(config).unwrap(),
            gpu: SimulatedGpu::new(access, frames_in_flight),
            part: 0,
            list: DrawList::new(),
            copies: Vec::new(),
            inactive: Vec::new(),
            pools: 1,
            expected: VecDeque::new(),
            frame: 0,
            wrong: 0,
        }
    }

    /// Adds a pool to the GPU and chooses it.
    pub(crate) fn add_pool(&mut self, config: PoolConfig) {
        let inactive = InactivePool {
            pool: Pool::new(config).unwrap(),
            part: self.pools,
            list: DrawList::new(),
            copies: Vec::new(),
        };
        self.pools += 1;
        self.inactive.push(inactive);
        self.choose(self.inactive.len() - 1);
    }

    /// Number of pools other than the chosen one.
    pub(crate) fn inactive(&self) -> usize {
        self.inactive.len()
    }

    /// Chooses another pool.
    pub(crate) fn choose(&mut self, nth: usize) {
        let InactivePool { pool, part, list, copies } = &mut self.inactive[nth];
        core::mem::swap(&mut self.pool, pool);
        core::mem::swap(&mut self.part, part);
        core::mem::swap(&mut self.list, list);
        core::mem::swap(&mut self.copies, copies);
    }

    /// Drops the chosen pool although frames may read it, and chooses another.
    pub(crate) fn drop_pool(&mut self, other: usize) {
        self.choose(other);
        let dropped = self.inactive.swap_remove(other);
        self.gpu.drop_part(dropped.part);
    }

    pub(crate) fn len(&self) -> usize {
        self.copies.len()
    }

    pub(crate) fn nth(&self, nth: usize) -> MeshHandle {
        self.copies[nth % self.copies.len()].handle
    }

    pub(crate) fn insert(&mut self, parts: &[&[u32]], data: u32) -> Result<MeshHandle, PoolError> {
        let counts: Vec<u32> = parts.iter().map(|part| part.len() as u32).collect();
        let handle = self.pool.insert(
            &parts.concat(),
            &counts,
            data,
            &mut self.gpu.part(self.part, DATA_BYTES),
        )?;
        self.store_copy(handle, parts, data);
        Ok(handle)
    }

    pub(crate) fn replace(
        &mut self,
        handle: MeshHandle,
        parts: &[&[u32]],
        data: u32,
    ) -> Result<(), PoolError> {
        let counts: Vec<u32> = parts.iter().map(|part| part.len() as u32).collect();
        self.pool.replace(
            handle,
            &parts.concat(),
            &counts,
            data,
            &mut self.gpu.part(self.part, DATA_BYTES),
        )?;
        self.store_copy(handle, parts, data);
        Ok(())
    }

    /// Inserts a mesh, or replaces `replaced`, through a writer that reserves `spare` additional
    /// elements.
    pub(crate) fn write(
        &mut self,
        replaced: Option<MeshHandle>,
        parts: &[&[u32]],
        data: u32,
        spare: u32,
    ) -> Result<MeshHandle, PoolError> {
        let max_elements = parts.concat().len() as u32 + spare;
        let mut backend = self.gpu.part(self.part, DATA_BYTES);
        let mut writer = match replaced {
            Some(handle) => self.pool.replacing_writer(handle, max_elements, &mut backend)?,
            None => self.pool.writer(max_elements, &mut backend)?,
        };
        for part in parts {
            writer.extend(part)?;
            writer.end_part()?;
        }
        let handle = writer.finish(data)?;
        self.store_copy(handle, parts, data);
        Ok(handle)
    }

    fn store_copy(&mut self, handle: MeshHandle, parts: &[&[u32]], data: u32) {
        let parts: Vec<Vec<u32>> = parts.iter().map(|part| part.to_vec()).collect();
        match self.copies.iter_mut().find(|copies| copies.handle == handle) {
            Some(copies) => (copies.parts, copies.data) = (parts, data),
            None => {
                self.list.insert(handle).unwrap();
                self.copies.push(MeshCopy { handle, data, parts });
            }
        }
    }

    pub(crate) fn set_data(&mut self, handle: MeshHandle, data: u32) {
        self.pool.set_data(handle, data, &mut self.gpu.part(self.part, DATA_BYTES)).unwrap();
        let copies = self.copies.iter_mut().find(|copies| copies.handle == handle);
        copies.unwrap().data = data;
    }

    pub(crate) fn remove(&mut self, handle: MeshHandle) {
        self.pool.remove(handle).unwrap();
        self.copies.retain(|copies| copies.handle != handle);
    }

    pub(crate) fn clear(&mut self) {
        self.pool.clear();
        self.copies.clear();
    }

    pub(crate) fn defragment(&mut self, budget: &MoveBudget) -> Moved {
        let moved = self.pool.defragment(budget, &mut self.gpu.part(self.part, DATA_BYTES));
        assert!(moved.bytes <= budget.bytes && moved.moves <= budget.moves, "{moved:?}");
        moved
    }

    /// Draws a frame of the chosen pool.
    pub(crate) fn draw(&mut self) {
        self.record();
        let frame = self.gpu.end_frame();
        self.pool.frame_submitted(frame);
        self.compare();
        self.poll();
    }

    /// Draws a frame of all pools.
    pub(crate) fn draw_all(&mut self) {
        self.record();
        for nth in 0..self.inactive.len() {
            self.choose(nth);
            self.record();
            self.choose(nth);
        }
        let frame = self.gpu.end_frame();
        self.pool.frame_submitted(frame);
        self.inactive.iter_mut().for_each(|other| other.pool.frame_submitted(frame));
        self.compare();
        self.poll();
        for nth in 0..self.inactive.len() {
            self.choose(nth);
            self.poll();
            self.choose(nth);
        }
    }

    /// Builds commands for a frame that is not submitted.
    pub(crate) fn abandon_frame(&mut self) {
        let _ = self.list.runs(&self.pool);
    }

    /// Adds the chosen pool's list to the frame being built, with a new mask and order. The order
    /// is checked in every other frame.
    fn record(&mut self) {
        self.frame += 1;
        let (frame, is_sorted) = (self.frame, self.frame.is_multiple_of(2));
        let bits = |data: u32| (data.wrapping_mul(31) ^ frame) as u8 | 1 << (frame % 3);
        self.list.mask(&self.pool, |mesh| PartSet::from_bits(bits(**mesh)));
        if is_sorted {
            self.list.sort(&self.pool, |mesh| u64::from(**mesh ^ frame));
            self.copies.sort_by_key(|copies| copies.data ^ frame);
        }
        let mut picture = SimulatedPicture::new(4, 4);
        for copies in &self.copies {
            let parts = copies.parts.iter().enumerate();
            for (_, part) in parts.filter(|(n, _)| bits(copies.data) >> n & 1 == 1) {
                for element in part {
                    picture.push(&copies.data.to_ne_bytes(), &element.to_ne_bytes());
                }
            }
        }
        let picture = if is_sorted { picture } else { picture.sorted() };
        self.expected.push_back(Expected { picture, is_sorted });
        let (runs, commands) = self.list.runs(&self.pool);
        self.gpu.draw(self.part, &self.pool, &[(runs, commands)]);
    }

    /// Compares the frames that the GPU has finished.
    fn compare(&mut self) {
        while let Some((_, picture)) = self.gpu.completed_picture() {
            let expected = self.expected.pop_front().unwrap();
            let picture = if expected.is_sorted { picture } else { picture.sorted() };
            self.wrong += u32::from(picture != expected.picture);
        }
    }

    /// Reports the completed frames to the chosen pool.
    pub(crate) fn poll(&mut self) {
        let completed = self.gpu.completed();
        self.pool.frames_completed(completed, &mut self.gpu.part(self.part, DATA_BYTES));
    }

    /// Lets the GPU finish all frames.
    pub(crate) fn finish(&mut self) {
        self.gpu.finish();
        self.compare();
        assert_eq!(self.wrong, 0, "frames differ from the immediate renderer");
        for nth in (0..self.inactive.len()).rev() {
            self.choose(nth);
            self.finish_pool();
            self.choose(nth);
        }
        self.finish_pool();
    }

    fn finish_pool(&mut self) {
        self.poll();
        self.pool.validate().unwrap();
    }
}
