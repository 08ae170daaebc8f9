use alloc::vec::Vec;
use core::cmp::Ordering;

use bytemuck::Pod;

#[cfg(feature = "rayon")]
use super::parallel;
use super::{
    key_sort::KeySort,
    members::{ListState, Members},
    mesh_ref::MeshRef,
};
use crate::{mesh::MeshKey, parts::PartSet, vertex_pool::VertexPool};

/// Meshes that passed the last mask, and their order. Reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Capacity for all meshes of the list; the first `visible` entries passed the mask.
    keys: Vec<Option<MeshKey>>,
    parts: Vec<PartSet>,
    pub(super) visible: usize,
    /// Sort keys of the first `visible` meshes.
    sort_keys: Vec<u64>,
    pub(super) sort: KeySort,
    pub(super) is_sorted: bool,
    /// Whether several threads masked and sorted, and may build the commands too.
    #[cfg(feature = "rayon")]
    pub(super) is_parallel: bool,
    /// Rank among the visible meshes, indexed by slot. Built on first use.
    ranks: Vec<u32>,
    /// State of the list at the mask; none before the first mask.
    pub(super) masked: Option<ListState>,
}

impl Selection {
    /// Selects the meshes that pass `parts`. Returns their number.
    pub(super) fn mask<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut parts: impl FnMut(&MeshRef<'_, D>) -> PartSet,
    ) -> usize {
        self.masked = Some(members.state());
        self.collect(members, pool, |mesh, _| parts(mesh));
        self.visible
    }

    /// Selects all meshes, as before the first mask.
    pub(super) fn take_all<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) {
        self.collect(members, pool, |_, _| PartSet::ALL);
    }

    pub(super) fn sort<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut key: impl FnMut(&MeshRef<'_, D>) -> u64,
    ) {
        self.mask_first(members, pool);
        let keys = self.keys[..self.visible].iter().map(|mesh| {
            // A mesh removed since the mask may have no data; its rank does not matter.
            let mesh = mesh.and_then(|mesh| MeshRef::new(pool, mesh));
            mesh.map_or(u64::MAX, |mesh| key(&mesh))
        });
        self.sort_keys.clear();
        self.sort_keys.extend(keys);
        self.sort.sort(&self.sort_keys);
        self.is_sorted = true;
        self.ranks.clear();
    }

    pub(super) fn sort_by<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut compare: impl FnMut(&MeshRef<'_, D>, &MeshRef<'_, D>) -> Ordering,
    ) {
        self.mask_first(members, pool);
        let keys = &self.keys[..self.visible];
        let mesh = |index: u32| keys[index as usize].and_then(|key| MeshRef::new(pool, key));
        self.sort.sort_by(keys.len() as u32, |a, b| match (mesh(a), mesh(b)) {
            (Some(a), Some(b)) => compare(&a, &b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        self.is_sorted = true;
        self.ranks.clear();
    }

    /// Selects all meshes if there was no mask.
    fn mask_first<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) {
        if self.masked.is_none() {
            self.mask(members, pool, |_| PartSet::ALL);
        }
    }

    pub(super) fn mask_and_sort<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut select: impl FnMut(&MeshRef<'_, D>) -> (PartSet, u64),
    ) -> usize {
        let mut sort_keys = core::mem::take(&mut self.sort_keys);
        sort_keys.resize(members.len(), 0);
        self.masked = Some(members.state());
        self.collect(members, pool, |mesh, index| {
            let (parts, key) = select(mesh);
            sort_keys[index] = key;
            parts
        });
        self.sort.sort(&sort_keys[..self.visible]);
        self.sort_keys = sort_keys;
        self.is_sorted = true;
        self.visible
    }

    /// Does the same as [`mask_and_sort`](Self::mask_and_sort), on all threads if there are many meshes.
    #[cfg(feature = "rayon")]
    pub(super) fn par_mask_and_sort<V: Pod + Sync, D: Pod + Sync>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        select: impl Fn(&MeshRef<'_, D>) -> (PartSet, u64) + Sync,
    ) -> usize {
        if !parallel::is_worth_it(members.len()) {
            return self.mask_and_sort(members, pool, select);
        }
        self.masked = Some(members.state());
        if self.begin(members, pool) {
            self.sort_keys.resize(members.len(), 0);
            let lists =
                (&mut self.keys[..], &mut self.parts[..], &mut self.sort_keys[..members.len()]);
            self.visible = parallel::collect(members, pool, lists, select);
        }
        self.sort.par_sort(&self.sort_keys[..self.visible], parallel::sorted_pieces());
        (self.is_sorted, self.is_parallel) = (true, true);
        self.visible
    }

    /// Collects the meshes that pass `parts`, in slot order.
    #[inline]
    fn collect<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&MeshRef<'_, D>, usize) -> PartSet,
    ) {
        if self.begin(members, pool) {
            let words = 0..members.words();
            let lists = (&mut self.keys[..], &mut self.parts[..]);
            self.visible = members.collect(pool, words, lists, parts);
        }
    }

    /// Prepares the memory for the meshes of the list. Returns whether they are of this pool.
    fn begin<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) -> bool {
        (self.is_sorted, self.visible) = (false, 0);
        #[cfg(feature = "rayon")]
        (self.is_parallel = false);
        self.ranks.clear();
        let is_of = members.is_of(pool);
        if is_of {
            self.keys.resize(members.len(), None);
            self.parts.resize(members.len(), PartSet::EMPTY);
        }
        is_of
    }

    /// Builds the ranks of the visible meshes, unless they are built already.
    pub(super) fn build_ranks(&mut self) {
        if !self.ranks.is_empty() {
            return;
        }
        let (keys, ranks) = (&self.keys[..self.visible], &mut self.ranks);
        let mut put = |rank: u32, mesh: usize| {
            let Some(key) = keys[mesh] else { return };
            let slot = key.index() as usize;
            if slot >= ranks.len() {
                ranks.resize(slot + 1, u32::MAX);
            }
            ranks[slot] = rank;
        };
        if self.is_sorted {
            (0..).zip(self.sort.indices()).for_each(|(rank, mesh)| put(rank, mesh as usize));
        } else {
            (0..).zip(0..keys.len()).for_each(|(rank, mesh)| put(rank, mesh));
        }
    }

    /// Returns the rank of the mesh at a slot among the visible meshes, `u32::MAX` for others. The
    /// ranks must have been [built](Self::build_ranks).
    pub(super) fn rank(&self, slot: u32) -> u32 {
        self.ranks.get(slot as usize).copied().unwrap_or(u32::MAX)
    }

    /// Returns the mesh at a slot with its visible parts, if it passed the mask.
    pub(super) fn at(&self, slot: u32) -> Option<(MeshKey, PartSet)> {
        let (keys, parts) = self.meshes();
        let index = keys.binary_search_by_key(&Some(slot), |key| key.map(MeshKey::index)).ok()?;
        Some((keys[index]?, parts[index]))
    }

    /// Visible meshes with their visible parts, in slot order.
    pub(super) fn meshes(&self) -> (&[Option<MeshKey>], &[PartSet]) {
        (&self.keys[..self.visible], &self.parts[..self.visible])
    }
}
