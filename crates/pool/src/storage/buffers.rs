use alloc::{collections::VecDeque, vec::Vec};

use super::space::{FreeSpace, Space};
use crate::{
    allocation::{Allocation, NO_OWNER, Span},
    backend::{Access, Backend, BackendError},
    config::{Placement, PoolConfig},
    frames::Frames,
    stats::PoolStats,
};

mod growth;
mod restore;

pub(crate) use restore::FreedAllocation;

/// Buffer of a pool.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) number: u16,
    pub(crate) access: Access,
    pub(crate) space: Space,
    pub(crate) elements: u32,
    /// Elements in meshes.
    pub(crate) used: u32,
    /// Elements in retired allocations.
    pub(crate) waiting: u32,
    /// Owner of each allocation, by its index; [`NO_OWNER`] for none.
    pub(crate) owners: Vec<u32>,
    /// Smallest size that did not fit since the last release. Larger sizes are not tried until
    /// then.
    too_large: u64,
    /// Whether the meshes were packed and nothing has been freed since.
    pub(crate) is_packed: bool,
    /// Whether defragmentation can do nothing more here until something is freed.
    pub(crate) is_settled: bool,
    /// Frame being built when something was last freed. For an empty buffer, the last frame that
    /// can read it.
    empty_since: u64,
    /// Whether the buffer was divided by an earlier configuration. It contains no mesh, is not used
    /// for allocations, and is destroyed when no frame reads it.
    pub(crate) is_outdated: bool,
}

impl Buffer {
    #[inline]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<Span> {
        if u64::from(size) >= self.too_large {
            return None;
        }
        let Some((allocation, first)) = self.space.allocate(size) else {
            self.too_large = size.into();
            return None;
        };
        Some(Span { allocation, first, buffer: self.number })
    }

    /// Records that `count` elements of an allocation belong to `owner`.
    #[inline]
    pub(crate) fn occupy(&mut self, allocation: Allocation, count: u32, owner: u32) {
        self.used += count;
        self.set_owner(allocation, owner);
    }

    /// Records the owner of an allocation. An allocation's index is below the maximum number of
    /// simultaneous allocations, which bounds the length of the list.
    #[inline]
    fn set_owner(&mut self, allocation: Allocation, owner: u32) {
        if let Some(entry) = self.owners.get_mut(allocation.index()) {
            *entry = owner;
            return;
        }
        self.owners.resize(allocation.index() + 1, NO_OWNER);
        self.owners[allocation.index()] = owner;
    }

    /// Frees the elements of an allocation after its first `size`.
    pub(crate) fn shrink(&mut self, allocation: Allocation, size: u32) {
        self.space.shrink(allocation, size);
        self.note_freed();
    }

    #[inline]
    fn free(&mut self, allocation: Allocation) {
        self.space.free(allocation);
        self.note_freed();
    }

    #[inline]
    const fn note_freed(&mut self) {
        self.too_large = u64::MAX;
        (self.is_packed, self.is_settled) = (false, false);
    }

    /// Returns whether a frame may read the buffer. With staged writes, each frame reads what was written
    /// before its submission.
    #[inline]
    pub(crate) fn is_read(&self, frames: &Frames) -> bool {
        self.access != Access::Staged && frames.last_reader() > frames.completed()
    }

    /// Returns whether the buffer contains no mesh. Retired allocations are possible.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    pub(crate) fn owner(&self, allocation: Allocation) -> u32 {
        self.owners.get(allocation.index()).copied().unwrap_or(NO_OWNER)
    }

    /// Returns whether the buffer has been empty for `spare_frames` frames and no frame reads it.
    fn is_expired(&self, frames: &Frames, spare_frames: u32) -> bool {
        self.is_empty()
            && self.waiting == 0
            && self.empty_since <= frames.completed()
            && (self.is_outdated
                || frames.submitted() >= self.empty_since.saturating_add(spare_frames.into()))
    }
}

/// Freed allocation that frames in flight may still read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retired {
    /// Last frame that can read it.
    pub(crate) frame: u64,
    pub(crate) span: Span,
    pub(crate) count: u32,
}

/// Buffers of a pool, and the queue of retired allocations.
///
/// ```text
///  allocate ─► buffers with meshes, lowest number first ─► empty buffers ─► a new buffer
///  retire ──► staged: free at once
///        └──► direct: queue [frame 7][frame 8][frame 8] ─► frame 7 has completed ─► free
/// ```
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) config: PoolConfig,
    /// Size of an element, in bytes.
    pub(crate) element_bytes: u64,
    all: Vec<Option<Buffer>>,
    retired: VecDeque<Retired>,
    /// Buffer that is being emptied; used for allocations only as a last resort.
    pub(crate) emptying: Option<u16>,
    /// Frame being built when the device last refused a buffer. The next request is made in a later
    /// frame.
    refused_in: Option<u64>,
    /// Frees allocations at once although frames read them: a fault that tests must detect.
    #[cfg(test)]
    pub(crate) ignores_frames: bool,
}

impl Buffers {
    pub(crate) const fn new(config: PoolConfig, element_bytes: u64) -> Self {
        Self {
            config,
            element_bytes,
            all: Vec::new(),
            retired: VecDeque::new(),
            emptying: None,
            refused_in: None,
            #[cfg(test)]
            ignores_frames: false,
        }
    }

    /// Changes the configuration. No buffer contains a mesh. Buffers that no frame reads and that
    /// fit the new limits are divided again; others become outdated.
    pub(crate) fn set_config(&mut self, config: PoolConfig) {
        let min_elements = match config.placement {
            Placement::Buckets { elements } => elements,
            _ => 1,
        };
        for buffer in self.all.iter_mut().flatten() {
            let fits = (min_elements..=config.max_buffer_elements).contains(&buffer.elements)
                && buffer.number < config.max_buffers
                && buffer.waiting == 0;
            buffer.is_outdated = !fits;
            if fits {
                buffer.space = Space::new(&config.placement, buffer.elements);
                buffer.owners.clear();
                buffer.note_freed();
            }
        }
        (self.config, self.emptying) = (config, None);
    }

    /// Allocates in one of the buffers with meshes, except the one being emptied.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<Span> {
        let emptying = self.emptying;
        self.allocate_where(size, |it| !it.is_empty() && emptying != Some(it.number))
    }

    /// Allocates in the first of the selected buffers with enough contiguous space.
    #[inline(always)]
    pub(crate) fn allocate_where(
        &mut self,
        size: u32,
        mut is_selected: impl FnMut(&Buffer) -> bool,
    ) -> Option<Span> {
        for buffer in &mut self.all {
            let Some(buffer) = buffer else { continue };
            if is_selected(buffer)
                && let Some(span) = buffer.allocate(size)
            {
                return Some(span);
            }
        }
        None
    }

    /// Allocates in an empty buffer, in the one being emptied or in a new one. Unused buffers can be
    /// released, so they are tried last. Returns `None` if no further buffer is possible.
    ///
    /// # Errors
    /// Errors of the device other than lack of memory.
    #[cold]
    pub(crate) fn allocate_or_grow(
        &mut self,
        size: u32,
        frame: u64,
        backend: &mut impl Backend,
    ) -> Result<Option<Span>, BackendError> {
        if let Some(span) = self.allocate_without_growing(size) {
            return Ok(Some(span));
        }
        Ok(match self.add(size, frame, backend)? {
            true => self.allocate_in_last_resort(size),
            false => None,
        })
    }

    /// Allocates in any existing buffer.
    pub(crate) fn allocate_without_growing(&mut self, size: u32) -> Option<Span> {
        self.allocate(size).or_else(|| self.allocate_in_last_resort(size))
    }

    fn allocate_in_last_resort(&mut self, size: u32) -> Option<Span> {
        let emptying = self.emptying;
        self.allocate_where(size, |it| {
            it.is_empty() && !it.is_outdated && emptying != Some(it.number)
        })
        .or_else(|| self.get_mut(emptying?)?.allocate(size))
    }

    /// Creates a buffer in which `size` elements fit. Returns whether it exists now.
    pub(crate) fn add(
        &mut self,
        size: u32,
        frame: u64,
        backend: &mut impl Backend,
    ) -> Result<bool, BackendError> {
        let free = self.all.iter().position(Option::is_none).unwrap_or(self.all.len());
        let needed = match self.config.placement {
            Placement::Buckets { elements } => elements.max(size).max(1),
            _ => size.max(1),
        };
        let preferred = self.next_size(needed);
        let can_add = free < usize::from(self.config.max_buffers) && preferred >= needed;
        if !can_add || self.refused_in == Some(frame) {
            return Ok(false);
        }
        self.refused_in = None;
        // If memory is too short for the preferred size, try the needed size.
        let mut create = |elements: u32| {
            let size_bytes = u64::from(elements) * self.element_bytes;
            match backend.create_buffer(free as u32, size_bytes) {
                Ok(()) => Ok(true),
                Err(BackendError::OutOfMemory { .. }) => Ok(false),
                Err(error) => Err(error),
            }
        };
        let elements = match create(preferred)? {
            true => preferred,
            false if preferred > needed && create(needed)? => needed,
            false => {
                self.refused_in = Some(frame);
                return Ok(false);
            }
        };
        if free == self.all.len() {
            self.all.push(None);
        }
        self.all[free] = Some(Buffer {
            number: free as u16,
            access: backend.access(),
            space: Space::new(&self.config.placement, elements),
            elements,
            used: 0,
            waiting: 0,
            owners: Vec::new(),
            too_large: u64::MAX,
            is_packed: false,
            is_settled: false,
            empty_since: frame,
            is_outdated: false,
        });
        Ok(true)
    }

    /// Frees an allocation that no frame has read, though it may have been written in the frame
    /// being built.
    pub(crate) fn free(&mut self, span: Span, frame: u64) {
        if let Some(buffer) = self.get_mut(span.buffer) {
            buffer.set_owner(span.allocation, NO_OWNER);
            buffer.empty_since = frame;
            buffer.free(span.allocation);
        }
    }

    /// Retires an allocation with `count` elements of a mesh, which frames may still read.
    #[inline(always)]
    pub(crate) fn retire(&mut self, span: Span, count: u32, frames: &Frames) {
        #[cfg(test)]
        let ignores_frames = self.ignores_frames;
        #[cfg(not(test))]
        let ignores_frames = false;
        let Some(Some(buffer)) = self.all.get_mut(usize::from(span.buffer)) else { return };
        buffer.set_owner(span.allocation, NO_OWNER);
        buffer.used -= count;
        buffer.empty_since = frames.current();
        if !buffer.is_read(frames) || ignores_frames {
            buffer.free(span.allocation);
            return;
        }
        let frame = frames.last_reader();
        buffer.waiting += count;
        self.retired.push_back(Retired { frame, span, count });
    }

    /// Frees the retired allocations that no frame reads, and destroys the buffers that have been
    /// empty for the configured number of frames.
    pub(crate) fn release(&mut self, frames: &Frames, backend: &mut impl Backend) {
        while let Some(retired) = self.retired.front().filter(|it| it.frame <= frames.completed()) {
            let Retired { span, count, .. } = *retired;
            self.retired.pop_front();
            if let Some(buffer) = self.get_mut(span.buffer) {
                buffer.waiting -= count;
                buffer.free(span.allocation);
            }
        }
        for slot in &mut self.all {
            let spare_frames = self.config.spare_frames;
            if let Some(buffer) = slot.take_if(|it| it.is_expired(frames, spare_frames)) {
                backend.destroy_buffer(buffer.number.into());
                self.emptying = self.emptying.filter(|&number| number != buffer.number);
            }
        }
        while self.all.last().is_some_and(Option::is_none) {
            self.all.pop();
        }
    }

    #[inline]
    pub(crate) fn get(&self, buffer: u16) -> Option<&Buffer> {
        self.all.get(usize::from(buffer))?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, buffer: u16) -> Option<&mut Buffer> {
        self.all.get_mut(usize::from(buffer))?.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Buffer> {
        self.all.iter().flatten()
    }

    /// Retired allocations, in the order in which they were retired.
    pub(crate) const fn retired(&self) -> &VecDeque<Retired> {
        &self.retired
    }

    /// Elements of all buffers that meshes can be in.
    pub(crate) fn capacity(&self) -> u64 {
        self.iter()
            .filter(|buffer| !buffer.is_outdated)
            .map(|buffer| u64::from(buffer.elements))
            .sum()
    }

    /// Returns whether the last request for a buffer failed for lack of device memory.
    pub(crate) const fn is_out_of_device_memory(&self) -> bool {
        self.refused_in.is_some()
    }

    /// Returns statistics of the buffers only.
    pub(crate) fn stats(&self) -> PoolStats {
        let mut stats = PoolStats::default();
        for buffer in self.iter() {
            let free = match buffer.is_outdated {
                true => FreeSpace::default(),
                false => buffer.space.free_space(buffer.used + buffer.waiting),
            };
            stats.buffers += 1;
            stats.access = buffer.access;
            stats.capacity += u64::from(buffer.elements);
            stats.used += u64::from(buffer.used);
            let waiting = if buffer.is_outdated { buffer.elements } else { buffer.waiting };
            stats.waiting += u64::from(waiting);
            stats.wasted += u64::from(free.wasted);
            stats.free += u64::from(free.total);
            stats.largest_free = stats.largest_free.max(free.largest);
            stats.largest_free_sum += u64::from(free.largest);
        }
        stats.capacity_bytes = stats.capacity * self.element_bytes;
        stats.used_bytes = stats.used * self.element_bytes;
        stats
    }
}
