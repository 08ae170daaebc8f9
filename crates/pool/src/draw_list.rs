use bytemuck::Pod;

use crate::{CommandRun, DrawCommand, MeshHandle, PartSet, PoolError, VertexPool, mesh::MeshKey};

mod key_sort;
mod members;
mod output;
mod patch;
mod slot_set;
mod view;

use members::Members;
pub use view::DrawView;

/// What becomes of the commands of what is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// There are none: hidden meshes and parts cost nothing to draw.
    #[default]
    LeftOut,
    /// Each hidden part has a command that draws nothing, behind those of its mesh, and
    /// hidden meshes come last. That is here to be measured, and slower.
    Zeroed,
}

/// How the commands of an ordered list fall into runs where its meshes lie in several
/// buffers. A list without an order has one run a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// All in order, a new run wherever the buffer changes: for blending.
    #[default]
    InOrder,
    /// One run a buffer, in order within each. For opaque meshes, whose order saves work
    /// and does not show: a run is a call, and orders often jump between buffers.
    ByBuffer,
}

/// Choices of a list or view. The default is right for any list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListConfig {
    /// What becomes of the commands of what is hidden. Default: there are none.
    pub hidden: Hidden,
    /// How the commands of an ordered list fall into runs. Default: all in order.
    pub grouping: Grouping,
}

impl ListConfig {
    /// The default.
    pub const DEFAULT: Self = Self { hidden: Hidden::LeftOut, grouping: Grouping::InOrder };
}

/// Which meshes of a pool are drawn together, what is seen of them, and in what order.
///
/// ```text
///  insert ─► meshes, by slot ──mask──► visible ──order──► [DrawCommand] in runs, one a buffer
///                     └──────mask──► DrawView: a second eye, with its own order and commands
/// ```
/// Several lists over one pool are fine, and a mesh may be in many. A list is of one pool:
/// that of the first mesh inserted. A mesh that is removed from the pool drops out by
/// itself. The list's own view is the one that its methods mask and order; see
/// [`DrawView`] for what they promise and cost.
///
/// # Examples
/// See [`DrawView`].
#[derive(Debug, Default)]
pub struct DrawList {
    members: Members,
    view: DrawView,
}

impl DrawList {
    /// An empty list that leaves out what is hidden.
    pub const fn new() -> Self {
        Self::with_config(ListConfig::DEFAULT)
    }

    /// An empty list with choices.
    pub const fn with_config(config: ListConfig) -> Self {
        Self { members: Members::new(), view: DrawView::with_config(config) }
    }

    /// Adds a mesh, drawn last and with all its parts until the next mask. A mesh that is
    /// in the list already stays as it is.
    ///
    /// # Cost
    /// O(1) and no search.
    ///
    /// # Errors
    /// `Stale` when the mesh is of another pool than those in the list.
    pub fn insert(&mut self, mesh: MeshHandle) -> Result<(), PoolError> {
        self.members.insert(mesh)
    }

    /// Takes a mesh out of the list and leaves it in the pool; says whether it was in. One
    /// that was removed from the pool need not be.
    pub fn remove(&mut self, mesh: MeshHandle) -> bool {
        self.members.remove(mesh)
    }

    /// Takes out all meshes and keeps the memory. The next mesh may be of any pool.
    pub fn reset(&mut self) {
        self.members.reset();
    }

    /// Whether the mesh is in the list.
    pub fn contains(&self, mesh: MeshHandle) -> bool {
        self.members.contains(mesh)
    }

    /// Shows of each mesh the parts that `parts` says, from its per-draw data, and returns
    /// how many meshes show at all. See [`DrawView::mask`].
    pub fn mask<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        parts: impl FnMut(&D) -> PartSet,
    ) -> usize {
        self.members.drop_stale(pool);
        self.view.mask_members(&self.members, pool, parts)
    }

    /// Orders what passed the mask by `key`, lowest first. See [`DrawView::order`].
    pub fn order<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>, key: impl FnMut(&D) -> u64) {
        self.view.order_members(&self.members, pool, key);
    }

    /// Mask and order in one pass. See [`DrawView::mask_and_order`].
    pub fn mask_and_order<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
        select: impl FnMut(&D) -> (PartSet, u64),
    ) -> usize {
        self.members.drop_stale(pool);
        self.view.select_members(&self.members, pool, select)
    }

    /// The commands that draw what passed the mask, in order; ask [`runs`](Self::runs)
    /// which buffer each reads. To be drawn in the next frame. They are made anew only when
    /// mask, order, list or pool have changed, and where few meshes have, only these's.
    pub fn commands<V: Pod, D: Pod>(&mut self, pool: &VertexPool<V, D>) -> &[DrawCommand] {
        self.view.build(&self.members, pool).1
    }

    /// The commands, and the runs of them that read one buffer each, in the order they are
    /// to be drawn: one indirect call a run. A list without an order has one run a buffer.
    pub fn runs<V: Pod, D: Pod>(
        &mut self,
        pool: &VertexPool<V, D>,
    ) -> (&[CommandRun], &[DrawCommand]) {
        self.view.build(&self.members, pool)
    }

    /// Meshes in the list; removed ones count until the next mask.
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the list has no mesh.
    pub const fn is_empty(&self) -> bool {
        self.members.len() == 0
    }

    /// How many meshes passed the last mask; before the first, how many the last commands
    /// were made of.
    pub const fn visible(&self) -> usize {
        self.view.visible()
    }

    /// How many meshes the last commands were made of: those that passed the mask and are
    /// there still, and those that came since.
    pub const fn drawn(&self) -> usize {
        self.view.drawn()
    }
}

/// A key that orders as the (non-negative, finite) distance does, nearest first, and among
/// equal distances by `tie`. Use its complement for farthest first.
#[inline]
pub const fn sort_key(distance: f32, tie: u32) -> u64 {
    (distance.to_bits() as u64) << 32 | tie as u64
}

#[cfg(test)]
mod tests;
