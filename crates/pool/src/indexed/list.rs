use alloc::vec::Vec;
use core::ops::Range;

use bytemuck::Pod;

use super::IndexedPool;
use crate::{
    command::{DrawCommand, Grouping},
    mesh::MeshHandle,
};

/// Consecutive commands of an [`IndexedList`] that read the same two buffers: one multi-draw call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRun {
    /// Number of the vertex buffer.
    pub vertices: u32,
    /// Number of the index buffer.
    pub indices: u32,
    /// Range of the list's commands.
    pub commands: Range<usize>,
}

/// List of the meshes of an [`IndexedPool`] that are drawn together, and their order.
///
/// All meshes of a list belong to one pool. A mesh that is removed from the pool disappears from
/// the list.
///
/// # Cost
/// [`select`](Self::select) is O(meshes · log meshes): it visits each mesh and rebuilds all
/// commands. This suits models with few meshes. For tens of thousands of meshes that rarely change,
/// use a [`DrawList`](crate::DrawList), which reuses its commands.
#[derive(Clone, Debug, Default)]
pub struct IndexedList {
    pub(super) grouping: Grouping,
    members: Vec<MeshHandle>,
    /// Sort key, buffers and command of each visible mesh.
    visible: Vec<(u64, [u32; 2], DrawCommand)>,
    commands: Vec<DrawCommand>,
    runs: Vec<IndexedRun>,
}

impl IndexedList {
    /// Creates an empty list with this grouping of commands into runs.
    pub fn new(grouping: Grouping) -> Self {
        Self { grouping, ..Self::default() }
    }

    /// Adds a mesh. A mesh that is added twice is drawn twice.
    pub fn insert(&mut self, mesh: MeshHandle) {
        self.members.push(mesh);
    }

    /// Number of meshes visible at the last selection.
    pub const fn visible(&self) -> usize {
        self.visible.len()
    }

    /// Selects and sorts the meshes. `key` maps per-draw data to a sort key, or to `None` for a
    /// hidden mesh. Keys are in ascending order; equal keys are sorted by slot. Returns the runs
    /// and commands of the visible meshes for the frame being built, one multi-draw call per run.
    pub fn select<V: Pod, D: Pod>(
        &mut self,
        pool: &IndexedPool<V, D>,
        mut key: impl FnMut(&D) -> Option<u64>,
    ) -> (&[IndexedRun], &[DrawCommand]) {
        self.visible.clear();
        self.members.retain(|&mesh| {
            let Some(data) = pool.data(mesh) else { return false };
            if let Some(key) = key(data)
                && let Some((buffers, command)) = pool.command(mesh)
            {
                self.visible.push((key, buffers, command));
            }
            true
        });
        match self.grouping {
            Grouping::InOrder => {
                self.visible.sort_unstable_by_key(|(key, _, it)| (*key, it.first_instance));
            }
            Grouping::ByBuffer => self
                .visible
                .sort_unstable_by_key(|(key, buffers, it)| (*buffers, *key, it.first_instance)),
        }
        self.cut_runs();
        pool.note_commands_returned(self.commands.len());
        (&self.runs, &self.commands)
    }

    fn cut_runs(&mut self) {
        self.commands.clear();
        self.runs.clear();
        let mut last = None;
        for (_, buffers, command) in &self.visible {
            if last.replace(buffers) != Some(buffers) {
                let [vertices, indices] = *buffers;
                let commands = self.commands.len()..self.commands.len();
                self.runs.push(IndexedRun { vertices, indices, commands });
            }
            self.commands.push(*command);
            if let Some(run) = self.runs.last_mut() {
                run.commands.end = self.commands.len();
            }
        }
    }
}
