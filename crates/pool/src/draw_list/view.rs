use alloc::vec::Vec;

use bytemuck::Pod;

use super::{
    ListConfig, MeshKey,
    key_sort::KeySort,
    members::{ListState, Members},
    output::Output,
    patch::{BuildState, Patcher},
};
use crate::{
    CommandRun, DrawCommand, DrawList, Grouping, Hidden, PartSet, VertexPool, part_runs::RunTable,
};

/// View of a [`DrawList`]: the meshes that passed its mask, their order and their commands. Each
/// list has a view of its own. Use additional views for other cameras or passes, such as a shadow,
/// a mirror or a second shader. Each view has its own mask and order.
///
/// Changes after a mask: a removed mesh is not drawn. A replaced or moved mesh is drawn in its new
/// state. An inserted mesh is drawn last, with all its parts. Before the first mask, all meshes are
/// drawn.
///
/// # Cost
/// - A mask reads 16 bytes of the list and the per-draw data of each mesh, in memory order. It
///   writes 9 bytes per visible mesh.
/// - Sorting moves 8 bytes per mesh about three times.
/// - Building commands reads about 50 bytes of pool data per visible mesh. If these fit the L2
///   cache, they are read in draw order. Else they are read in memory order, and the commands (20
///   bytes each) are sorted afterwards.
/// - After at most 64 changes, commands are patched: one pass over 20 bytes each.
///
/// No memory is allocated once all buffers have reached their size.
///
/// # Examples
/// ```
/// use drystone_pool::{Access, Config, DrawList, DrawView, PartSet, SimulatedGpu, VertexPool};
///
/// let mut gpu = SimulatedGpu::new(Access::Staged, 2);
/// let mut pool = VertexPool::<u64, u32>::new(Config::default())?;
/// let near = pool.insert(&[1], &[1], 10, &mut gpu)?;
/// let far = pool.insert(&[2], &[1], 90, &mut gpu)?;
/// let mut list = DrawList::new();
/// list.insert(near)?;
/// list.insert(far)?;
///
/// // The camera draws both, the far one first; the shadow contains only the near one.
/// list.mask_and_sort(&pool, |&distance| (PartSet::ALL, !u64::from(distance)));
/// let mut shadow = DrawView::new();
/// shadow.mask(&list, &pool, |&distance| if distance < 50 { PartSet::ALL } else { PartSet::EMPTY });
/// assert_eq!(shadow.commands(&list, &pool).len(), 1);
/// assert_eq!(list.commands(&pool)[0].first_instance, 1);
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Debug, Default)]
pub struct DrawView {
    config: ListConfig,
    /// Capacity for all meshes of the list; the first `visible` entries passed the mask.
    keys: Vec<Option<MeshKey>>,
    parts: Vec<PartSet>,
    visible: usize,
    /// Meshes that did not pass, if they need zeroed commands.
    hidden: Vec<MeshKey>,
    /// Sort keys of the first `visible` meshes.
    sort_keys: Vec<u64>,
    sort: KeySort,
    is_sorted: bool,
    /// Rank among the visible meshes, indexed by slot. Built on first use.
    ranks: Vec<u32>,
    /// State of the list at the mask; none before the first mask.
    masked: Option<ListState>,
    /// Runs of parts for each mask.
    table: RunTable,
    output: Output,
    pub(super) patcher: Patcher,
    /// State from which the output was built.
    pub(super) built: Option<Built>,
}

/// Maximum number of meshes whose pool data fits the L2 cache, so that commands are built in draw
/// order. Much lower in tests, to cover both paths.
const FEW_MESHES: usize = if cfg!(test) { 12 } else { 1 << 13 };

/// State that commands depend on, besides mask and order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Built {
    pool: u32,
    revision: u64,
    list: ListState,
}

impl DrawView {
    /// Creates a view that omits hidden meshes.
    pub const fn new() -> Self {
        Self::with_config(ListConfig::DEFAULT)
    }

    /// Creates a view with options.
    pub const fn with_config(config: ListConfig) -> Self {
        Self {
            config,
            keys: Vec::new(),
            parts: Vec::new(),
            visible: 0,
            hidden: Vec::new(),
            sort_keys: Vec::new(),
            sort: KeySort::new(),
            is_sorted: false,
            ranks: Vec::new(),
            masked: None,
            table: RunTable::new(),
            output: Output::new(),
            patcher: Patcher::new(),
            built: None,
        }
    }

    /// Selects the visible parts of each mesh: `parts` maps per-draw data to parts, and is called
    /// in any order. Returns the number of visible meshes.
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&D) -> PartSet,
    ) -> usize {
        self.mask_members(&list.members, pool, parts)
    }

    /// Sorts the visible meshes by `key`, in ascending order, until the next mask. Equal keys are
    /// sorted by slot, which depends on the history of the pool. If the order is visible
    /// (blending), use unique keys.
    pub fn sort<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        key: impl FnMut(&D) -> u64,
    ) {
        self.sort_members(&list.members, pool, key);
    }

    /// Masks and sorts in one pass: `select` returns the parts and the sort key of a mesh. The key
    /// of a hidden mesh is ignored.
    pub fn mask_and_sort<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        select: impl FnMut(&D) -> (PartSet, u64),
    ) -> usize {
        self.select_members(&list.members, pool, select)
    }

    /// Returns the commands that draw the visible meshes in the next frame, in order.
    /// [`runs`](Self::runs) also returns the buffer of each command.
    pub fn commands<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
    ) -> &[DrawCommand] {
        self.build(&list.members, pool).1
    }

    /// Returns the commands and their runs, in draw order. Each run reads one buffer and needs one
    /// indirect call.
    pub fn runs<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        self.build(&list.members, pool)
    }

    /// Number of meshes that passed the last mask. Before the first mask, the number of meshes in
    /// the last commands.
    pub const fn visible(&self) -> usize {
        self.visible
    }

    /// Number of meshes in the last commands: visible meshes that still exist, and meshes inserted
    /// since the mask.
    pub const fn drawn(&self) -> usize {
        self.output.drawn.len()
    }

    pub(super) fn mask_members<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut parts: impl FnMut(&D) -> PartSet,
    ) -> usize {
        self.masked = Some(members.state());
        self.collect_visible(members, pool, |data, _| parts(data))
    }

    pub(super) fn sort_members<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut key: impl FnMut(&D) -> u64,
    ) {
        if self.masked.is_none() {
            self.mask_members(members, pool, |_| PartSet::ALL);
        }
        let data = pool.draw_data();
        let keys = self.keys[..self.visible].iter().map(|mesh| {
            // A mesh removed since the mask may have no data; its rank does not matter.
            let data = mesh.and_then(|mesh| data.get(mesh.index() as usize));
            data.map_or(u64::MAX, &mut key)
        });
        self.sort_keys.clear();
        self.sort_keys.extend(keys);
        self.sort.sort(&self.sort_keys);
        self.is_sorted = true;
        self.ranks.clear();
        self.built = None;
    }

    pub(super) fn select_members<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut select: impl FnMut(&D) -> (PartSet, u64),
    ) -> usize {
        let mut sort_keys = core::mem::take(&mut self.sort_keys);
        sort_keys.resize(members.len(), 0);
        self.masked = Some(members.state());
        self.collect_visible(members, pool, |data, index| {
            let (parts, key) = select(data);
            sort_keys[index] = key;
            parts
        });
        self.sort.sort(&sort_keys[..self.visible]);
        self.sort_keys = sort_keys;
        self.is_sorted = true;
        self.visible
    }

    /// Collects the meshes that pass `parts`, in slot order. `parts` also gets the index that the
    /// mesh has if it passes.
    ///
    /// Each mesh is written after those that passed, and counted only if it passes. This avoids
    /// branches that the processor cannot predict.
    #[inline]
    fn collect_visible<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut parts: impl FnMut(&D, usize) -> PartSet,
    ) -> usize {
        (self.built, self.is_sorted, self.visible) = (None, false, 0);
        self.ranks.clear();
        self.hidden.clear();
        if !members.is_of(pool) {
            return 0;
        }
        self.keys.resize(members.len(), None);
        self.parts.resize(members.len(), PartSet::EMPTY);
        let (data, no_stale) = (pool.draw_data(), members.has_no_stale(pool));
        let has_zeroed = self.config.hidden == Hidden::Zeroed;
        // Local variables avoid a dependency between meshes through `self`.
        let (keys, shown, mut visible) = (&mut self.keys[..], &mut self.parts[..], 0);
        members.for_each(|key| {
            let Some(data) = data.get(key.index() as usize) else { return };
            if !no_stale && pool.mesh(pool.handle(key)).is_none() {
                return;
            }
            let parts = parts(data, visible);
            (keys[visible], shown[visible]) = (Some(key), parts);
            visible += usize::from(!parts.is_empty());
            if has_zeroed && parts.is_empty() {
                self.hidden.push(key);
            }
        });
        self.visible = visible;
        visible
    }

    /// Builds the commands if anything they depend on has changed.
    pub(super) fn build<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        let list = members.state();
        if self.masked.is_some_and(|masked| !masked.is_of(list)) {
            self.masked = None;
        }
        let built = Built { pool: pool.id(), revision: pool.revision(), list };
        if self.built != Some(built) && !self.patch(members, pool, built.list) {
            if self.masked.is_none() {
                self.collect_visible(members, pool, |_, _| PartSet::ALL);
            }
            self.output.clear();
            if members.is_of(pool) {
                self.draw(members, pool);
            }
        }
        self.built = Some(built);
        pool.note_commands_returned(self.output.commands.len());
        (&self.output.runs, &self.output.commands)
    }

    /// Patches the commands if few meshes have changed since they were built. Returns whether the
    /// commands are valid.
    fn patch<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        list: ListState,
    ) -> bool {
        let Some(built) = self.built.filter(|it| it.pool == pool.id() && it.list.is_of(list))
        else {
            return false;
        };
        let (Some(masked), Hidden::LeftOut) = (self.masked, self.config.hidden) else {
            return false;
        };
        let Some(slots) = pool.changes.since(built.revision) else { return false };
        let is_in_order = self.is_sorted && self.config.grouping == Grouping::InOrder;
        if self.ranks.is_empty() && !is_in_order {
            self.rank();
        }
        let state = BuildState { masked, built: built.list, is_in_order };
        let keys = self.keys[..self.visible].iter().zip(&self.parts);
        let masks = keys.filter_map(|(&key, &parts)| Some((key?, parts)));
        let masked = (masks, &self.ranks[..]);
        let (output, table, of) = (&mut self.output, &mut self.table, (members, pool));
        self.patcher.patch(output, of, slots, masked, state, table).is_some()
    }

    /// Records the draw order of the visible meshes.
    fn rank(&mut self) {
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

    fn draw<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) {
        let (output, table) = (&mut self.output, &mut self.table);
        let has_zeroed = self.config.hidden == Hidden::Zeroed;
        let changed = self.masked.filter(|&masked| masked != members.state());
        let is_removed = |key| changed.is_some_and(|masked| !members.still_has(key, masked));
        let (keys, shown) = (&self.keys[..self.visible], &self.parts[..self.visible]);
        let mut draw = |output: &mut Output, mesh: usize| {
            let Some(key) = keys[mesh].filter(|&key| !is_removed(key)) else { return };
            output.draw(pool, key, shown[mesh], table);
            if has_zeroed {
                output.draw_zeroed(pool, key, shown[mesh], table);
            }
        };
        if self.is_sorted && self.visible <= FEW_MESHES {
            self.sort.indices().for_each(|mesh| draw(output, mesh as usize));
        } else {
            for mesh in 0..self.visible {
                draw(output, mesh);
                output.end_mesh();
            }
            if self.is_sorted {
                output.reorder(self.sort.indices());
            }
        }
        for &key in self.hidden.iter().filter(|&&key| !is_removed(key)) {
            output.draw_zeroed(pool, key, PartSet::EMPTY, table);
        }
        if let Some(masked) = changed {
            members.for_each_since(masked, |key| output.draw(pool, key, PartSet::ALL, table));
        }
        output.end_runs();
        if !self.is_sorted || self.config.grouping == Grouping::ByBuffer {
            output.group_by_buffer();
        }
    }
}
