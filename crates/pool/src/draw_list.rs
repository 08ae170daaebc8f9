use core::cmp::Ordering;

use bytemuck::Pod;

use crate::{
    command::{CommandRun, DrawCommand, ListConfig},
    error::PoolError,
    mesh::MeshHandle,
    parts::PartSet,
    vertex_pool::VertexPool,
};

mod key_sort;
mod members;
mod mesh_ref;
mod output;
#[cfg(feature = "rayon")]
mod parallel;
mod patch;
mod selection;
#[cfg(test)]
mod tests;
mod view;

use members::Members;
pub use mesh_ref::MeshRef;
pub use view::DrawView;

/// List of the meshes of a pool that are drawn together, with their visible parts and their order.
///
/// ```text
///  insert ─► meshes, by slot ──mask──► visible ──sort──► [DrawCommand] in runs, one per buffer
///                     └──────mask──► DrawView: a second camera, with its own order and commands
/// ```
/// A pool can have several lists, and a mesh can be in many. All meshes of a list belong to the
/// pool of the first inserted mesh. A mesh that is removed from the pool disappears from the list.
/// Each list has one view of its own; see [`DrawView`] for guarantees and costs.
///
/// # Examples
/// See [`DrawView`].
#[derive(Debug, Default)]
pub struct DrawList {
    members: Members,
    view: DrawView,
}

impl DrawList {
    /// Creates an empty list that omits hidden meshes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty list with options.
    pub fn with_config(config: ListConfig) -> Self {
        Self { members: Members::default(), view: DrawView::with_config(config) }
    }

    /// Adds a mesh. Until the next mask it is drawn last, with all its parts. Does nothing if the
    /// mesh is already in the list.
    ///
    /// # Cost
    /// O(1), without a search.
    ///
    /// # Errors
    /// `Stale` if the mesh belongs to another pool than the meshes in the list.
    pub fn insert(&mut self, mesh: MeshHandle) -> Result<(), PoolError> {
        self.members.insert(mesh)
    }

    /// Removes a mesh from the list, not from the pool. Returns whether it was in the list. Meshes
    /// that are removed from the pool leave the list automatically.
    pub fn remove(&mut self, mesh: MeshHandle) -> bool {
        self.members.remove(mesh)
    }

    /// Removes all meshes and keeps the memory. The next mesh can be of any pool.
    pub fn clear(&mut self) {
        self.members.clear();
    }

    /// Selects the visible parts of each mesh: `parts` maps a mesh, with its per-draw data, to its
    /// visible parts. Returns the number of visible meshes. See [`DrawView::mask`].
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&MeshRef<'_, D>) -> PartSet,
    ) -> usize {
        self.members.drop_stale(pool);
        self.view.reselect().mask(&self.members, pool, parts)
    }

    /// Sorts the visible meshes by `key`, in ascending order. See [`DrawView::sort`].
    pub fn sort<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        key: impl FnMut(&MeshRef<'_, D>) -> u64,
    ) {
        self.view.reselect().sort(&self.members, pool, key);
    }

    /// Sorts the visible meshes with a comparator. See [`DrawView::sort_by`].
    ///
    /// # Panics
    /// Possible if `compare` is not a total order.
    pub fn sort_by<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        compare: impl FnMut(&MeshRef<'_, D>, &MeshRef<'_, D>) -> Ordering,
    ) {
        self.view.reselect().sort_by(&self.members, pool, compare);
    }

    /// Masks and sorts in one pass. See [`DrawView::mask_and_sort`].
    pub fn mask_and_sort<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        select: impl FnMut(&MeshRef<'_, D>) -> (PartSet, u64),
    ) -> usize {
        self.members.drop_stale(pool);
        self.view.reselect().mask_and_sort(&self.members, pool, select)
    }

    /// Masks and sorts in one pass, on several threads if there are many meshes. See
    /// [`DrawView::par_mask_and_sort`].
    #[cfg(feature = "rayon")]
    pub fn par_mask_and_sort<V: Pod + Sync, D: Pod + Sync>(
        &mut self,
        pool: &VertexPool<V, D>,
        select: impl Fn(&MeshRef<'_, D>) -> (PartSet, u64) + Sync,
    ) -> usize {
        self.members.drop_stale(pool);
        self.view.reselect().par_mask_and_sort(&self.members, pool, select)
    }

    /// Returns the commands that draw the visible meshes in the next frame, in order.
    /// [`runs`](Self::runs) also returns the buffer of each command. Commands are rebuilt only
    /// after a change of mask, order, list or pool; after few changes, only those of changed
    /// meshes.
    pub fn commands<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>) -> &[DrawCommand] {
        self.view.build(&self.members, pool).1
    }

    /// Returns the commands and their runs, in draw order. Each run reads one buffer and needs one
    /// indirect call. An unsorted list has one run per buffer.
    pub fn runs<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        self.view.build(&self.members, pool)
    }

    /// Returns whether the mesh is in the list.
    pub fn contains(&self, mesh: MeshHandle) -> bool {
        self.members.contains(mesh)
    }

    /// Number of meshes in the list. Removed meshes count until the next mask.
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the list contains no mesh.
    pub const fn is_empty(&self) -> bool {
        self.members.len() == 0
    }

    /// Number of meshes that passed the last mask. Before the first mask, the number of meshes in
    /// the last commands.
    pub const fn visible(&self) -> usize {
        self.view.visible()
    }

    /// Number of meshes in the last commands: visible meshes that still exist, and meshes inserted
    /// since the mask.
    pub const fn drawn(&self) -> usize {
        self.view.drawn()
    }
}
