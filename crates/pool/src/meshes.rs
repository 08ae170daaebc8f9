//! Meshes of a pool: their slots, their handles and their recent changes.

use core::sync::atomic::{AtomicU32, Ordering};

use drystone_alloc::Slots;

use crate::{
    allocation::{Location, Pieces, Span},
    error::{EVICTION_CANDIDATES, PoolError},
    mesh::{Mesh, MeshHandle, MeshKey},
};

mod changes;

use changes::RecentChanges;

/// Source of pool ids: one unique number per pool.
static POOLS: AtomicU32 = AtomicU32::new(0);

/// Meshes of a pool by slot, and the changes that can invalidate built commands.
#[derive(Debug)]
pub(crate) struct Meshes {
    /// Id of the pool, unique in the process.
    pool: u32,
    slots: Slots<Mesh>,
    pub(crate) changes: RecentChanges,
    /// Revision after the last removal. A counter of its own would be incremented together with
    /// the revision, in one wide load that waits for the narrow store of the last insertion.
    removed_at: u64,
    oldest: Oldest,
}

/// Result of the last search for the least recently drawn meshes.
#[derive(Debug, Default)]
struct Oldest {
    found: [Option<MeshHandle>; EVICTION_CANDIDATES],
    /// Frame being built during the search.
    frame: u64,
}

impl Meshes {
    pub(crate) fn new() -> Self {
        Self {
            pool: POOLS.fetch_add(1, Ordering::Relaxed),
            slots: Slots::new(),
            changes: RecentChanges::new(),
            removed_at: 0,
            oldest: Oldest::default(),
        }
    }

    /// Reserves a slot, which contains an empty mesh at first.
    #[inline]
    pub(crate) fn reserve(&mut self, capacity: u32, frame: u64) -> Result<MeshKey, PoolError> {
        if self.slots.len() >= capacity {
            return Err(PoolError::SlotsFull { capacity });
        }
        self.slots.insert(Mesh::empty(frame)).map_err(|_| PoolError::SlotsFull { capacity })
    }

    /// Releases the slot of a mesh that does not fit, and removes it from the eviction candidates.
    #[cold]
    pub(crate) fn cancel(&mut self, key: MeshKey, mut error: PoolError) -> PoolError {
        let own = self.handle(key);
        self.slots.remove(key);
        if let PoolError::Full { least_recently_drawn, .. } = &mut error {
            let meshes = &mut least_recently_drawn.0;
            *meshes = meshes.map(|mesh| mesh.filter(|it| *it != own));
            meshes.sort_by_key(Option::is_none);
        }
        error
    }

    /// Removes a mesh whose allocations are retired.
    #[inline]
    pub(crate) fn remove(&mut self, key: MeshKey) {
        self.slots.remove(key);
        self.changes.note(key.index());
        self.removed_at = self.changes.revision();
    }

    /// Removes all meshes, whose allocations are retired.
    pub(crate) fn clear(&mut self) {
        self.slots.reset();
        self.changes.note_every_slot();
        self.removed_at = self.changes.revision();
    }

    /// Points the piece of a slot's mesh at `from` to `to`. Returns the mesh.
    pub(crate) fn move_piece(
        &mut self,
        slot: u32,
        (from, to): (Span, Span),
        pieces: &mut Pieces,
    ) -> Option<MeshHandle> {
        let key = self.slots.handle_at(slot)?;
        let mesh = self.slots.get_mut(key)?;
        match mesh.location() {
            Location { span, .. } if span == from => mesh.set_span(to),
            location => pieces.set_span(location, from, to),
        }
        self.changes.note(slot);
        Some(self.handle(key))
    }

    /// Returns the meshes drawn or inserted least recently. Repeated calls in one frame return the
    /// live meshes of the first call, so that retries stay cheap.
    pub(crate) fn find_oldest(&mut self, frame: u64) -> [Option<MeshHandle>; EVICTION_CANDIDATES] {
        let live: [Option<MeshHandle>; EVICTION_CANDIDATES] =
            self.oldest.found.map(|handle| handle.filter(|&it| self.get(it).is_some()));
        if self.oldest.frame == frame && live.iter().any(Option::is_some) {
            self.oldest.found = live;
            self.oldest.found.sort_by_key(Option::is_none);
            return self.oldest.found;
        }
        // Sorted, oldest first. Most meshes are younger than the last entry.
        let mut oldest: [Option<(u32, MeshHandle)>; EVICTION_CANDIDATES] =
            [None; EVICTION_CANDIDATES];
        for (handle, mesh) in self.iter().filter(|(_, mesh)| mesh.len() > 0) {
            let age_frames = mesh.frames_since_drawn(frame);
            let is_older = |it: &Option<(u32, _)>| it.is_none_or(|(frames, _)| age_frames > frames);
            if let Some(at) = oldest.iter().position(is_older) {
                oldest[at..].rotate_right(1);
                oldest[at] = Some((age_frames, handle));
            }
        }
        self.oldest = Oldest { found: oldest.map(|it| it.map(|(_, handle)| handle)), frame };
        self.oldest.found
    }

    /// Id of the pool.
    #[inline]
    pub(crate) const fn pool(&self) -> u32 {
        self.pool
    }

    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.slots.len()
    }

    /// Revision after the last removal: increases when a valid handle becomes stale.
    #[inline]
    pub(crate) const fn removed_at(&self) -> u64 {
        self.removed_at
    }

    #[inline]
    pub(crate) const fn handle(&self, mesh: MeshKey) -> MeshHandle {
        MeshHandle { mesh, pool: self.pool }
    }

    /// Returns the mesh of a handle; none if the handle is stale or of another pool.
    #[inline]
    pub(crate) fn get(&self, handle: MeshHandle) -> Option<&Mesh> {
        if handle.pool != self.pool {
            return None;
        }
        self.slots.get(handle.mesh)
    }

    /// Returns whether a mesh of this pool is live.
    #[inline]
    pub(crate) fn has(&self, key: MeshKey) -> bool {
        self.slots.get(key).is_some()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: MeshKey) -> Option<&mut Mesh> {
        self.slots.get_mut(key)
    }

    /// Iterates over all meshes, in slot order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (MeshHandle, &Mesh)> {
        self.slots.iter().map(|(key, mesh)| (self.handle(key), mesh))
    }

    /// Returns the allocation of a slot's mesh with this index in a buffer, and the number of
    /// elements in it.
    pub(crate) fn piece_at(
        &self,
        slot: u32,
        buffer: u16,
        index: usize,
        pieces: &Pieces,
    ) -> Option<(Span, u32)> {
        let mesh = self.slots.get(self.slots.handle_at(slot)?)?;
        let mut spans = pieces.spans(mesh.location(), mesh.len());
        let is_there = |span: Span| span.buffer == buffer && span.allocation.index() == index;
        let (span, held) = spans.find(|(span, _)| is_there(*span))?;
        Some((span, held.end - held.start))
    }

    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        self.slots.validate()
    }
}
