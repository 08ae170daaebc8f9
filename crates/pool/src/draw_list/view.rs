use core::cmp::Ordering;

use bytemuck::Pod;

#[cfg(feature = "rayon")]
use super::parallel::Builder;
use super::{
    DrawList,
    members::{ListState, Members},
    mesh_ref::MeshRef,
    output::Output,
    patch::{Patcher, Patching},
    selection::Selection,
};
use crate::{
    command::{CommandRun, DrawCommand, Grouping, HiddenCommands, ListConfig},
    parts::{PartSet, RunTable},
    vertex_pool::VertexPool,
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
/// No memory is allocated once all buffers have reached their size, if one thread does it all.
///
/// # Examples
/// ```
/// use drystone_pool::{
///     Access, DrawList, DrawView, PartSet, PoolConfig, SimulatedGpu, VertexPool,
/// };
///
/// let mut gpu = SimulatedGpu::new(Access::Staged, 2);
/// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default())?;
/// let near = pool.insert(&[1], &[1], 10, &mut gpu)?;
/// let far = pool.insert(&[2], &[1], 90, &mut gpu)?;
/// let mut list = DrawList::new();
/// list.insert(near)?;
/// list.insert(far)?;
///
/// // The camera draws both, the far one first; the shadow contains only the near one.
/// list.mask_and_sort(&pool, |mesh| (PartSet::ALL, !u64::from(*mesh.data())));
/// let mut shadow = DrawView::new();
/// shadow.mask(&list, &pool, |mesh| {
///     if *mesh.data() < 50 { PartSet::ALL } else { PartSet::EMPTY }
/// });
/// assert_eq!(shadow.commands(&list, &pool).len(), 1);
/// assert_eq!(list.commands(&pool)[0].first_instance, 1);
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
#[derive(Debug, Default)]
pub struct DrawView {
    config: ListConfig,
    selection: Selection,
    /// Runs of parts for each mask.
    table: RunTable,
    output: Output,
    #[cfg(feature = "rayon")]
    pub(super) builder: Builder,
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
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a view with options.
    pub fn with_config(config: ListConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Selects the visible parts of each mesh: `parts` maps a mesh, with its per-draw data, to its
    /// visible parts, and is called in any order. Returns the number of visible meshes.
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&MeshRef<'_, D>) -> PartSet,
    ) -> usize {
        self.reselect().mask(&list.members, pool, parts)
    }

    /// Sorts the visible meshes by `key`, in ascending order, until the next mask. Equal keys are
    /// sorted by slot, which depends on the history of the pool. If the order is visible
    /// (blending), use unique keys.
    pub fn sort<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        key: impl FnMut(&MeshRef<'_, D>) -> u64,
    ) {
        self.reselect().sort(&list.members, pool, key);
    }

    /// Sorts the visible meshes with a comparator, until the next mask. Equal meshes are sorted by
    /// slot. Use it for an order that does not fit a 64-bit key, such as a list of names.
    ///
    /// # Cost
    /// O(n log n) calls of `compare`, which read data in any order. [`sort`](Self::sort) reads each
    /// mesh once and takes a fraction of the time.
    ///
    /// # Panics
    /// Possible if `compare` is not a total order, as in `slice::sort_unstable_by`.
    pub fn sort_by<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        compare: impl FnMut(&MeshRef<'_, D>, &MeshRef<'_, D>) -> Ordering,
    ) {
        self.reselect().sort_by(&list.members, pool, compare);
    }

    /// Masks and sorts in one pass: `select` returns the parts and the sort key of a mesh. The key
    /// of a hidden mesh is ignored.
    pub fn mask_and_sort<V: Pod, D: Pod>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        select: impl FnMut(&MeshRef<'_, D>) -> (PartSet, u64),
    ) -> usize {
        self.reselect().mask_and_sort(&list.members, pool, select)
    }

    /// Does the same as [`mask_and_sort`](Self::mask_and_sort), on the threads of rayon's pool if the list has 32,768
    /// meshes or more. If as many are visible, these threads build the commands too. One thread builds them in the
    /// cases of [`HiddenCommands::Zeroed`], of [`Grouping::InOrder`] with several buffers, of meshes with more than
    /// four commands or in several buffers, and after meshes were inserted or removed.
    ///
    /// # Cost
    /// Gains most where `select` takes long: much of the rest waits for memory, which the threads share. 88 bytes of
    /// memory for each visible mesh, and some small allocations at each call. It waits for these threads: while they
    /// do long work of other kinds, [`mask_and_sort`](Self::mask_and_sort) can take less time.
    #[cfg(feature = "rayon")]
    pub fn par_mask_and_sort<V: Pod + Sync, D: Pod + Sync>(
        &mut self,
        list: &DrawList,
        pool: &VertexPool<V, D>,
        select: impl Fn(&MeshRef<'_, D>) -> (PartSet, u64) + Sync,
    ) -> usize {
        self.reselect().par_mask_and_sort(&list.members, pool, select)
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
        self.selection.visible
    }

    /// Number of meshes in the last commands: visible meshes that still exist, and meshes inserted
    /// since the mask.
    pub const fn drawn(&self) -> usize {
        self.output.drawn.len()
    }

    /// Returns the selection for a new mask or order.
    pub(super) const fn reselect(&mut self) -> &mut Selection {
        self.built = None;
        &mut self.selection
    }

    /// Builds the commands if anything they depend on has changed.
    pub(super) fn build<V: Pod, D: Pod>(
        &mut self,
        members: &Members,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        let list = members.state();
        self.selection.masked = self.selection.masked.filter(|masked| masked.is_of(list));
        let built = Built { pool: pool.meshes.pool(), revision: pool.revision(), list };
        if self.built != Some(built) && !self.patch(members, pool) {
            if self.selection.masked.is_none() {
                self.selection.take_all(members, pool);
            }
            if !self.par_draw(members, pool) {
                self.output.clear();
                if members.is_of(pool) {
                    self.draw(members, pool);
                }
            }
        }
        self.built = Some(built);
        pool.frames.note_commands_returned(self.output.commands.len());
        (&self.output.runs, &self.output.commands)
    }

    /// Patches the commands if few meshes have changed since they were built. Returns whether the
    /// commands are valid.
    fn patch<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) -> bool {
        let is_of = |it: &Built| it.pool == pool.meshes.pool() && it.list.is_of(members.state());
        let (Some(built), Some(masked), HiddenCommands::LeftOut) =
            (self.built.filter(is_of), self.selection.masked, self.config.hidden)
        else {
            return false;
        };
        let Some(slots) = pool.meshes.changes.since(built.revision) else { return false };
        let is_in_order = self.selection.is_sorted && self.config.grouping == Grouping::InOrder;
        if !is_in_order {
            self.selection.build_ranks();
        }
        let patching = Patching {
            members,
            pool,
            selection: &self.selection,
            masked,
            built: built.list,
            is_in_order,
        };
        self.patcher.patch(&patching, slots, &mut self.output, &mut self.table).is_some()
    }

    /// Builds the commands on several threads. Returns whether it did.
    #[cfg(feature = "rayon")]
    fn par_draw<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) -> bool {
        let Self { config, selection, output, builder, .. } = self;
        let can = selection.is_parallel
            && selection.masked == Some(members.state())
            && config.hidden == HiddenCommands::LeftOut
            && members.is_of(pool);
        if can {
            let (keys, shown) = selection.meshes();
            let meshes = (keys, shown, selection.sort.words());
            // If these meshes cannot be built on threads, they are not tried again.
            selection.is_parallel =
                builder.build(pool.command_source(), meshes, config.grouping, output);
        }
        can && selection.is_parallel
    }

    #[cfg(not(feature = "rayon"))]
    fn par_draw<V: Pod, D: Pod>(&mut self, _: &Members, _: &VertexPool<V, D>) -> bool {
        false
    }

    fn draw<V: Pod, D: Pod>(&mut self, members: &Members, pool: &VertexPool<V, D>) {
        let Self { config, selection, table, output, .. } = self;
        let has_zeroed = config.hidden == HiddenCommands::Zeroed;
        let changed = selection.masked.filter(|&masked| masked != members.state());
        let is_removed = |key| changed.is_some_and(|masked| !members.still_has(key, masked));
        let (keys, shown) = selection.meshes();
        let is_in_order = selection.is_sorted && keys.len() <= FEW_MESHES;
        let mut sorted = selection.sort.indices();
        for number in 0..keys.len() {
            let mesh = if is_in_order { sorted.next().map_or(0, |it| it as usize) } else { number };
            if let Some(key) = keys[mesh].filter(|&key| !is_removed(key)) {
                output.draw(pool, key, shown[mesh], table);
                if has_zeroed {
                    output.draw_zeroed(pool, key, shown[mesh], table);
                }
            }
            output.end_mesh();
        }
        if selection.is_sorted && !is_in_order {
            output.reorder(sorted);
        }
        if has_zeroed {
            members.for_each(|key| {
                if !is_removed(key) && !output.drawn.contains(key.index()) {
                    output.draw_zeroed(pool, key, PartSet::EMPTY, table);
                }
            });
        }
        if let Some(masked) = changed {
            members.for_each_since(masked, |key| output.draw(pool, key, PartSet::ALL, table));
        }
        output.end_runs();
        if !selection.is_sorted || config.grouping == Grouping::ByBuffer {
            output.group_by_buffer();
        }
    }
}
