use alloc::{collections::VecDeque, vec::Vec};

use crate::{
    Access, Backend, BackendError, Config, Placement,
    frames::Frames,
    space::{Allocation, Space},
};

/// Marks an allocation without an owner: free or retired.
pub(crate) const NO_OWNER: u32 = u32::MAX;
/// Divisor of the total capacity that gives the size of the next buffer, within the configured
/// limits. Larger buffers stay half empty, and smaller ones become many. The divisor decreases with
/// the number of buffers, so that a pool without size settings needs few buffers.
const fn growth_divisor(buffers: usize) -> u64 {
    match buffers {
        0..16 => 16,
        16..32 => 8,
        _ => 4,
    }
}

/// Allocation with its buffer and its first element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) allocation: Allocation,
    pub(crate) first: u32,
    pub(crate) buffer: u16,
}

/// Buffer of a pool.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) space: Space,
    pub(crate) elements: u32,
    pub(crate) access: Access,
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
}

impl Buffer {
    fn new(request: &Request<'_>, elements: u32, access: Access) -> Self {
        Self {
            space: Space::new(&request.config.placement, elements),
            elements,
            access,
            used: 0,
            waiting: 0,
            owners: Vec::new(),
            too_large: u64::MAX,
            is_packed: false,
            is_settled: false,
            empty_since: request.frame,
        }
    }

    /// Returns whether the buffer contains no mesh. Retired allocations are possible.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<(Allocation, u32)> {
        if u64::from(size) >= self.too_large {
            return None;
        }
        let found = self.space.allocate(size);
        if found.is_none() {
            self.too_large = size.into();
        }
        found
    }

    /// Records the owner of an allocation. An allocation's index is below the maximum number of
    /// simultaneous allocations, which bounds the length of the list.
    #[inline]
    pub(crate) fn set_owner(&mut self, allocation: Allocation, owner: u32) {
        if let Some(entry) = self.owners.get_mut(allocation.index()) {
            *entry = owner;
            return;
        }
        self.owners.resize(allocation.index() + 1, NO_OWNER);
        self.owners[allocation.index()] = owner;
    }

    #[inline]
    pub(crate) fn owner(&self, allocation: Allocation) -> u32 {
        self.owners.get(allocation.index()).copied().unwrap_or(NO_OWNER)
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
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) all: Vec<Option<Buffer>>,
    pub(crate) retired: VecDeque<Retired>,
    /// Buffer that is being emptied; used for allocations only as a last resort.
    pub(crate) emptying: Option<u16>,
    /// Frame being built when the device last refused a buffer. The next request is made in a later
    /// frame.
    refused_in: Option<u64>,
    /// Frees allocations at once although frames read them: a fault that tests must detect.
    #[cfg(test)]
    pub(crate) ignores_frames: bool,
}

/// Request for an allocation that may need a new buffer.
pub(crate) struct Request<'a> {
    pub(crate) size: u32,
    pub(crate) element_bytes: u64,
    pub(crate) config: &'a Config,
    /// Frame being built.
    pub(crate) frame: u64,
}

impl Request<'_> {
    /// Returns the minimum elements of the new buffer.
    fn needed(&self) -> u32 {
        match self.config.placement {
            Placement::Buckets { elements } => elements.max(self.size).max(1),
            _ => self.size.max(1),
        }
    }

    /// Requests a buffer from the device. Returns whether it had the memory.
    fn create(
        &self,
        number: usize,
        elements: u32,
        backend: &mut impl Backend,
    ) -> Result<bool, BackendError> {
        let size_bytes = u64::from(elements) * self.element_bytes;
        match backend.create_buffer(number as u32, size_bytes) {
            Ok(()) => Ok(true),
            Err(BackendError::OutOfMemory { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Buffers {
    #[inline]
    pub(crate) fn get(&self, buffer: u16) -> Option<&Buffer> {
        self.all.get(usize::from(buffer))?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, buffer: u16) -> Option<&mut Buffer> {
        self.all.get_mut(usize::from(buffer))?.as_mut()
    }

    /// Iterates over all buffers with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &Buffer)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(number, buffer)| Some((number as u16, buffer.as_ref()?)))
    }

    /// Allocates in one of the buffers with meshes, except the one being emptied.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<Span> {
        for (number, buffer) in self.all.iter_mut().enumerate() {
            let Some(buffer) = buffer else { continue };
            if buffer.is_empty() || self.emptying == Some(number as u16) {
                continue;
            }
            if let Some((allocation, first)) = buffer.allocate(size) {
                return Some(Span { allocation, first, buffer: number as u16 });
            }
        }
        None
    }

    /// Allocates in an empty buffer or, as a last resort, in the one being emptied. Unused buffers
    /// can be released, so they are tried last.
    #[cold]
    fn allocate_in_last_resort(&mut self, size: u32) -> Option<Span> {
        let emptying = self.emptying;
        let empty = self.all.iter_mut().enumerate().find_map(|(number, buffer)| {
            let number = number as u16;
            let buffer = buffer.as_mut().filter(|it| it.is_empty() && emptying != Some(number))?;
            let (allocation, first) = buffer.allocate(size)?;
            Some(Span { allocation, first, buffer: number })
        });
        empty.or_else(|| {
            let number = emptying?;
            let (allocation, first) = self.get_mut(number)?.allocate(size)?;
            Some(Span { allocation, first, buffer: number })
        })
    }

    /// Allocates, in a new buffer if necessary. Returns `None` if no further buffer is possible.
    ///
    /// # Errors
    /// Errors of the device other than lack of memory.
    #[inline]
    pub(crate) fn allocate_or_grow(
        &mut self,
        request: &Request<'_>,
        backend: &mut impl Backend,
    ) -> Result<Option<Span>, BackendError> {
        match self.allocate(request.size).or_else(|| self.allocate_in_last_resort(request.size)) {
            Some(span) => Ok(Some(span)),
            None => self.grow(request, backend),
        }
    }

    #[cold]
    fn grow(
        &mut self,
        request: &Request<'_>,
        backend: &mut dyn Backend,
    ) -> Result<Option<Span>, BackendError> {
        if !self.add(request, backend)? {
            return Ok(None);
        }
        Ok(self.allocate_in_last_resort(request.size))
    }

    /// Creates a buffer in which the request fits. Returns whether it exists now.
    pub(crate) fn add(
        &mut self,
        request: &Request<'_>,
        mut backend: impl Backend,
    ) -> Result<bool, BackendError> {
        let free = self.all.iter().position(Option::is_none).unwrap_or(self.all.len());
        let (preferred, needed) = (self.next_size(request), request.needed());
        let can_add = free < usize::from(request.config.max_buffers) && preferred >= needed;
        if !can_add || self.refused_in == Some(request.frame) {
            return Ok(false);
        }
        self.refused_in = None;
        // The preferred size exceeds the needed size; if memory is short, try the needed size.
        let elements = match request.create(free, preferred, &mut backend)? {
            true => preferred,
            false if preferred > needed && request.create(free, needed, &mut backend)? => needed,
            false => {
                self.refused_in = Some(request.frame);
                return Ok(false);
            }
        };
        if free == self.all.len() {
            self.all.push(None);
        }
        self.all[free] = Some(Buffer::new(request, elements, backend.access()));
        Ok(true)
    }

    /// Returns the preferred elements of a new buffer.
    fn next_size(&self, request: &Request<'_>) -> u32 {
        let config = request.config;
        let all: u64 = self.iter().map(|(_, buffer)| u64::from(buffer.elements)).sum();
        let part = all / growth_divisor(self.iter().count());
        let preferred = part.max(request.needed().into());
        let max = config.max_buffer_elements;
        let min = config.min_buffer_elements.min(max);
        preferred.clamp(min.into(), max.into()) as u32
    }

    /// Returns whether the last request for a buffer failed for lack of device memory.
    pub(crate) fn is_out_of_device_memory(&self) -> bool {
        self.refused_in.is_some()
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
        let frame = frames.last_reader();
        if buffer.access == Access::Staged || frame <= frames.completed() || ignores_frames {
            buffer.free(span.allocation);
            return;
        }
        buffer.waiting += count;
        self.retired.push_back(Retired { frame, span, count });
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

    /// Frees the retired allocations that no frame after `completed` reads.
    pub(crate) fn release(&mut self, completed: u64) {
        while let Some(retired) = self.retired.front().filter(|it| it.frame <= completed) {
            let Retired { span, count, .. } = *retired;
            self.retired.pop_front();
            if let Some(buffer) = self.get_mut(span.buffer) {
                buffer.waiting -= count;
                buffer.free(span.allocation);
            }
        }
    }

    /// Destroys the buffers that have been empty for `spare_frames` frames and that no frame reads.
    pub(crate) fn destroy_empty(
        &mut self,
        submitted: u64,
        completed: u64,
        spare_frames: u32,
        backend: &mut impl Backend,
    ) {
        for (number, slot) in self.all.iter_mut().enumerate() {
            let is_expired = slot.as_ref().is_some_and(|buffer| {
                buffer.is_empty()
                    && buffer.waiting == 0
                    && buffer.empty_since <= completed
                    && submitted >= buffer.empty_since.saturating_add(spare_frames.into())
            });
            if is_expired {
                *slot = None;
                backend.destroy_buffer(number as u32);
                if self.emptying == Some(number as u16) {
                    self.emptying = None;
                }
            }
        }
        while self.all.last().is_some_and(Option::is_none) {
            self.all.pop();
        }
    }
}
