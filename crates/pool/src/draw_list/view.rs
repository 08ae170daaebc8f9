use alloc::vec::Vec;

use bytemuck::Pod;

use super::{
    ListConfig, MeshKey,
    key_sort::KeySort,
    members::{ListState, Members},
    output::Output,
    patch::{Patcher, Since},
};
use crate::{
    CommandRun, DrawCommand, DrawList, Grouping, Hidden, PartSet, VertexPool, part_runs::RunTable,
};

/// One look at a [`DrawList`]: what passed its mask, in its order, and the commands that
/// come of it. A list has one of its own; further ones serve further eyes and passes, such
/// as a shadow, a mirror or a second shader, each with its own mask and order.
///
/// Between one mask and the next, a mesh that was removed from the pool or the list is not
/// drawn, one that was replaced or moved is drawn as it is now, and one that was inserted
/// is drawn last, with all its parts. Before the first mask everything is drawn.
///
/// # Cost
/// A mask reads 16 bytes of the list and the per-draw data of each mesh, one after the
/// other as they lie in memory, and writes 9 bytes for each that passes. An order moves 8
/// bytes a mesh three times or so. Commands are made of some 50 bytes that the pool knows
/// of each mesh that passed: in order where these fit the second cache, else as they lie in
/// memory, to be put in order then, 20 bytes each. Where no more than 64 changes were made since
/// the last commands, these are patched: one look at 20 bytes each. Nothing is allocated once all has had
/// its size.
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
/// // The eye sees both, the farther one first; the shadow is of the near one only.
/// list.mask_and_order(&pool, |&distance| (PartSet::ALL, !u64::from(distance)));
/// let mut shadow = DrawView::new();
/// shadow.mask(&list, &pool, |&distance| if distance < 50 { PartSet::ALL } else { PartSet::EMPTY });
/// assert_eq!(shadow.commands(&list, &pool).len(), 1);
/// assert_eq!(list.commands(&pool)[0].first_instance, 1);
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Debug, Default)]
pub struct DrawView {
    config: ListConfig,
    /// Room for every mesh of the list; the first `visible` passed the mask.
    keys: Vec<Option<MeshKey>>,
    parts: Vec<PartSet>,
    visible: usize,
    /// Those that did not pass, where commands are kept for them.
    hidden: Vec<MeshKey>,
    /// What the first `visible` are ordered by.
    sort_keys: Vec<u64>,
    sort: KeySort,
    is_ordered: bool,
    /// By slot, the how-manieth of the visible it is; empty until it is asked for.
    ranks: Vec<u32>,
    /// The list as it was masked; none before the first mask.
    masked: Option<ListState>,
    /// Which runs of parts masks make.
    table: RunTable,
    output: Output,
    pub(super) patcher: Patcher,
    /// What the output was made of.
    pub(super) built: Option<Built>,
}

/// What the pool knows of so many meshes is in the second cache: their commands are made
/// in order at once. Far fewer in tests, which go both ways.
const FEW_MESHES: usize = if cfg!(test) { 12 } else { 1 << 13 };

/// All that commands depend on besides mask and order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Built {
    pool: u32,
    revision: u64,
    list: ListState,
}

impl DrawView {
    /// A view that leaves out what is hidden.
    pub const fn new() -> Self {
        Self::with_config(ListConfig::DEFAULT)
    }

    /// A view with choices.
    pub const fn with_config(config: ListConfig) -> Self {
        Self {
            config,
            keys: Vec::new(),
            parts: Vec::new(),
            visible: 0,
            hidden: Vec::new(),
            sort_keys: Vec::new(),
            sort: KeySort::new(),
            is_ordered: false,
            ranks: Vec::new(),
            masked: None,
            table: RunTable::new(),
            output: Output::new(),
            patcher: Patcher::new(),
            built: None,
        }
    }

    /// Shows of each mesh the parts that `parts` says, from its per-draw data, in no
    /// particular order, and returns how many meshes show at all.
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&D) -> PartSet,
    ) -> usize {
        self.mask_members(&list.members, pool, parts)
    }

    /// Orders what passed the mask by `key`, lowest first, until the next mask. Among
    /// equal keys a lower slot comes first, which is an accident of history: where it
    /// shows (blending), let no two be equal.
    pub fn order<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        key: impl FnMut(&D) -> u64,
    ) {
        self.order_members(&list.members, pool, key);
    }

    /// Mask and order in one pass: `select` says parts and key of a mesh. The key of one
    /// that does not show is ignored.
    pub fn mask_and_order<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        select: impl FnMut(&D) -> (PartSet, u64),
    ) -> usize {
        self.select_members(&list.members, pool, select)
    }

    /// The commands that draw what passed the mask, in order; ask [`runs`](Self::runs)
    /// which buffer each reads. To be drawn in the next frame.
    pub fn commands<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
    ) -> &[DrawCommand] {
        self.build(&list.members, pool).1
    }

    /// The commands, and the runs of them that read one buffer each, in the order they are
    /// to be drawn: one indirect call a run.
    pub fn runs<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        self.build(&list.members, pool)
    }

    /// How many meshes passed the last mask; before the first, how many the last commands
    /// were made of.
    pub const fn visible(&self) -> usize {
        self.visible
    }

    /// How many meshes the last commands were made of: those that passed the mask and are
    /// there still, and those that came since.
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
        self.gather(members, pool, |data, _| parts(data))
    }

    pub(super) fn order_members<V: Pod, D: Pod>(
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
            // A mesh that is gone since the mask may have no data, and needs no place.
            let data = mesh.and_then(|mesh| data.get(mesh.index() as usize));
            data.map_or(u64::MAX, &mut key)
        });
        self.sort_keys.clear();
        self.sort_keys.extend(keys);
        self.sort.sort(&self.sort_keys);
        self.is_ordered = true;
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
        self.gather(members, pool, |data, index| {
            let (parts, key) = select(data);
            sort_keys[index] = key;
            parts
        });
        self.sort.sort(&sort_keys[..self.visible]);
        self.sort_keys = sort_keys;
        self.is_ordered = true;
        self.visible
    }

    /// Puts the meshes that pass `parts` first, by slot. `parts` is also told which place
    /// the mesh will have if it passes.
    ///
    /// Every mesh is written behind those that passed, and counts if it passes too: what
    /// passes changes too often to be guessed.
    #[inline]
    fn gather<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
        mut parts: impl FnMut(&D, usize) -> PartSet,
    ) -> usize {
        (self.built, self.is_ordered, self.visible) = (None, false, 0);
        self.ranks.clear();
        self.hidden.clear();
        if !members.is_of(pool) {
            return 0;
        }
        self.keys.resize(members.len(), None);
        self.parts.resize(members.len(), PartSet::EMPTY);
        let (data, no_stale) = (pool.draw_data(), members.has_no_stale(pool));
        let keeps_hidden = self.config.hidden == Hidden::Zeroed;
        // Kept out of `self`, where each mesh would wait for the one before to be counted.
        let (keys, shown, mut visible) = (&mut self.keys[..], &mut self.parts[..], 0);
        members.for_each(|key| {
            let Some(data) = data.get(key.index() as usize) else { return };
            if !no_stale && pool.mesh(pool.handle(key)).is_none() {
                return;
            }
            let parts = parts(data, visible);
            (keys[visible], shown[visible]) = (Some(key), parts);
            visible += usize::from(!parts.is_empty());
            if keeps_hidden && parts.is_empty() {
                self.hidden.push(key);
            }
        });
        self.visible = visible;
        visible
    }

    /// Makes the commands, if anything that they depend on has changed.
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
                self.gather(members, pool, |_, _| PartSet::ALL);
            }
            self.output.clear();
            if members.is_of(pool) {
                self.draw(members, pool);
            }
        }
        self.built = Some(built);
        pool.note_commands_taken(self.output.commands.len());
        (&self.output.runs, &self.output.commands)
    }

    /// Brings the commands up to date where few meshes have changed since they were made;
    /// says whether it has.
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
        let is_in_order = self.is_ordered && self.config.grouping == Grouping::InOrder;
        if self.ranks.is_empty() && !is_in_order {
            self.rank();
        }
        let since = Since { masked, built: built.list, is_in_order };
        let keys = self.keys[..self.visible].iter().zip(&self.parts);
        let masks = keys.filter_map(|(&key, &parts)| Some((key?, parts)));
        let masked = (masks, &self.ranks[..]);
        let (output, table, of) = (&mut self.output, &mut self.table, (members, pool));
        self.patcher.patch(output, of, slots, masked, since, table).is_some()
    }

    /// Notes in which order what is visible is drawn.
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
        if self.is_ordered {
            (0..).zip(self.sort.indices()).for_each(|(rank, mesh)| put(rank, mesh as usize));
        } else {
            (0..).zip(0..keys.len()).for_each(|(rank, mesh)| put(rank, mesh));
        }
    }

    fn draw<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) {
        let (output, table) = (&mut self.output, &mut self.table);
        let keeps_hidden = self.config.hidden == Hidden::Zeroed;
        let changed = self.masked.filter(|&masked| masked != members.state());
        let is_gone = |key| changed.is_some_and(|masked| !members.still_has(key, masked));
        let (keys, shown) = (&self.keys[..self.visible], &self.parts[..self.visible]);
        let mut draw = |output: &mut Output, mesh: usize| {
            let Some(key) = keys[mesh].filter(|&key| !is_gone(key)) else { return };
            output.draw(pool, key, shown[mesh], table);
            if keeps_hidden {
                output.draw_nothing(pool, key, shown[mesh], table);
            }
        };
        if self.is_ordered && self.visible <= FEW_MESHES {
            self.sort.indices().for_each(|mesh| draw(output, mesh as usize));
        } else {
            for mesh in 0..self.visible {
                draw(output, mesh);
                output.end_mesh();
            }
            if self.is_ordered {
                output.reorder(self.sort.indices());
            }
        }
        for &key in self.hidden.iter().filter(|&&key| !is_gone(key)) {
            output.draw_nothing(pool, key, PartSet::EMPTY, table);
        }
        if let Some(masked) = changed {
            members.for_each_since(masked, |key| output.draw(pool, key, PartSet::ALL, table));
        }
        output.end_runs();
        if !self.is_ordered || self.config.grouping == Grouping::ByBuffer {
            output.group_by_buffer();
        }
    }
}
