use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use bytemuck::Pod;

use super::mesh_ref::MeshRef;
use crate::{
    error::PoolError,
    mesh::{MeshHandle, MeshKey},
    parts::PartSet,
    vertex_pool::VertexPool,
};

/// Number of slots per word of the bitmap.
const WORD_SLOTS: usize = u64::BITS as usize;

/// Id of the next list that gets a mesh. Views distinguish lists by it.
static NEXT_LIST: AtomicU32 = AtomicU32::new(1);

/// Meshes of a list, indexed by slot. Iteration follows the memory order of the pool's tables,
/// regardless of the order of insertion.
///
/// ```text
///  bits   1 0 1 1 …     one bit per slot: a sparse list skips 64 slots at a time
///  keys   a – c d …     mesh of the slot
///  since  7   2 9 …     revision of the list at insertion
/// ```
#[derive(Debug, Default)]
pub(super) struct Members {
    bits: Vec<u64>,
    keys: Vec<Option<MeshKey>>,
    since: Vec<u64>,
    len: usize,
    /// Pool of all meshes.
    pool: u32,
    id: u32,
    /// Increases with every insertion and removal.
    revision: u64,
    /// The pool's last removal at the last check for stale meshes.
    verified: Option<u64>,
}

/// Identifies a list and its revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ListState {
    pub(super) id: u32,
    pub(super) revision: u64,
}

impl ListState {
    /// Returns whether both are states of one list. A list without an id has never had a mesh, so
    /// its state is valid for any list before the first insertion.
    pub(super) const fn is_of(self, other: Self) -> bool {
        self.id == other.id || self.id == 0
    }
}

impl Members {
    pub(super) fn insert(&mut self, mesh: MeshHandle) -> Result<(), PoolError> {
        if self.len == 0 {
            self.pool = mesh.pool;
        } else if self.pool != mesh.pool {
            return Err(PoolError::Stale);
        }
        if self.id == 0 {
            self.id = NEXT_LIST.fetch_add(1, Ordering::Relaxed);
        }
        let slot = mesh.slot() as usize;
        if slot >= self.keys.len() {
            self.keys.resize(slot + 1, None);
            self.since.resize(slot + 1, 0);
            self.bits.resize(slot / WORD_SLOTS + 1, 0);
        }
        let before = self.keys[slot].replace(mesh.mesh);
        if before == Some(mesh.mesh) {
            return Ok(());
        }
        // A used slot contains a mesh that was removed from the pool.
        self.len += usize::from(before.is_none());
        self.revision += 1;
        self.since[slot] = self.revision;
        self.bits[slot / WORD_SLOTS] |= 1 << (slot % WORD_SLOTS);
        self.verified = None;
        Ok(())
    }

    pub(super) fn remove(&mut self, mesh: MeshHandle) -> bool {
        let is_in = self.contains(mesh);
        if is_in {
            self.remove_slot(mesh.slot() as usize);
            self.revision += 1;
        }
        is_in
    }

    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
        self.keys.fill(None);
        self.len = 0;
        self.revision += 1;
    }

    /// Removes meshes that are no longer in the pool. Does nothing if none can be stale.
    pub(super) fn drop_stale<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>) {
        if !self.is_of(pool) || self.has_no_stale(pool) {
            return;
        }
        let before = self.len;
        for word in 0..self.bits.len() {
            for slot in slots_of(word, self.bits[word]) {
                if self.keys[slot].is_none_or(|key| !pool.meshes.has(key)) {
                    self.remove_slot(slot);
                }
            }
        }
        self.revision += u64::from(self.len < before);
        self.verified = Some(pool.meshes.removed_at());
    }

    /// Returns whether no mesh can be stale.
    pub(super) fn has_no_stale<V: Pod, D: Pod>(&self, pool: &VertexPool<V, D>) -> bool {
        self.verified == Some(pool.meshes.removed_at())
    }

    /// Passes each mesh to `visit`, in slot order. Some may be stale.
    #[inline]
    pub(super) fn for_each(&self, visit: impl FnMut(MeshKey)) {
        self.for_each_in(0..self.bits.len(), visit);
    }

    /// Number of words of the bitmap, of 64 slots each.
    pub(super) fn words(&self) -> usize {
        self.bits.len()
    }

    /// Number of meshes in these words of the bitmap.
    #[cfg(feature = "rayon")]
    pub(super) fn len_of(&self, words: Range<usize>) -> usize {
        self.bits[words].iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Passes each mesh in these words of the bitmap to `visit`, in slot order. Some may be stale.
    #[inline]
    pub(super) fn for_each_in(&self, words: Range<usize>, mut visit: impl FnMut(MeshKey)) {
        for (word, &bits) in words.clone().zip(&self.bits[words]) {
            for slot in slots_of(word, bits) {
                if let Some(key) = self.keys[slot] {
                    visit(key);
                }
            }
        }
    }

    /// Writes the meshes in some words of the bitmap that pass `parts` to the start of `keys` and `shown`, in slot
    /// order, and returns their number. `parts` also gets the index that the mesh has if it passes.
    ///
    /// Each mesh is written after those that passed, and counted only if it passes. This avoids branches that the
    /// processor cannot predict.
    #[inline]
    pub(super) fn collect<V: Pod, D: Pod>(
        &self,
        pool: &VertexPool<V, D>,
        words: Range<usize>,
        (keys, shown): (&mut [Option<MeshKey>], &mut [PartSet]),
        mut parts: impl FnMut(&MeshRef<'_, D>, usize) -> PartSet,
    ) -> usize {
        let no_stale = self.has_no_stale(pool);
        let mut visible = 0;
        self.for_each_in(words, |key| {
            let Some(mesh) = MeshRef::new(pool, key) else { return };
            if !no_stale && !pool.meshes.has(key) {
                return;
            }
            let parts = parts(&mesh, visible);
            (keys[visible], shown[visible]) = (Some(key), parts);
            visible += usize::from(!parts.is_empty());
        });
        visible
    }

    /// Passes each mesh inserted after `state` to `visit`.
    pub(super) fn for_each_since(&self, state: ListState, mut visit: impl FnMut(MeshKey)) {
        self.for_each(|key| {
            if self.since[key.index() as usize] > state.revision {
                visit(key);
            }
        });
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn state(&self) -> ListState {
        ListState { id: self.id, revision: self.revision }
    }

    /// Returns whether the meshes belong to this pool; true for an empty list.
    pub(super) fn is_of<V: Pod, D: Pod>(&self, pool: &VertexPool<V, D>) -> bool {
        self.len == 0 || self.pool == pool.meshes.pool()
    }

    pub(super) fn contains(&self, mesh: MeshHandle) -> bool {
        self.pool == mesh.pool && self.has(mesh.mesh)
    }

    /// Returns whether a mesh was in the list at `state` and still is.
    pub(super) fn still_has(&self, key: MeshKey, state: ListState) -> bool {
        self.has(key) && self.since[key.index() as usize] <= state.revision
    }

    /// Returns the mesh at a slot, live or stale, and the revision of its insertion.
    pub(super) fn at(&self, slot: u32) -> Option<(MeshKey, u64)> {
        let slot = slot as usize;
        Some(((*self.keys.get(slot)?)?, self.since[slot]))
    }

    fn has(&self, key: MeshKey) -> bool {
        self.keys.get(key.index() as usize) == Some(&Some(key))
    }

    fn remove_slot(&mut self, slot: usize) {
        self.keys[slot] = None;
        self.bits[slot / WORD_SLOTS] &= !(1 << (slot % WORD_SLOTS));
        self.len -= 1;
    }
}

/// Iterates over the slots whose bits are set in word number `word`.
#[inline]
fn slots_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word * WORD_SLOTS + bit as usize)
    })
}
