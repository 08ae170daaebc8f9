use alloc::{collections::VecDeque, vec::Vec};

use crate::{
    Access, Backend, BackendError, Config, Placement,
    frames::Frames,
    space::{Place, Space},
};

/// No owner: the place is free, or waits until nobody reads it.
pub(crate) const NOBODY: u32 = u32::MAX;
/// A further buffer is as large as this part of all there are, within the bounds that are
/// set: larger ones stand half empty, smaller ones are many. The more there are, the larger
/// is the next, so that a pool that was told nothing of its meshes stays at few.
const fn growth_divisor(buffers: usize) -> u64 {
    match buffers {
        0..16 => 16,
        16..32 => 8,
        _ => 4,
    }
}

/// A place, where it starts and in which buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) place: Place,
    pub(crate) first: u32,
    pub(crate) buffer: u16,
}

/// One of the pool's buffers.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) space: Space,
    pub(crate) elements: u32,
    pub(crate) access: Access,
    /// Elements in meshes.
    pub(crate) used: u32,
    /// Elements in places that wait.
    pub(crate) waiting: u32,
    /// Who owns each place, by the place's index; [`NOBODY`] where none does.
    pub(crate) owners: Vec<u32>,
    /// The smallest size that found no place since the last one was freed: as long as
    /// nothing is freed, larger ones need not be tried.
    too_large: u64,
    /// Its meshes were packed, and nothing has been freed since.
    pub(crate) is_packed: bool,
    /// Defragmentation can do no more here until something is freed.
    pub(crate) is_settled: bool,
    /// The frame that was being built when something was last freed: in an empty buffer
    /// the last that has to do with it.
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

    /// Whether no mesh is in it. Places may still wait.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    #[inline]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<(Place, u32)> {
        if u64::from(size) >= self.too_large {
            return None;
        }
        let found = self.space.allocate(size);
        if found.is_none() {
            self.too_large = size.into();
        }
        found
    }

    /// Notes whose place it is. A place's index is below the number of places that ever
    /// lived at once, so the list is no longer than that.
    #[inline]
    pub(crate) fn set_owner(&mut self, place: Place, owner: u32) {
        if let Some(entry) = self.owners.get_mut(place.index()) {
            *entry = owner;
            return;
        }
        self.owners.resize(place.index() + 1, NOBODY);
        self.owners[place.index()] = owner;
    }

    #[inline]
    pub(crate) fn owner(&self, place: Place) -> u32 {
        self.owners.get(place.index()).copied().unwrap_or(NOBODY)
    }

    /// Gives back what a place has beyond its first `size` elements.
    pub(crate) fn shrink(&mut self, place: Place, size: u32) {
        self.space.shrink(place, size);
        self.note_freed();
    }

    #[inline]
    fn free(&mut self, place: Place) {
        self.space.free(place);
        self.note_freed();
    }

    #[inline]
    const fn note_freed(&mut self) {
        self.too_large = u64::MAX;
        (self.is_packed, self.is_settled) = (false, false);
    }
}

/// A freed place that frames in flight may still read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retired {
    /// The last frame that could.
    pub(crate) frame: u64,
    pub(crate) span: Span,
    pub(crate) count: u32,
}

/// All buffers of a pool, and the queue of places that wait.
///
/// ```text
///  allocate ─► buffers that hold meshes, lowest first ─► empty ones ─► a further one
///  retire ──► staged: free at once
///        └──► direct: queue [frame 7][frame 8][frame 8] ─► frame 7 has completed ─► free
/// ```
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) all: Vec<Option<Buffer>>,
    pub(crate) retired: VecDeque<Retired>,
    /// A buffer that is being emptied: used only when nothing else will do.
    pub(crate) emptying: Option<u16>,
    /// The frame being built when the device last refused a further buffer. It is asked
    /// again only in a later one.
    refused_in: Option<u64>,
    /// Places are free at once whoever reads them: the fault that tests must find.
    #[cfg(test)]
    pub(crate) ignores_frames: bool,
}

/// A request for a place that may need a further buffer.
pub(crate) struct Request<'a> {
    pub(crate) size: u32,
    pub(crate) element_bytes: u64,
    pub(crate) config: &'a Config,
    /// The frame being built.
    pub(crate) frame: u64,
}

impl Request<'_> {
    /// Elements that a buffer must have.
    fn needed(&self) -> u32 {
        match self.config.placement {
            Placement::Buckets { elements } => elements.max(self.size).max(1),
            _ => self.size.max(1),
        }
    }

    /// Asks the device for a buffer; says whether it has the memory.
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

    /// Every buffer with its number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &Buffer)> {
        let numbered = self.all.iter().enumerate();
        numbered.filter_map(|(number, buffer)| Some((number as u16, buffer.as_ref()?)))
    }

    /// A place in one of the buffers that hold meshes, but for the one that is being
    /// emptied.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<Span> {
        for (number, buffer) in self.all.iter_mut().enumerate() {
            let Some(buffer) = buffer else { continue };
            if buffer.is_empty() || self.emptying == Some(number as u16) {
                continue;
            }
            if let Some((place, first)) = buffer.allocate(size) {
                return Some(Span { place, first, buffer: number as u16 });
            }
        }
        None
    }

    /// A place in a buffer that is empty or, if need be, in the one that is being emptied:
    /// where others have room, these are left alone, so that they can be given back.
    #[cold]
    fn allocate_in_last_resort(&mut self, size: u32) -> Option<Span> {
        let emptying = self.emptying;
        let empty = self.all.iter_mut().enumerate().find_map(|(number, buffer)| {
            let number = number as u16;
            let buffer = buffer.as_mut().filter(|it| it.is_empty() && emptying != Some(number))?;
            let (place, first) = buffer.allocate(size)?;
            Some(Span { place, first, buffer: number })
        });
        empty.or_else(|| {
            let number = emptying?;
            let (place, first) = self.get_mut(number)?.allocate(size)?;
            Some(Span { place, first, buffer: number })
        })
    }

    /// A place, in a further buffer if need be. `None` when there can be none.
    ///
    /// # Errors
    /// What the device says, other than that it is out of memory.
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

    /// Makes a further buffer in which the request fits. Says whether there is one now.
    pub(crate) fn add(
        &mut self,
        request: &Request<'_>,
        mut backend: impl Backend,
    ) -> Result<bool, BackendError> {
        let free = self.all.iter().position(Option::is_none).unwrap_or(self.all.len());
        let (wanted, needed) = (self.next_size(request), request.needed());
        let may = free < usize::from(request.config.max_buffers) && wanted >= needed;
        if !may || self.refused_in == Some(request.frame) {
            return Ok(false);
        }
        self.refused_in = None;
        // What is wanted is more than what is needed: if that is too much, just enough.
        let elements = match request.create(free, wanted, &mut backend)? {
            true => wanted,
            false if wanted > needed && request.create(free, needed, &mut backend)? => needed,
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

    /// Elements of a further buffer.
    fn next_size(&self, request: &Request<'_>) -> u32 {
        let config = request.config;
        let all: u64 = self.iter().map(|(_, buffer)| u64::from(buffer.elements)).sum();
        let part = all / growth_divisor(self.iter().count());
        let wanted = part.max(request.needed().into());
        let most = config.max_buffer_elements;
        let least = config.least_buffer_elements.min(most);
        wanted.clamp(least.into(), most.into()) as u32
    }

    /// Whether the device had no memory for a further buffer when last asked.
    pub(crate) fn was_refused(&self) -> bool {
        self.refused_in.is_some()
    }

    /// Takes back a place that `count` elements of a mesh are in and that frames may read.
    #[inline(always)]
    pub(crate) fn retire(&mut self, span: Span, count: u32, frames: &Frames) {
        #[cfg(test)]
        let ignores_frames = self.ignores_frames;
        #[cfg(not(test))]
        let ignores_frames = false;
        let Some(Some(buffer)) = self.all.get_mut(usize::from(span.buffer)) else { return };
        buffer.set_owner(span.place, NOBODY);
        buffer.used -= count;
        buffer.empty_since = frames.current();
        let frame = frames.last_reader();
        if buffer.access == Access::Staged || frame <= frames.completed() || ignores_frames {
            buffer.free(span.place);
            return;
        }
        buffer.waiting += count;
        self.retired.push_back(Retired { frame, span, count });
    }

    /// Takes back a place that nobody ever read, though it may have been written in the
    /// frame being built.
    pub(crate) fn give_back(&mut self, span: Span, frame: u64) {
        if let Some(buffer) = self.get_mut(span.buffer) {
            buffer.set_owner(span.place, NOBODY);
            buffer.empty_since = frame;
            buffer.free(span.place);
        }
    }

    /// Frees the places that no frame after `completed` reads.
    pub(crate) fn release(&mut self, completed: u64) {
        while let Some(retired) = self.retired.front().filter(|it| it.frame <= completed) {
            let Retired { span, count, .. } = *retired;
            self.retired.pop_front();
            if let Some(buffer) = self.get_mut(span.buffer) {
                buffer.waiting -= count;
                buffer.free(span.place);
            }
        }
    }

    /// Gives back the buffers that have been empty for `spare_frames` frames and that no
    /// frame reads any more.
    pub(crate) fn return_empty(
        &mut self,
        submitted: u64,
        completed: u64,
        spare_frames: u32,
        backend: &mut impl Backend,
    ) {
        for (number, slot) in self.all.iter_mut().enumerate() {
            let is_over = slot.as_ref().is_some_and(|buffer| {
                buffer.is_empty()
                    && buffer.waiting == 0
                    && buffer.empty_since <= completed
                    && submitted >= buffer.empty_since.saturating_add(spare_frames.into())
            });
            if is_over {
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
